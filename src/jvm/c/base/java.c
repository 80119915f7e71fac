/* java.c - looks names up by JNI. */
#include "jvm/c/base/java.h"

/* Asks before it clears: that is what JNI counts as looked at. */
bool jvm_drop_thrown(JNIEnv *env)
{
	if (!(*env)->ExceptionCheck(env))
		return false;
	(*env)->ExceptionClear(env);
	return true;
}

jclass jvm_find_class(JNIEnv *env, const char *name)
{
	jclass class = (*env)->FindClass(env, name), ret = class ? (*env)->NewGlobalRef(env, class) : NULL;

	jvm_drop_thrown(env);
	(*env)->DeleteLocalRef(env, class);
	return ret;
}

jmethodID jvm_find_static(JNIEnv *env, jclass class, const char *name, const char *descriptor)
{
	jmethodID ret = class ? (*env)->GetStaticMethodID(env, class, name, descriptor) : NULL;

	jvm_drop_thrown(env);
	return ret;
}

jmethodID jvm_find_method(JNIEnv *env, const char *class_name, const char *name, const char *descriptor)
{
	jclass class = (*env)->FindClass(env, class_name);
	jmethodID ret = class ? (*env)->GetMethodID(env, class, name, descriptor) : NULL;

	jvm_drop_thrown(env);
	(*env)->DeleteLocalRef(env, class);
	return ret;
}

jfieldID jvm_find_field(JNIEnv *env, const char *class_name, const char *name, const char *descriptor)
{
	jclass class = (*env)->FindClass(env, class_name);
	jfieldID ret = class ? (*env)->GetFieldID(env, class, name, descriptor) : NULL;

	jvm_drop_thrown(env);
	(*env)->DeleteLocalRef(env, class);
	return ret;
}

bool jvm_register_natives(JNIEnv *env, const char *class_name, const JNINativeMethod *methods, jint count)
{
	jclass class = (*env)->FindClass(env, class_name);
	bool ret = class && (*env)->RegisterNatives(env, class, methods, count) == JNI_OK;

	jvm_drop_thrown(env);
	(*env)->DeleteLocalRef(env, class);
	return ret;
}
