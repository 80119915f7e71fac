/*
 * retransform.c - an environment of its own, since the virtual machine keeps the bytes of all classes that one with this capability has
 * changed. Its hook sees those classes only that are rewritten here.
 */
#include "jvm/c/retransform.h"

#include <jvmti.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/c/natives.h"

/* Set before the hook is on, which is in one thread. */
static jclass rewriter;
static jmethodID rewrite_thread, rewrite, is_wanted;

static jbyteArray bytes_of(JNIEnv *jni, const unsigned char *bytes, jint len)
{
	jbyteArray ret = (*jni)->NewByteArray(jni, len);

	if (ret)
		(*jni)->SetByteArrayRegion(jni, ret, 0, len, (const jbyte *)bytes);
	return ret;
}

static jobject rewritten(JNIEnv *jni, jobject loader, const char *name, jbyteArray bytes)
{
	if (strcmp(name, "java/lang/Thread") == 0)
		return (*jni)->CallStaticObjectMethod(jni, rewriter, rewrite_thread, bytes);
	return (*jni)->CallStaticObjectMethod(jni, rewriter, rewrite, loader, (*jni)->NewStringUTF(jni, name), bytes);
}

static void JNICALL class_changes(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader, const char *name,
				  jobject domain, jint len, const unsigned char *bytes, jint *new_len,
				  unsigned char **new_bytes)
{
	jbyteArray array = redefined && name ? bytes_of(jni, bytes, len) : NULL, result;
	unsigned char *out = NULL;

	(void)domain;
	if (!array)
		return;
	result = rewritten(jni, loader, name, array);
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		result = NULL;
	}
	if (!result || (*jvmti)->Allocate(jvmti, (*jni)->GetArrayLength(jni, result), &out) != JVMTI_ERROR_NONE)
		return;
	*new_len = (*jni)->GetArrayLength(jni, result);
	(*jni)->GetByteArrayRegion(jni, result, 0, *new_len, (jbyte *)out);
	*new_bytes = out;
}

static jvmtiEnv *open_environment(JavaVM *vm)
{
	static const jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = class_changes};
	static const jvmtiCapabilities wanted = {.can_retransform_classes = 1};
	jvmtiEnv *jvmti = NULL;

	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK)
		return NULL;
	if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE) {
		(*jvmti)->DisposeEnvironment(jvmti);
		return NULL;
	}
	return jvmti;
}

static bool is_class_wanted(jvmtiEnv *jvmti, JNIEnv *jni, jclass class)
{
	jboolean is_modifiable = JNI_FALSE;

	return (*jvmti)->IsModifiableClass(jvmti, class, &is_modifiable) == JVMTI_ERROR_NONE && is_modifiable &&
	       (*jni)->CallStaticBooleanMethod(jni, rewriter, is_wanted, class);
}

/* One that the virtual machine refuses would fail all of a batch. */
static void retransform_each(jvmtiEnv *jvmti, const jclass *classes, jint count)
{
	if (count == 0 || (*jvmti)->RetransformClasses(jvmti, count, classes) == JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < count; i++)
		if ((*jvmti)->RetransformClasses(jvmti, 1, &classes[i]) != JVMTI_ERROR_NONE)
			jvm_say("a class of the JDK was not instrumented: the virtual machine refuses what it would be");
}

static void retransform_jdk(jvmtiEnv *jvmti, JNIEnv *jni)
{
	jclass *classes = NULL;
	jint count = 0, wanted = 0;

	if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < count; i++)
		if (is_class_wanted(jvmti, jni, classes[i]))
			classes[wanted++] = classes[i];
	retransform_each(jvmti, classes, wanted);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

static bool find_methods(JNIEnv *jni)
{
	rewrite_thread = (*jni)->GetStaticMethodID(jni, rewriter, "rewriteThread", "([B)[B");
	rewrite =
		(*jni)->GetStaticMethodID(jni, rewriter, "rewrite", "(Ljava/lang/ClassLoader;Ljava/lang/String;[B)[B");
	is_wanted = (*jni)->GetStaticMethodID(jni, rewriter, "isLoadedWanted", "(Ljava/lang/Class;)Z");
	return rewrite_thread && rewrite && is_wanted;
}

void jvm_retransform(const struct JNIInvokeInterface_ **vm, const struct JNINativeInterface_ **jni,
		     struct _jobject *class, bool is_jdk_wanted)
{
	jvmtiEnv *jvmti = open_environment(vm);
	jclass thread = (*jni)->FindClass(jni, "java/lang/Thread");

	rewriter = class;
	if (!jvmti || !thread || !find_methods(jni)) {
		(*jni)->ExceptionClear(jni);
		jvm_say("threads begin at [thread], not where they were started: classes cannot be changed once they are loaded");
		return;
	}
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	if ((*jvmti)->RetransformClasses(jvmti, 1, &thread) != JVMTI_ERROR_NONE)
		jvm_say("threads begin at [thread], not where they were started: java.lang.Thread cannot be changed");
	if (is_jdk_wanted)
		retransform_jdk(jvmti, jni);
	(*jvmti)->DisposeEnvironment(jvmti);
}
