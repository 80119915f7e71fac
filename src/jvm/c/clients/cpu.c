/*
 * cpu.c - the client `cpu`: CPU time at exact contexts. A thread of the agent's looks a number of times a second which threads of the program
 * have used some; what a thread had used when it began, or at its last sample, is its thread-local storage of JVMTI.
 *
 * A sample is taken of a thread that is suspended, which the virtual machine does at a safepoint. While it is, nothing takes a lock or
 * allocates a Java object: the context is made of copies when it runs again.
 */
#include <stdlib.h>
#include <time.h>

#include "jvm/c/base/java.h"
#include "jvm/c/clients/client.h"
#include "jvm/c/contexts/contexts.h"
#include "jvm/c/codes/methods.h"
#include "jvm/c/clients/carrier.h"
#include "jvm/c/contexts/stack_compare.h"
#include "jvm/c/clients/thread_names.h"
#include "jvm/c/contexts/thread_state.h"
#include "jvm/c/clients/ticker.h"
#include "recorder/event.h"
#include "recorder/file.h"
#include "recorder/sys.h"

enum {
	SECOND_NS = 1000000000,
	IS_NAMED = 1 << 30, /* of a thread's number: the recording has its name */
	LEAST_PART = 4,     /* a thread is sampled when it has used that part of the time between two samples */
	MOUNTED_TRIES = 3,
};

static void look_at(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);

/* Written by begin and run, before the first sample, but for what the ticker has under its lock. */
static struct jvm_ticker ticker = {.name = "waymark cpu", .look_at = look_at, .lock = PTHREAD_MUTEX_INITIALIZER};
static bool is_compared;
/* Nothing is sampled: what was used before is no part of the recording. */
static bool is_first = true;
/* Room for the words of a sample; used by the thread that samples. */
static int64_t *words;
/* The field of Thread that has its number in the operating system; 0: not known. */
static jfieldID tid;

static wm_context lost(void)
{
	return (wm_context){.epoch = JVM_EPOCH, .prefix = WM_PREFIX_LOST};
}

static bool is_mounted(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jthread running)
{
	return (*env)->IsSameObject(env, running, jvm_carrier_mounted(jvmti, thread));
}

/*
 * The thread that runs there, which is suspended: a virtual one, if there is one. NULL: the thread is not there any more, is suspended by
 * others and uses no time, or each try found another one.
 */
static jthread suspend(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	for (int i = 0; i < MOUNTED_TRIES; i++) {
		jthread running = jvm_carrier_mounted(jvmti, thread);

		if ((*jvmti)->SuspendThread(jvmti, running) != JVMTI_ERROR_NONE)
			return NULL;
		if (is_mounted(jvmti, env, thread, running))
			return running;
		(*jvmti)->ResumeThread(jvmti, running);
	}
	return NULL;
}

/* False: nothing of it is known. */
static bool copy_state(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, struct jvm_thread_state *state,
		       struct jvm_stack *stack)
{
	jthread running = suspend(jvmti, env, thread);

	if (!running)
		return false;
	jvm_thread_state_read(env, running, state);
	jvm_thread_state_keep(env, state, words);
	if (is_compared)
		jvm_stack_take(jvmti, running, stack);
	(*jvmti)->ResumeThread(jvmti, running);
	return true;
}

/* In the thread: one that joins the virtual machine again has another Thread, and what it used before is no part of its samples. */
static void JNICALL thread_starts(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	struct timespec used = {0, 0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	(*jvmti)->SetThreadLocalStorage(jvmti, thread, (void *)(intptr_t)(used.tv_sec * SECOND_NS + used.tv_nsec));
	(*env)->SetIntField(env, thread, tid, (jint)wmrt_gettid());
}

/* The name is that of the first sample. */
static uint32_t named_tid(JNIEnv *env, jthread thread)
{
	jint number = (*env)->GetIntField(env, thread, tid);

	if (number && !(number & IS_NAMED)) {
		(*env)->SetIntField(env, thread, tid, number | IS_NAMED);
		jvm_thread_name(env, thread, (uint32_t)number);
	}
	return (uint32_t)(number & ~IS_NAMED);
}

/* Behind the first event there is a recording. */
static void count_sample(void)
{
	struct wmk_header *header = wmrt_file_header();

	if (!header)
		return;
	header->sample_period_ns = (uint64_t)ticker.period_ns;
	__atomic_fetch_add(&header->samples, 1, __ATOMIC_RELAXED);
}

/* A sample of a doubtful word is lost: what a constructor may have left behind (SuperCalls.java) only the thread itself can find out. */
static void sample(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jlong used_ns)
{
	struct jvm_thread_state state;
	static struct jvm_stack stack;
	bool is_known;

	if (!copy_state(jvmti, env, thread, &state, &stack))
		return;
	is_known = !jvm_thread_state_is_doubtful(env, &state);
	wmrt_event_of(named_tid(env, thread), is_known ? jvm_thread_state_context(env, &state) : lost(), "cpu",
		      (uint64_t)used_ns);
	count_sample();
	if (is_compared && is_known)
		jvm_stack_compare(env, &stack, &state);
}

/* How much the thread has used since its last sample; 0 and a sum if that is not known. */
static jlong used_since(jvmtiEnv *jvmti, jthread thread, jlong *sum)
{
	void *before = NULL;

	*sum = 0;
	if ((*jvmti)->GetThreadCpuTime(jvmti, thread, sum) != JVMTI_ERROR_NONE ||
	    (*jvmti)->GetThreadLocalStorage(jvmti, thread, &before) != JVMTI_ERROR_NONE)
		return 0;
	return *sum - (jlong)(intptr_t)before;
}

static void look_at(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	jlong sum, used = used_since(jvmti, thread, &sum);

	if (!is_first && used * LEAST_PART < ticker.period_ns)
		return;
	(*jvmti)->SetThreadLocalStorage(jvmti, thread, (void *)(intptr_t)sum);
	if (!is_first)
		sample(jvmti, env, thread, used);
}

static void listen(jvmtiEventCallbacks *callbacks)
{
	callbacks->ThreadStart = thread_starts;
}

static bool load(jvmtiEnv *jvmti, int32_t number)
{
	(void)number;
	return jvm_carrier_prepare(jvmti);
}

static bool begin(JNIEnv *env, const struct jvm_options *options)
{
	is_compared = options->is_checked;
	tid = jvm_find_field(env, "java/lang/Thread", "waymark$tid", "I");
	words = wmrt_map_memory(SITECODE_LOST_INDEX * sizeof *words);
	return tid && words && (!is_compared || jvm_stack_init(env));
}

/* Threads that begin are told of by now; those that are there already are looked at once. */
static bool run(jvmtiEnv *jvmti, JNIEnv *env, int32_t number)
{
	jthread own = NULL;

	if ((*jvmti)->GetCurrentThread(jvmti, &own) != JVMTI_ERROR_NONE)
		return false;
	(*env)->SetIntField(env, own, tid, (jint)wmrt_gettid());
	jvm_ticker_look(&ticker, jvmti, env);
	is_first = false;
	return jvm_ticker_begin(&ticker, jvmti, env, number);
}

static void end(void)
{
	jvm_ticker_end(&ticker);
}

extern const struct jvm_client jvm_client_cpu_walked;
const struct jvm_client jvm_client_cpu = {
	.walked = &jvm_client_cpu_walked,
	.capabilities = {{{.can_suspend = 1}, "can_suspend"},
			 {{.can_get_thread_cpu_time = 1}, "can_get_thread_cpu_time"}},
	.asks_late = true,
	.needs_words = true, /* with Lucce a thread stores three fields, between which it may be suspended */
	.events = {JVMTI_EVENT_THREAD_START},
	.listen = listen,
	.load = load,
	.begin = begin,
	.run = run,
	.end = end,
};
