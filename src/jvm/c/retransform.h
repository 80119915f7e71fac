/*
 * retransform.h - rewrites classes that are loaded already when Java code can run: java.lang.Thread, and those of the JDK that are asked for.
 */
#ifndef WM_JVM_RETRANSFORM_H
#define WM_JVM_RETRANSFORM_H

#include <stdbool.h>

struct JNIInvokeInterface_;
struct JNINativeInterface_;
struct _jobject;

/* Writes an error's line, if there is one, and goes on: a class that fails stays as it is. vm, env, rewriter: a JavaVM, a
 * JNIEnv and the class dev.waymark.agent.Rewriter. Once. */
void jvm_retransform(const struct JNIInvokeInterface_ **vm, const struct JNINativeInterface_ **env,
		     struct _jobject *rewriter, bool is_jdk_wanted);

#endif
