/* ticker.c - waits for multiples of its period: what was missed is not made up for. */
#include "jvm/c/clients/ticker.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <time.h>

#include "jvm/c/base/pause.h"
#include "jvm/c/contexts/thread_state.h"
#include "jvm/c/base/java.h"
#include "recorder/clock.h"

enum {
	SECOND_NS = 1000000000,
	MILLISECOND_NS = 1000000,
	MAX_THREADS = 64,
};

/* Global references, which stay: another thread may be looking. */
static _Atomic(jobject) own_threads[MAX_THREADS];
static _Atomic uint32_t own_count;

bool jvm_ticker_has(JNIEnv *env, jthread thread)
{
	uint32_t count = atomic_load(&own_count);

	for (uint32_t i = 0; i < count && i < MAX_THREADS; i++)
		if ((*env)->IsSameObject(env, thread, atomic_load(&own_threads[i])))
			return true;
	return false;
}

static void look_at_all(struct jvm_ticker *ticker, jvmtiEnv *jvmti, JNIEnv *env, jthread own)
{
	jthread *threads = NULL;
	jint count = 0;

	if ((*jvmti)->GetAllThreads(jvmti, &count, &threads) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < count; i++) {
		if (!(*env)->IsSameObject(env, threads[i], own) &&
		    (*env)->PushLocalFrame(env, 2 * JVM_THREAD_REFERENCES) == 0) {
			ticker->look_at(jvmti, env, threads[i]);
			(*env)->PopLocalFrame(env, NULL);
		}
		(*env)->DeleteLocalRef(env, threads[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
}

static void do_tick(struct jvm_ticker *ticker, jvmtiEnv *jvmti, JNIEnv *env, jthread own)
{
	if (ticker->tick)
		ticker->tick(jvmti, env);
	else
		look_at_all(ticker, jvmti, env, own);
}

/*
 * In a monitor of the virtual machine's, but for the last part of a millisecond: at its end the virtual machine waits, up to 0.3 s, for threads
 * that are in native code.
 */
static void wait_for_tick(jvmtiEnv *jvmti, jrawMonitorID monitor, int64_t period_ns)
{
	int64_t now_ns = (int64_t)wmrt_now_ns(), ns = now_ns + period_ns - now_ns % period_ns;
	const struct timespec at = {.tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS};
	jlong ms = (ns - now_ns) / MILLISECOND_NS;

	if (ms && (*jvmti)->RawMonitorEnter(jvmti, monitor) == JVMTI_ERROR_NONE) {
		(*jvmti)->RawMonitorWait(jvmti, monitor, ms); /* nobody notifies it */
		(*jvmti)->RawMonitorExit(jvmti, monitor);
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void JNICALL run(jvmtiEnv *jvmti, JNIEnv *env, void *argument)
{
	struct jvm_ticker *ticker = argument;
	jthread own = NULL;
	jrawMonitorID monitor;
	bool has_monitor = (*jvmti)->CreateRawMonitor(jvmti, ticker->name, &monitor) == JVMTI_ERROR_NONE;
	bool goes_on = has_monitor && (*jvmti)->GetCurrentThread(jvmti, &own) == JVMTI_ERROR_NONE;

	jvm_pause();
	while (goes_on) {
		wait_for_tick(jvmti, monitor, ticker->period_ns);
		pthread_mutex_lock(&ticker->lock);
		if (!ticker->is_over)
			do_tick(ticker, jvmti, env, own);
		goes_on = ticker->is_there = !ticker->is_over;
		pthread_mutex_unlock(&ticker->lock);
	}
	if (has_monitor)
		(*jvmti)->DestroyRawMonitor(jvmti, monitor);
}

static jobject new_thread(JNIEnv *env, const char *name)
{
	jclass class = (*env)->FindClass(env, "java/lang/Thread");
	jmethodID create = class ? (*env)->GetMethodID(env, class, "<init>", "(Ljava/lang/String;)V") : NULL;
	jstring java_name = create ? (*env)->NewStringUTF(env, name) : NULL;
	jobject ret = java_name ? (*env)->NewObject(env, class, create, java_name) : NULL;
	uint32_t number;

	jvm_drop_thrown(env);
	number = ret ? atomic_fetch_add(&own_count, 1) : MAX_THREADS;
	if (number < MAX_THREADS)
		atomic_store(&own_threads[number], (*env)->NewGlobalRef(env, ret));
	return ret;
}

bool jvm_ticker_begin(struct jvm_ticker *ticker, jvmtiEnv *jvmti, JNIEnv *env, int32_t hz)
{
	jobject thread;
	bool is_there;

	pthread_mutex_lock(&ticker->lock);
	ticker->period_ns = SECOND_NS / hz;
	ticker->is_over = false;
	is_there = ticker->is_there; /* it sleeps through an end that a begin follows soon */
	ticker->is_there = true;
	pthread_mutex_unlock(&ticker->lock);
	thread = is_there ? NULL : new_thread(env, ticker->name);
	if (is_there || (thread && (*jvmti)->RunAgentThread(jvmti, thread, run, ticker, JVMTI_THREAD_NORM_PRIORITY) ==
					   JVMTI_ERROR_NONE))
		return true;
	ticker->is_there = false;
	return false;
}

void jvm_ticker_look(struct jvm_ticker *ticker, jvmtiEnv *jvmti, JNIEnv *env)
{
	pthread_mutex_lock(&ticker->lock);
	look_at_all(ticker, jvmti, env, NULL);
	pthread_mutex_unlock(&ticker->lock);
}

void jvm_ticker_end(struct jvm_ticker *ticker)
{
	pthread_mutex_lock(&ticker->lock);
	ticker->is_over = true;
	pthread_mutex_unlock(&ticker->lock);
}
