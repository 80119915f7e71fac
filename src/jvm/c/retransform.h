/*
 * retransform.h - rewrites classes that are loaded already when Java code can run: java.lang.Thread, and those of the JDK that are asked for.
 */
#ifndef WM_JVM_RETRANSFORM_H
#define WM_JVM_RETRANSFORM_H

#include <jvmti.h>
#include <stdbool.h>

/* Writes an error's line, if there is one, and goes on: a class that fails stays as it is. rewriter: dev.waymark.agent.Rewriter. Once. */
void jvm_retransform(JavaVM *vm, JNIEnv *jni, jclass rewriter, bool is_jdk_wanted);

#endif
