/*
 * waits.c - the clients `wall` and `off_cpu`: all of a thread's time by the clock, and that in which it neither used a CPU nor waited for one.
 *
 * A thread of the agent's looks at the Java threads. One that has used no CPU time since its last walk has the same stack: its time is added to the
 * event of that walk, in its place in the recording. So a thread that waits costs one walk, and is looked at less and less often. A walk is JVMTI's:
 * the virtual machine has it done by the thread that asks where the other one is blocked or in native code, which neither is interrupted nor wakes up; one
 * that runs Java code stops for it at its next safepoint poll.
 *
 * Of a thread that runs a virtual one the stack is that one's. Virtual threads that wait and that no thread runs have records of their own. They have no
 * time of CPU, so each look is a walk: the more there are, the less often each one is looked at.
 */
#include <jvmti.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/c/base/gate.h"
#include "jvm/c/clients/carrier.h"
#include "jvm/c/clients/client.h"
#include "jvm/c/clients/thread_names.h"
#include "jvm/c/clients/ticker.h"
#include "jvm/c/walk/method_names.h"
#include "jvm/c/walk/thread_ids.h"
#include "jvm/c/walk/walk.h"
#include "recorder/clock.h"
#include "recorder/event.h"
#include "recorder/file.h"
#include "recorder/sys.h"
#include "recorder/text.h"
#include "waymark/abi.h"

enum {
	SECOND_NS = 1000000000,
	PART = 16,               /* of its wait passes between two looks at a thread */
	LOOK_MAX_NS = 200000000, /* or this time */
	VIRTUAL_MAX = 1 << 14,   /* virtual threads that are known at a time */
	VIRTUAL_NS = 100000,     /* between two looks at any of these */
};

/* Where an event is in the recording, and in which chunk of those that this thread has used. */
struct grown {
	struct wmk_event *event;
	uint32_t chunk;
};

/* Made by who tells of the thread; from then on of the thread that looks, but for is_over. */
struct looked_at {
	struct looked_at *next;
	jweak thread;
	uint32_t tid; /* 0: not known */
	uint32_t root;
	_Atomic bool is_over;
	bool is_named;
	bool is_virtual;
	bool is_still;                      /* it has used no CPU time since its walk */
	bool is_waiting;                    /* and waits */
	uint64_t due_ns, since_ns;          /* of its next look; of its wait */
	uint64_t wall_ns, cpu_ns, delay_ns; /* up to these times; delay_ns: that it has waited for a CPU */
	uint64_t off_ns;                    /* not in an event yet */
	wm_context context;                 /* of its walk */
	struct grown wall, off;
};

/* Written before the first look. */
static bool is_wall_on, is_off_cpu_on;
static int32_t rate;
static JavaVM *machine;
static jvmtiEnv *tools;
static void(JNICALL *next_start)(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
static void(JNICALL *next_end)(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
/* Those that have been told of and are not in `threads` yet. */
static _Atomic(struct looked_at *) told;
static _Atomic uint32_t virtual_count; /* of all records */
/* Of the thread that looks. */
static struct looked_at *threads;
static struct wmk_event *last_event;
static uint32_t chunk;

static void look(jvmtiEnv *jvmti, JNIEnv *env);
static _Atomic bool is_on;
/* Between a thread that ends, and who forgets its record. */
static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;
static struct jvm_ticker ticker = {.name = "waymark wall", .tick = look, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- threads begin and end ---- */

static uint64_t cpu_time(jvmtiEnv *jvmti, jthread thread)
{
	jlong ret = 0;

	return (*jvmti)->GetThreadCpuTime(jvmti, thread, &ret) == JVMTI_ERROR_NONE ? (uint64_t)ret : 0;
}

static void tell(struct looked_at *t)
{
	t->next = atomic_load(&told);
	while (!atomic_compare_exchange_weak(&told, &t->next, t))
		;
}

static void add(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, uint32_t tid, uint32_t root)
{
	struct looked_at *t;
	void *known = NULL;

	if (jvm_ticker_has(env, thread) || (*jvmti)->GetThreadLocalStorage(jvmti, thread, &known) != JVMTI_ERROR_NONE ||
	    known)
		return;
	t = calloc(1, sizeof *t);
	if (!t)
		return;
	t->thread = (*env)->NewWeakGlobalRef(env, thread);
	t->tid = tid;
	t->root = root;
	t->wall_ns = wmrt_now_ns();
	t->cpu_ns = cpu_time(jvmti, thread);
	t->delay_ns = is_off_cpu_on ? jvm_thread_delay_ns(tid) : 0;
	(*jvmti)->SetThreadLocalStorage(jvmti, thread, t);
	tell(t);
}

/* In the virtual thread. More than there is room for are not looked at. */
static void JNICALL virtual_starts(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	struct looked_at *t;

	(void)jvmti;
	if (!atomic_load(&is_on))
		return;
	t = atomic_fetch_add(&virtual_count, 1) < VIRTUAL_MAX ? calloc(1, sizeof *t) : NULL;
	if (!t) {
		atomic_fetch_sub(&virtual_count, 1);
		return;
	}
	t->thread = (*env)->NewWeakGlobalRef(env, thread);
	t->is_virtual = true;
	t->root = WM_PREFIX_THREAD;
	t->wall_ns = wmrt_now_ns();
	tell(t);
}

static void JNICALL thread_starts(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	if (next_start)
		next_start(jvmti, env, thread);
	if (atomic_load(&is_on))
		add(jvmti, env, thread, wmrt_gettid(), WM_PREFIX_THREAD);
}

static void JNICALL thread_ends(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	void *t = NULL;

	if (next_end)
		next_end(jvmti, env, thread);
	pthread_mutex_lock(&ending);
	if ((*jvmti)->GetThreadLocalStorage(jvmti, thread, &t) == JVMTI_ERROR_NONE && t) {
		(*jvmti)->SetThreadLocalStorage(jvmti, thread, NULL);
		atomic_store(&((struct looked_at *)t)->is_over, true);
	}
	pthread_mutex_unlock(&ending);
}

static void take_told(void)
{
	struct looked_at *t = atomic_exchange(&told, NULL), *next;

	for (; t; t = next) {
		next = t->next;
		t->next = threads;
		threads = t;
	}
}

static void forget(JNIEnv *env, struct looked_at *t)
{
	(*env)->DeleteWeakGlobalRef(env, t->thread);
	if (t->is_virtual)
		atomic_fetch_sub(&virtual_count, 1);
	free(t);
}

/* ---- events ---- */

static void record(struct looked_at *t, struct grown *g, const char *name, uint64_t ns, uint64_t now_ns)
{
	if (g->event && g->chunk == chunk) {
		__atomic_fetch_add(&g->event->value, ns, __ATOMIC_RELAXED);
		__atomic_store_n(&g->event->time_ns, now_ns, __ATOMIC_RELAXED);
		return;
	}
	g->event = wmrt_event_of(t->tid, t->context, name, ns);
	/* Places in a chunk follow each other. */
	if (g->event && last_event && g->event != last_event + 1)
		chunk++;
	if (g->event)
		last_event = g->event;
	g->chunk = chunk;
}

/* Moves what has been counted to now. Returns the time that has passed. */
static uint64_t count_up_to(struct looked_at *t, uint64_t now_ns, uint64_t cpu_ns)
{
	uint64_t wall_ns = now_ns - t->wall_ns, used_ns = cpu_ns > t->cpu_ns ? cpu_ns - t->cpu_ns : 0;

	if (is_off_cpu_on && (used_ns || !t->is_waiting)) {
		uint64_t delay_ns = jvm_thread_delay_ns(t->tid);

		used_ns += delay_ns > t->delay_ns ? delay_ns - t->delay_ns : 0;
		t->delay_ns = delay_ns;
	}
	t->off_ns += wall_ns > used_ns ? wall_ns - used_ns : 0;
	t->wall_ns = now_ns;
	t->cpu_ns = cpu_ns;
	return wall_ns;
}

static void record_time(struct looked_at *t, uint64_t wall_ns, uint64_t now_ns)
{
	if (is_wall_on)
		record(t, &t->wall, "wall", wall_ns, now_ns);
	if (!is_off_cpu_on || !t->is_waiting)
		return;
	record(t, &t->off, "off-cpu", t->off_ns, now_ns);
	t->off_ns = 0;
}

/* The recording is there when it has the event. */
static void count_walk(void)
{
	struct wmk_header *header = wmrt_file_header();

	if (!header)
		return;
	header->wall_period_ns = (uint64_t)ticker.period_ns;
	__atomic_fetch_add(&header->wall_samples, 1, __ATOMIC_RELAXED);
}

/* ---- a look ---- */

/* What a thread does that has used no CPU time. NULL: it would run Java code, or is in the virtual machine. */
static const char *name_of_wait(jint state)
{
	if (state & JVMTI_THREAD_STATE_SUSPENDED)
		return "[suspended]";
	if (state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER)
		return "[blocked]";
	if (state & JVMTI_THREAD_STATE_SLEEPING)
		return "[sleeping]";
	if (state & JVMTI_THREAD_STATE_PARKED)
		return "[parked]";
	if (state & JVMTI_THREAD_STATE_WAITING)
		return "[waiting]";
	return state & JVMTI_THREAD_STATE_IN_NATIVE ? "[waiting in native code]" : NULL;
}

/* A stack, and what the thread did at all of the time that it took: who has used no CPU time meanwhile has not moved. */
struct still {
	struct jvm_walk_stack stack;
	uint64_t cpu_ns;
	jint state;
	bool is_still, is_virtual;
};

static void take_still(jvmtiEnv *jvmti, jthread thread, struct still *ret)
{
	jthread running = jvm_carrier_mounted(jvmti, thread);
	jint before = 0;

	ret->is_virtual = running != thread;
	ret->cpu_ns = cpu_time(jvmti, thread);
	ret->state = 0;
	(*jvmti)->GetThreadState(jvmti, running, &before);
	jvm_walk_take(running, &ret->stack);
	(*jvmti)->GetThreadState(jvmti, running, &ret->state);
	ret->is_still = before == ret->state && cpu_time(jvmti, thread) == ret->cpu_ns;
}

/* Threads of the virtual machine that run no Java code are what they are called. */
static void label_idle(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, char label[JVM_LABEL_BYTES])
{
	struct wmrt_text text = {label, JVM_LABEL_BYTES, 0};
	jvmtiThreadInfo info = {0};

	wmrt_text_add(&text, "[");
	if ((*jvmti)->GetThreadInfo(jvmti, thread, &info) == JVMTI_ERROR_NONE) {
		wmrt_text_add(&text, info.name);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
		(*env)->DeleteLocalRef(env, info.thread_group);
		(*env)->DeleteLocalRef(env, info.context_class_loader);
	}
	wmrt_text_add(&text, "]");
}

static void walk(jvmtiEnv *jvmti, JNIEnv *env, struct looked_at *t, jthread thread, uint64_t now_ns)
{
	struct still still;
	char label[JVM_LABEL_BYTES];
	const char *wait;
	uint64_t wall_ns;

	take_still(jvmti, thread, &still);
	wait = still.is_still ? name_of_wait(still.state) : NULL;
	if (!still.stack.count)
		label_idle(jvmti, env, thread, label);
	t->context = jvm_walk_stack_context(env, &still.stack, 0, still.is_virtual ? WM_PREFIX_THREAD : t->root,
					    still.stack.count ? wait : label);
	jvm_walk_drop(&still.stack);
	wall_ns = count_up_to(t, now_ns, still.cpu_ns);
	t->is_still = still.is_still;
	t->is_waiting = wait != NULL;
	t->since_ns = now_ns;
	t->wall.event = t->off.event = NULL;
	if (!t->is_named)
		jvm_thread_name(env, thread, t->tid);
	t->is_named = true;
	record_time(t, wall_ns, now_ns);
	count_walk();
}

static void look_at(jvmtiEnv *jvmti, JNIEnv *env, struct looked_at *t, jthread thread)
{
	uint64_t now_ns = wmrt_now_ns(), cpu_ns = cpu_time(jvmti, thread), still_ns;

	if (cpu_ns != t->cpu_ns)
		t->is_still = t->is_waiting = false;
	if (t->is_still)
		record_time(t, count_up_to(t, now_ns, cpu_ns), now_ns);
	else if (is_wall_on || cpu_ns == t->cpu_ns)
		walk(jvmti, env, t, thread, now_ns);
	else
		count_up_to(t, now_ns, cpu_ns);
	still_ns = t->is_still ? (now_ns - t->since_ns) / PART : 0;
	t->due_ns = now_ns + (still_ns > LOOK_MAX_NS ? LOOK_MAX_NS : still_ns);
}

/* Where a virtual thread waits that no thread runs, before and behind the walk; NULL: it does not, or whoever runs it has its time. */
static const char *virtual_wait(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, struct jvm_walk_stack *ret)
{
	jint before = 0, behind = 0;
	bool was_carried = jvm_carrier_has(jvmti, env, thread);

	ret->count = -1;
	ret->frames = ret->here;
	if (was_carried || (*jvmti)->GetThreadState(jvmti, thread, &before) != JVMTI_ERROR_NONE ||
	    !name_of_wait(before))
		return NULL;
	jvm_walk_take(thread, ret);
	if ((*jvmti)->GetThreadState(jvmti, thread, &behind) != JVMTI_ERROR_NONE || behind != before ||
	    ret->count <= 0 || jvm_carrier_has(jvmti, env, thread))
		return NULL;
	return name_of_wait(before);
}

static bool is_same(const wm_context *a, const wm_context *b)
{
	return a->prefix == b->prefix && a->site == b->site && a->epoch == b->epoch;
}

/* The time since the last look is that of where it is now. */
static void look_at_virtual(jvmtiEnv *jvmti, JNIEnv *env, struct looked_at *t, jthread thread)
{
	uint64_t now_ns = wmrt_now_ns(), least_ns = (uint64_t)atomic_load(&virtual_count) * VIRTUAL_NS, still_ns;
	struct jvm_walk_stack stack;
	const char *wait = virtual_wait(jvmti, env, thread, &stack);
	wm_context context;

	if (wait) {
		context = jvm_walk_stack_context(env, &stack, 0, t->root, wait);
		if (!t->is_waiting || !is_same(&context, &t->context)) {
			t->wall.event = t->off.event = NULL;
			t->since_ns = now_ns;
		}
		t->context = context;
		count_walk();
	}
	jvm_walk_drop(&stack);
	t->is_waiting = wait != NULL;
	t->off_ns = now_ns - t->wall_ns;
	if (wait)
		record_time(t, now_ns - t->wall_ns, now_ns);
	t->wall_ns = now_ns;
	still_ns = t->is_waiting ? (now_ns - t->since_ns) / PART : 0;
	t->due_ns = now_ns + (still_ns > LOOK_MAX_NS ? LOOK_MAX_NS : still_ns);
	if (t->due_ns < now_ns + least_ns)
		t->due_ns = now_ns + least_ns;
}

/* A virtual thread that has ended is referred to by the program at most. */
static bool has_ended(jvmtiEnv *jvmti, const struct looked_at *t, jthread thread)
{
	jint state = 0;

	return t->is_virtual && ((*jvmti)->GetThreadState(jvmti, thread, &state) != JVMTI_ERROR_NONE ||
				 state & JVMTI_THREAD_STATE_TERMINATED);
}

static void look(jvmtiEnv *jvmti, JNIEnv *env)
{
	uint64_t now_ns = wmrt_now_ns();

	if (!jvm_gate_enter())
		return;
	take_told();
	for (struct looked_at **link = &threads; *link;) {
		struct looked_at *t = *link;
		jthread thread;

		if (!atomic_load(&t->is_over) && now_ns < t->due_ns) {
			link = &t->next;
			continue;
		}
		thread = atomic_load(&t->is_over) ? NULL : (*env)->NewLocalRef(env, t->thread);
		if (!thread || has_ended(jvmti, t, thread)) {
			*link = t->next;
			(*env)->DeleteLocalRef(env, thread);
			forget(env, t);
			continue;
		}
		if ((*env)->PushLocalFrame(env, 8) == 0) {
			(t->is_virtual ? look_at_virtual : look_at)(jvmti, env, t, thread);
			(*env)->PopLocalFrame(env, NULL);
		}
		(*env)->DeleteLocalRef(env, thread);
		link = &t->next;
	}
	jvm_gate_leave();
}

/* ---- the clients ---- */

static void listen(jvmtiEventCallbacks *callbacks)
{
	if (callbacks->ThreadStart == thread_starts)
		return;
	next_start = callbacks->ThreadStart;
	next_end = callbacks->ThreadEnd;
	callbacks->ThreadStart = thread_starts;
	callbacks->ThreadEnd = thread_ends;
}

static bool load(jvmtiEnv *jvmti, int32_t number)
{
	(void)jvmti;
	rate = rate > number ? rate : number;
	return jvm_carrier_prepare(jvmti);
}

/* Those that were there before the events were enabled. */
static bool add_all(jvmtiEnv *jvmti, JNIEnv *env)
{
	jthread *all = NULL, own = NULL;
	jint count = 0;

	if ((*jvmti)->GetCurrentThread(jvmti, &own) != JVMTI_ERROR_NONE ||
	    (*jvmti)->GetAllThreads(jvmti, &count, &all) != JVMTI_ERROR_NONE)
		return false;
	for (jint i = 0; i < count; i++) {
		bool is_own = (*env)->IsSameObject(env, all[i], own);

		add(jvmti, env, all[i], is_own ? wmrt_gettid() : jvm_thread_id(env, all[i]),
		    is_own ? jvm_walk_root() : WM_PREFIX_THREAD);
		(*env)->DeleteLocalRef(env, all[i]);
	}
	(*env)->DeleteLocalRef(env, own);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)all);
	return true;
}

static bool run(jvmtiEnv *jvmti, JNIEnv *env)
{
	if (atomic_exchange(&is_on, true))
		return true;
	tools = jvmti;
	if ((*env)->GetJavaVM(env, &machine) != JNI_OK)
		return false;
	/* Where there are no virtual threads, or nobody tells of them, the others are looked at. */
	(void)jvm_carrier_watch(machine, virtual_starts);
	return add_all(jvmti, env) && jvm_ticker_begin(&ticker, jvmti, env, rate);
}

static bool run_wall(jvmtiEnv *jvmti, JNIEnv *env, int32_t number)
{
	(void)number;
	is_wall_on = true;
	return run(jvmti, env);
}

static bool run_off_cpu(jvmtiEnv *jvmti, JNIEnv *env, int32_t number)
{
	(void)number;
	is_off_cpu_on = true;
	return run(jvmti, env);
}

/* Those that still wait have waited until now; nobody looks meanwhile. */
static void count_rest(JNIEnv *env)
{
	uint64_t now_ns = wmrt_now_ns();

	for (struct looked_at *t = threads; t; t = t->next) {
		jthread thread = atomic_load(&t->is_over) || !t->is_still || t->is_virtual
					 ? NULL
					 : (*env)->NewLocalRef(env, t->thread);

		if (thread && cpu_time(tools, thread) == t->cpu_ns)
			record_time(t, count_up_to(t, now_ns, t->cpu_ns), now_ns);
		(*env)->DeleteLocalRef(env, thread);
	}
}

/* Threads of before have no records when it begins again. */
static void forget_all(JNIEnv *env)
{
	take_told();
	while (threads) {
		struct looked_at *t = threads;
		jthread thread = atomic_load(&t->is_over) ? NULL : (*env)->NewLocalRef(env, t->thread);

		threads = t->next;
		pthread_mutex_lock(&ending);
		if (thread && !t->is_virtual)
			(*tools)->SetThreadLocalStorage(tools, thread, NULL);
		pthread_mutex_unlock(&ending);
		(*env)->DeleteLocalRef(env, thread);
		forget(env, t);
	}
}

static void end(void)
{
	JNIEnv *env = NULL;

	if (!atomic_exchange(&is_on, false) || (*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_10) != JNI_OK)
		return;
	jvm_carrier_unwatch();
	jvm_ticker_end(&ticker);
	if (jvm_gate_enter()) {
		count_rest(env);
		jvm_gate_leave();
	}
	forget_all(env);
	is_wall_on = is_off_cpu_on = false;
	rate = 0;
}

const struct jvm_client jvm_client_wall = {
	.capabilities = {{{.can_get_thread_cpu_time = 1}, "can_get_thread_cpu_time"}},
	.events = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END},
	.listen = listen,
	.load = load,
	.run = run_wall,
	.end = end,
};

const struct jvm_client jvm_client_off_cpu = {
	.capabilities = {{{.can_get_thread_cpu_time = 1}, "can_get_thread_cpu_time"}},
	.events = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END},
	.listen = listen,
	.load = load,
	.run = run_off_cpu,
	.end = end,
};
