/* alloc.c - the client `alloc`: objects and arrays that are allocated, all of them or a sample. */
#include <math.h>

#include "jvm/c/base/pause.h"
#include "jvm/c/clients/client.h"
#include "jvm/c/clients/event.h"

/* Written by load, before the first event. */
static int32_t interval;

/*
 * Bytes that an allocation stands for. The virtual machine samples one when a random number of bytes was allocated, which is `interval`
 * on average and distributed geometrically: one of `size` bytes with the probability 1 - e^(-size / interval).
 */
static uint64_t sampled_bytes(jlong size)
{
	return interval ? (uint64_t)llround((double)size / -expm1(-(double)size / interval)) : (uint64_t)size;
}

static void JNICALL object_allocated(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jclass class,
				     jlong size)
{
	(void)jvmti, (void)object;
	if (!jvm_event_begin(env))
		return;
	wmrt_event(jvm_event_context(env, thread, JVM_CHECK_EVENT, class), "alloc", sampled_bytes(size));
	jvm_resume();
}

static void listen(jvmtiEventCallbacks *callbacks)
{
	callbacks->SampledObjectAlloc = object_allocated;
}

static bool load(jvmtiEnv *jvmti, int32_t number)
{
	interval = number;
	return (*jvmti)->SetHeapSamplingInterval(jvmti, number) == JVMTI_ERROR_NONE;
}

const struct jvm_client jvm_client_alloc = {
	.capabilities = {{{.can_generate_sampled_object_alloc_events = 1}, "can_generate_sampled_object_alloc_events"}},
	.places = JVM_PLACES_ALLOCATIONS,
	.events = {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC},
	.listen = listen,
	.load = load,
};
