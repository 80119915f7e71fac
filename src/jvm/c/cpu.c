/* cpu.c - the thread that samples. What a thread had used at its last sample is JVMTI's thread-local storage of it. */
#include "jvm/c/cpu.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "jvm/c/clients.h"
#include "jvm/c/contexts.h"
#include "jvm/c/methods.h"
#include "jvm/c/stack_compare.h"
#include "jvm/c/thread_state.h"
#include "recorder/sys.h"

enum {
	SECOND_NS = 1000000000,
	LEAST_PART = 4, /* a thread is sampled when it has used that part of the time between two samples */
};

/* Written by jvm_cpu_begin. */
static int64_t period_ns;
static bool is_compared;
/* Held during a look at all threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_over; /* under the lock */
/* Of the thread that samples. */
static int64_t *words;

static wm_context lost(void)
{
	return (wm_context){.epoch = JVM_EPOCH, .prefix = WM_PREFIX_LOST};
}

/* False: the thread is not there any more, or is suspended by others and uses no time. */
static bool copy_state(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, struct jvm_thread_state *state,
		       struct jvm_stack *stack)
{
	if ((*jvmti)->SuspendThread(jvmti, thread) != JVMTI_ERROR_NONE)
		return false;
	jvm_thread_state_read(env, thread, state);
	jvm_thread_state_keep(env, state, words);
	if (is_compared)
		jvm_stack_take(jvmti, thread, stack);
	(*jvmti)->ResumeThread(jvmti, thread);
	return true;
}

/* What a constructor may have left behind (SuperCalls.java) is found out by the thread itself only. */
static void sample(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jlong used_ns)
{
	struct jvm_thread_state state;
	static struct jvm_stack stack;
	bool is_known;

	if (!copy_state(jvmti, env, thread, &state, &stack))
		return;
	is_known = !jvm_thread_state_is_doubtful(env, &state);
	wmrt_event(is_known ? jvm_thread_state_context(env, &state) : lost(), "cpu", (uint64_t)used_ns);
	if (is_compared && is_known)
		jvm_stack_compare(jvmti, env, &stack, &state);
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

static void look_at(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jthread own, bool is_first)
{
	jlong sum, used;

	if ((*env)->IsSameObject(env, thread, own) || (*env)->PushLocalFrame(env, 2 * JVM_THREAD_REFERENCES) != 0)
		return;
	used = used_since(jvmti, thread, &sum);
	if (is_first || used * LEAST_PART >= period_ns) {
		(*jvmti)->SetThreadLocalStorage(jvmti, thread, (void *)(intptr_t)sum);
		if (!is_first)
			sample(jvmti, env, thread, used);
	}
	(*env)->PopLocalFrame(env, NULL);
}

/* is_first: nothing is sampled; what was used before is no part of the recording. */
static void look_at_all(jvmtiEnv *jvmti, JNIEnv *env, jthread own, bool is_first)
{
	jthread *threads = NULL;
	jint count = 0;

	if ((*jvmti)->GetAllThreads(jvmti, &count, &threads) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < count; i++) {
		look_at(jvmti, env, threads[i], own, is_first);
		(*env)->DeleteLocalRef(env, threads[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
}

/* The next multiple of the period: what was missed is not made up for. */
static void wait_for_tick(void)
{
	struct timespec at = {0, 0};
	int64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &at);
	ns = (int64_t)at.tv_sec * SECOND_NS + at.tv_nsec;
	ns += period_ns - ns % period_ns;
	at = (struct timespec){.tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void JNICALL run_sampler(jvmtiEnv *jvmti, JNIEnv *env, void *unused)
{
	jthread own = NULL;
	bool goes_on = (*jvmti)->GetCurrentThread(jvmti, &own) == JVMTI_ERROR_NONE;

	(void)unused;
	jvm_clients_pause();
	while (goes_on) {
		wait_for_tick();
		pthread_mutex_lock(&lock);
		if (!is_over)
			look_at_all(jvmti, env, own, false);
		goes_on = !is_over;
		pthread_mutex_unlock(&lock);
	}
}

void jvm_cpu_end(void)
{
	pthread_mutex_lock(&lock);
	is_over = true;
	pthread_mutex_unlock(&lock);
}

/* A daemon, which the program sees among its threads. */
static jobject new_thread(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "java/lang/Thread");
	jmethodID create = class ? (*env)->GetMethodID(env, class, "<init>", "(Ljava/lang/String;)V") : NULL;
	jstring name = create ? (*env)->NewStringUTF(env, "waymark cpu") : NULL;
	jobject ret = name ? (*env)->NewObject(env, class, create, name) : NULL;

	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	return ret;
}

bool jvm_cpu_begin(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env, int32_t hz,
		   bool is_checked)
{
	jobject thread = new_thread(env);

	period_ns = SECOND_NS / hz;
	is_compared = is_checked;
	words = wmrt_map_memory(SITECODE_LOST_INDEX * sizeof *words);
	if (!thread || !words || (is_checked && !jvm_stack_init(env)))
		return false;
	look_at_all(jvmti, env, NULL, true);
	return (*jvmti)->RunAgentThread(jvmti, thread, run_sampler, NULL, JVMTI_THREAD_NORM_PRIORITY) ==
	       JVMTI_ERROR_NONE;
}
