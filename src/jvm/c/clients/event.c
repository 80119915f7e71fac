/*
 * event.c - asks who makes contexts. By words: reads the running thread's state; Java settles it where it is doubtful, and compares it where
 * that is wanted.
 */
#include "jvm/c/clients/event.h"

#include <jvmti.h>

#include "jvm/c/base/gate.h"
#include "jvm/c/base/pause.h"
#include "jvm/c/base/java.h"
#include "jvm/c/clients/thread_names.h"
#include "jvm/c/contexts/thread_state.h"
#include "recorder/task.h"
#include "runtime/contexts/capture.h"

enum {
	EMPTY_ARRAY_BYTES = 24, /* at most: its head */
};

/* Written before the first event. */
static jvm_event_maker *maker;
/* Written by jvm_event_use_words. */
static jclass clients;
static jmethodID settle;
static jclass oracle;                               /* NULL: nothing is compared */
static jmethodID checks[JVM_CHECK_NOT];             /* by enum jvm_event_check */
static jclass class_class, int_array, object_array; /* found with the oracle */

static wm_context context_of_words(JNIEnv *env, jthread thread, enum jvm_event_check check, jclass class);

void jvm_event_use(jvm_event_maker *make)
{
	maker = make;
}

bool jvm_event_use_words(const struct JNINativeInterface_ **env, bool is_checked)
{
	maker = context_of_words;
	clients = jvm_find_class(env, "dev/waymark/agent/Clients");
	settle = jvm_find_static(env, clients, "settle", "()V");
	if (!is_checked)
		return settle;
	oracle = jvm_find_class(env, "dev/waymark/agent/Oracle");
	checks[JVM_CHECK_EVENT] = jvm_find_static(env, oracle, "checkEvent", "()V");
	checks[JVM_CHECK_CONTENTION] = jvm_find_static(env, oracle, "checkContention", "()V");
	class_class = jvm_find_class(env, "java/lang/Class");
	int_array = jvm_find_class(env, "[I");
	object_array = jvm_find_class(env, "[Ljava/lang/Object;");
	return settle && checks[JVM_CHECK_EVENT] && checks[JVM_CHECK_CONTENTION] && class_class && int_array &&
	       object_array;
}

enum jvm_event_check jvm_event_check_of(const struct JNINativeInterface_ **env, struct _jobject *class, int64_t size)
{
	if (oracle &&
	    ((*env)->IsSameObject(env, class, class_class) || (*env)->IsSameObject(env, class, object_array) ||
	     (size <= EMPTY_ARRAY_BYTES && (*env)->IsSameObject(env, class, int_array))))
		return JVM_CHECK_NOT;
	return JVM_CHECK_EVENT;
}

bool jvm_event_begin(const struct JNINativeInterface_ **env)
{
	if (jvm_is_paused() || !jvm_gate_enter())
		return false;
	if ((*env)->EnsureLocalCapacity(env, JVM_THREAD_REFERENCES) != 0) {
		jvm_gate_leave();
		return false;
	}
	jvm_pause();
	jvm_thread_name_here(env);
	return true;
}

void jvm_event_end(void)
{
	jvm_resume();
	jvm_gate_leave();
}

/* Runs a static Java method without arguments. What it throws or leaves paused is undone. */
static void run_java(JNIEnv *env, jclass class, jmethodID method)
{
	uint32_t before = jvm_pauses();

	(*env)->CallStaticVoidMethod(env, class, method);
	jvm_drop_thrown(env);
	jvm_set_pauses(before);
}

static wm_context context_of_words(JNIEnv *env, jthread thread, enum jvm_event_check check, jclass class)
{
	struct jvm_thread_state state;

	(void)class;
	jvm_thread_state_read(env, thread, &state);
	if (jvm_thread_state_is_doubtful(env, &state)) {
		run_java(env, clients, settle);
		jvm_thread_state_read(env, thread, &state);
	}
	if (oracle && check != JVM_CHECK_NOT)
		run_java(env, oracle, checks[check]);
	if (jvm_thread_state_is_native(&state))
		return wmrt_capture(WM_SITE_FOREIGN);
	return jvm_thread_state_context(env, &state);
}

wm_context jvm_event_context(const struct JNINativeInterface_ **env, struct _jobject *thread,
			     enum jvm_event_check check, struct _jobject *class)
{
	return wmrt_in_task(maker(env, thread, check, class));
}
