/* thrown.c - asks before it drops: that is what JNI counts as looked at. */
#include "jvm/c/base/thrown.h"

#include <jni.h>

bool jvm_drop_thrown(const struct JNINativeInterface_ **env)
{
	if (!(*env)->ExceptionCheck(env))
		return false;
	(*env)->ExceptionClear(env);
	return true;
}
