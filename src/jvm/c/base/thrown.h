/*
 * thrown.h - what Java code that the agent has called has thrown. To be asked for behind each call: JNI allows nothing else before, and
 * -Xcheck:jni says so.
 */
#ifndef WM_JVM_THROWN_H
#define WM_JVM_THROWN_H

#include <stdbool.h>

struct JNINativeInterface_;

/* Drops it. False: there was none. */
bool jvm_drop_thrown(const struct JNINativeInterface_ **env);

#endif
