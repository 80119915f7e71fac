/*
 * contention.c - the client `contention`: waits for monitors that another thread has, and how long they took. Where contexts are walks, those of
 * java.util.concurrent, too (parks.h).
 */
#include "jvm/c/base/gate.h"
#include "jvm/c/base/pause.h"
#include "jvm/c/clients/client.h"
#include "jvm/c/base/log.h"
#include "jvm/c/clients/event.h"
#include "jvm/c/clients/parks.h"
#include "recorder/clock.h"
#include "recorder/process.h"

/* The monitor that the thread waits for; read and written by the thread alone. */
static _Thread_local struct {
	bool is_there;
	uint32_t generation; /* of the recording: what waits longer than that is in none */
	uint64_t since_ns;
	wm_context context;
} wait __attribute__((tls_model("initial-exec")));

/* The context is that of before the wait, which the time for making it is no part of. */
static void JNICALL monitor_is_taken(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
	jclass class;

	(void)jvmti;
	if (!jvm_event_begin(env))
		return;
	class = (*env)->GetObjectClass(env, object);
	wait.context = jvm_event_context(env, thread, JVM_CHECK_CONTENTION, class);
	(*env)->DeleteLocalRef(env, class);
	wait.is_there = true;
	wait.generation = wmrt_process.generation;
	wait.since_ns = wmrt_now_ns();
	jvm_event_end();
}

static void JNICALL monitor_is_entered(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
	(void)jvmti, (void)env, (void)thread, (void)object;
	if (jvm_is_paused() || !wait.is_there)
		return;
	wait.is_there = false;
	if (!jvm_gate_enter())
		return;
	if (wait.generation == wmrt_process.generation)
		wmrt_event(wait.context, "contention", wmrt_now_ns() - wait.since_ns);
	jvm_gate_leave();
}

static void listen(jvmtiEventCallbacks *callbacks)
{
	callbacks->MonitorContendedEnter = monitor_is_taken;
	callbacks->MonitorContendedEntered = monitor_is_entered;
}

static bool run_walked(jvmtiEnv *jvmti, JNIEnv *env, int32_t number)
{
	(void)number;
	if (!jvm_parks_begin(jvmti, env))
		jvm_log("contention is that of monitors alone: this virtual machine parks threads in another way");
	return true;
}

static const struct jvm_client walked = {
	.capabilities = {{{.can_generate_monitor_events = 1}, "can_generate_monitor_events"}},
	.events = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED},
	.listen = listen,
	.run = run_walked,
	.end = jvm_parks_end,
};

const struct jvm_client jvm_client_contention = {
	.walked = &walked,
	.capabilities = {{{.can_generate_monitor_events = 1}, "can_generate_monitor_events"}},
	.places = JVM_PLACES_MONITORS,
	.events = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED},
	.listen = listen,
};
