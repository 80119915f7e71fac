/*
 * thrown.h - what Java code that the agent has called has thrown. To be asked for behind each call: JNI allows nothing else before, and
 * -Xcheck:jni says so.
 */
#ifndef WM_JVM_THROWN_H
#define WM_JVM_THROWN_H

#include <jni.h>
#include <stdbool.h>

/* Drops it. False: there was none. */
static inline bool jvm_drop_thrown(JNIEnv *env)
{
	if (!(*env)->ExceptionCheck(env))
		return false;
	(*env)->ExceptionClear(env);
	return true;
}

#endif
