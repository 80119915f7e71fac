/* attach_library.c - the library that Attached.java loads: calls back while it is loaded, and from the method that it registers then. */
#include <jni.h>

static void call_inner(JNIEnv *env, jclass class, jint value)
{
	(*env)->CallStaticVoidMethod(env, class, (*env)->GetStaticMethodID(env, class, "inner", "(I)V"), value);
}

static void JNICALL loaded(JNIEnv *env, jclass class)
{
	call_inner(env, class, 2);
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	static const JNINativeMethod native = {(char *)"loaded", (char *)"()V", (void *)loaded};
	JNIEnv *env = NULL;
	jclass class;

	(void)reserved;
	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK)
		return JNI_ERR;
	class = (*env)->FindClass(env, "Attached");
	if (!class || (*env)->RegisterNatives(env, class, &native, 1) != JNI_OK)
		return JNI_ERR;
	call_inner(env, class, 1);
	return JNI_VERSION_10;
}
