/* stack_compare.c - takes the stack by JVMTI; Oracle.java compares. */
#include "jvm/c/contexts/stack_compare.h"

#include <jvmti.h>
#include <stdlib.h>

#include "jvm/c/contexts/frames.h"
#include "jvm/c/contexts/thread_state.h"
#include "jvm/c/base/java.h"

/* Written by jvm_stack_init. */
static jclass oracle;
static jmethodID check_sample;

bool jvm_stack_init(const struct JNINativeInterface_ **env)
{
	oracle = jvm_find_class(env, "dev/waymark/agent/Oracle");
	check_sample = jvm_find_static(env, oracle, "checkSample", "([Ldev/waymark/agent/Frame;[I)V");
	return check_sample;
}

void jvm_stack_take(const struct jvmtiInterface_1_ **jvmti, jobject thread, struct jvm_stack *ret)
{
	jint count = 0;
	jvmtiError err =
		(*jvmti)->GetStackTrace(jvmti, thread, 0, JVM_STACK_FRAMES, (jvmtiFrameInfo *)ret->frames, &count);

	ret->count = err == JVMTI_ERROR_NONE ? count : -1;
}

void jvm_stack_compare(const struct JNINativeInterface_ **env, const struct jvm_stack *stack,
		       const struct jvm_thread_state *state)
{
	bool is_comparable = stack->count >= 0 && stack->count < JVM_STACK_FRAMES;
	jobjectArray frames = is_comparable ? jvm_frames_new(env, stack->frames, stack->count) : NULL;
	size_t count = 0;
	int32_t *sites = frames ? jvm_thread_state_sites(state, &count) : NULL;
	jintArray array = sites ? (*env)->NewIntArray(env, (jsize)count) : NULL;

	if (array) {
		(*env)->SetIntArrayRegion(env, array, 0, (jsize)count, sites);
		(*env)->CallStaticVoidMethod(env, oracle, check_sample, frames, array);
	}
	jvm_drop_thrown(env);
	free(sites);
}
