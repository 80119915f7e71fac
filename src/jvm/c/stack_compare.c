/* stack_compare.c - makes of frames what Oracle.java compares: class.methodDESCRIPTOR:line, with dots in the class. */
#include "jvm/c/stack_compare.h"

#include <jvmti.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/c/frames.h"
#include "jvm/c/thread_state.h"
#include "recorder/text.h"

enum {
	FRAME_BYTES = 4096,
};

_Static_assert(sizeof(struct jvm_stack_frame) == sizeof(jvmtiFrameInfo), "is read by JVMTI");

/* Written by jvm_stack_init. */
static jclass oracle, string;
static jmethodID check_sample;

bool jvm_stack_init(const struct JNINativeInterface_ **env)
{
	jclass class = (*env)->FindClass(env, "dev/waymark/agent/Oracle");
	jclass strings = (*env)->FindClass(env, "java/lang/String");

	check_sample = class ? (*env)->GetStaticMethodID(env, class, "checkSample", "([Ljava/lang/String;[I)V") : NULL;
	if (!check_sample || !strings) {
		(*env)->ExceptionClear(env);
		return false;
	}
	oracle = (*env)->NewGlobalRef(env, class);
	string = (*env)->NewGlobalRef(env, strings);
	return oracle && string;
}

void jvm_stack_take(const struct jvmtiInterface_1_ **jvmti, jobject thread, struct jvm_stack *ret)
{
	jint count = 0;
	jvmtiError err =
		(*jvmti)->GetStackTrace(jvmti, thread, 0, JVM_STACK_FRAMES, (jvmtiFrameInfo *)ret->frames, &count);

	ret->count = err == JVMTI_ERROR_NONE ? count : -1;
}

/* signature: of a class, Lpackage/Name; */
static void add_class(struct wmrt_text *text, const char *signature)
{
	for (const char *s = signature + 1; *s && *s != ';'; s++)
		wmrt_text_char(text, *s == '/' ? '.' : *s);
}

static bool describe(jvmtiEnv *jvmti, JNIEnv *env, const struct jvm_stack_frame *frame, struct wmrt_text *ret)
{
	char *name = NULL, *descriptor = NULL, *signature = NULL;
	jclass class = NULL;
	bool is_known = (*jvmti)->GetMethodName(jvmti, frame->method, &name, &descriptor, NULL) == JVMTI_ERROR_NONE &&
			(*jvmti)->GetMethodDeclaringClass(jvmti, frame->method, &class) == JVMTI_ERROR_NONE &&
			(*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) == JVMTI_ERROR_NONE;

	if (is_known) {
		add_class(ret, signature);
		wmrt_text_char(ret, '.');
		wmrt_text_add(ret, name);
		wmrt_text_add(ret, descriptor);
		wmrt_text_char(ret, ':');
		wmrt_text_number(ret, (uint64_t)jvm_frame_line(jvmti, frame->method, frame->location), 10, 1);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	(*env)->DeleteLocalRef(env, class);
	return is_known;
}

/* NULL: the class of a frame has been unloaded, or there is no memory. */
static jobjectArray describe_all(jvmtiEnv *jvmti, JNIEnv *env, const struct jvm_stack *stack)
{
	jobjectArray ret = (*env)->NewObjectArray(env, stack->count, string, NULL);

	for (jint i = 0; ret && i < stack->count; i++) {
		char bytes[FRAME_BYTES] = "";
		struct wmrt_text text = {bytes, sizeof bytes, 0};
		jstring line = describe(jvmti, env, &stack->frames[i], &text) ? (*env)->NewStringUTF(env, bytes) : NULL;

		if (!line)
			return NULL;
		(*env)->SetObjectArrayElement(env, ret, i, line);
		(*env)->DeleteLocalRef(env, line);
	}
	return ret;
}

void jvm_stack_compare(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env,
		       const struct jvm_stack *stack, const struct jvm_thread_state *state)
{
	bool is_comparable = stack->count >= 0 && stack->count < JVM_STACK_FRAMES;
	jobjectArray frames = is_comparable ? describe_all(jvmti, env, stack) : NULL;
	size_t count = 0;
	int32_t *sites = frames ? jvm_thread_state_sites(state, &count) : NULL;
	jintArray array = sites ? (*env)->NewIntArray(env, (jsize)count) : NULL;

	if (array) {
		(*env)->SetIntArrayRegion(env, array, 0, (jsize)count, sites);
		(*env)->CallStaticVoidMethod(env, oracle, check_sample, frames, array);
	}
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	free(sites);
}
