/* ends.c - the native method of Ends.java: ends the process as a bug in a library does. */
#include <jni.h>
#include <stdlib.h>

JNIEXPORT void JNICALL Java_Ends_abort(JNIEnv *env, jclass class);

JNIEXPORT void JNICALL Java_Ends_abort(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	abort();
}
