/*
 * alloc.c - the clients `alloc`: objects and arrays that are allocated, all of them or a sample; and `live`: of a sample, those that are
 * still there when the virtual machine ends. The virtual machine has one interval for both, the shorter one.
 */
#include <math.h>

#include "jvm/c/base/pause.h"
#include "jvm/c/clients/client.h"
#include "jvm/c/clients/event.h"
#include "jvm/c/clients/live_objects.h"

/* Written by load, before the first event. */
static int32_t interval = INT32_MAX;
static bool is_recorded, is_kept;
static bool is_over; /* they are those of a recording that has ended */

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
	wm_context context;

	(void)jvmti;
	if (!jvm_event_begin(env))
		return;
	context = jvm_event_context(env, thread, jvm_event_check_of(env, class, size), class);
	if (is_recorded)
		wmrt_event(context, "alloc", sampled_bytes(size));
	if (is_kept)
		jvm_live_objects_add(env, object, context, sampled_bytes(size));
	jvm_event_end();
}

static void listen(jvmtiEventCallbacks *callbacks)
{
	callbacks->SampledObjectAlloc = object_allocated;
}

static void end_alloc(void)
{
	is_over = true;
}

static void end_live(void)
{
	jvm_live_objects_record();
	is_over = true;
}

/* The first load of a recording forgets what the one before was asked for. */
static void begin_anew(void)
{
	if (!is_over)
		return;
	is_over = is_recorded = is_kept = false;
	interval = INT32_MAX;
}

static bool set_interval(jvmtiEnv *jvmti, int32_t number)
{
	if (number < interval)
		interval = number;
	return (*jvmti)->SetHeapSamplingInterval(jvmti, interval) == JVMTI_ERROR_NONE;
}

static bool load_alloc(jvmtiEnv *jvmti, int32_t number)
{
	begin_anew();
	is_recorded = true;
	return set_interval(jvmti, number);
}

static bool load_live(jvmtiEnv *jvmti, int32_t number)
{
	begin_anew();
	is_kept = jvm_live_objects_init(jvmti);
	return is_kept && set_interval(jvmti, number);
}

const struct jvm_client jvm_client_alloc = {
	.capabilities = {{{.can_generate_sampled_object_alloc_events = 1}, "can_generate_sampled_object_alloc_events"}},
	.places = JVM_PLACES_ALLOCATIONS,
	.events = {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC},
	.listen = listen,
	.load = load_alloc,
	.end = end_alloc,
};

const struct jvm_client jvm_client_live = {
	.capabilities = {{{.can_generate_sampled_object_alloc_events = 1}, "can_generate_sampled_object_alloc_events"}},
	.places = JVM_PLACES_ALLOCATIONS,
	.events = {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC},
	.listen = listen,
	.load = load_live,
	.end = end_live,
};
