/*
 * waits.c - decides at each look whether a thread still waits in the context of its last walk.
 *
 * It does if it has used no CPU time since. Its way back into the system call that the walk has interrupted does use some; so after a walk the thread is
 * found in its wait by the system call's stack pointer and address, and by the little time that it has used. From then on the CPU time
 * must be the same to the nanosecond.
 *
 * Threads that wait are looked at less and less often, and their event grows in its place in the recording, so that a process that is killed leaves it.
 */
#include "sampler/waits.h"

#include <stddef.h>

#include "native/thread_timer.h"
#include "recorder/clock.h"
#include "recorder/sys.h"
#include "sampler/blocked.h"
#include "sampler/helper.h"
#include "sampler/host.h"
#include "sampler/record.h"
#include "recorder/short_lock.h"
#include "sampler/timer.h"
#include "waymark/abi.h"

enum {
	BACK_NS = 100000,        /* of CPU time that the way from a walk back into the wait takes at most */
	PART = 16,               /* of its wait passes between two looks at a thread */
	LOOK_MAX_NS = 200000000, /* or this time */
	REST = 20,               /* times what a walk took passes before the next one */
	CALL_BYTES = 2,          /* of a system call instruction */
};

/* Written by waits_init. */
static struct waits_rates rates;
static uint64_t period_ns;
static bool is_guest;
static void (*look_for_threads)(void);

static _Atomic(struct waits_thread *) threads;
/* A tick is being sent; and how many threads are about to execute a program. */
static _Atomic uint32_t sending;
static uint32_t pauses;
/* The helper's own. */
static struct wmk_event *last_event;
static uint32_t chunk;
static struct record_known leaf_known[2];
static struct record_memory leaf_memory = {.known = leaf_known};

bool waits_init(const struct waits_rates *wanted, bool guest, void (*look)(void))
{
	uint32_t hz = wanted->wall_hz > wanted->off_cpu_hz ? wanted->wall_hz : wanted->off_cpu_hz;

	rates = *wanted;
	is_guest = guest;
	look_for_threads = look;
	period_ns = hz ? 1000000000u / hz : 0;
	return !hz || helper_init();
}

bool waits_is_on(void)
{
	return period_ns != 0;
}

uint64_t waits_period_ns(void)
{
	return period_ns;
}

/* NULL: it cannot be told. Not by the C library, which would say so in its errno. */
static bool cpu_time(uint32_t tid, uint64_t *ret)
{
	struct timespec ts = {0, 0};

	if (wmrt_sys3(SYS_clock_gettime, thread_clock(tid, false), (long)&ts, 0) != 0)
		return false;
	*ret = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	return true;
}

/* ---- in the thread ---- */

void waits_begin(struct waits_thread *w, uint32_t tid)
{
	if (!waits_is_on())
		return;
	w->wall_ns = wmrt_now_ns();
	w->off_ns = 0;
	if (!cpu_time(tid, &w->cpu_ns))
		return;
	w->delay_ns = rates.off_cpu_hz ? blocked_run_delay_ns(tid) : 0;
	w->has_context = false;
	atomic_store(&w->sent, 0);
	atomic_store(&w->walks, 0);
	atomic_store(&w->lock, 0);
	atomic_fetch_add(&w->life, 1);
	if (!w->is_listed) {
		w->is_listed = true;
		w->next = atomic_load(&threads);
		while (!atomic_compare_exchange_weak(&threads, &w->next, w))
			;
	}
	atomic_store(&w->tid, tid);
}

void waits_leave(struct waits_thread *w)
{
	atomic_store(&w->tid, 0);
}

void waits_forget(struct waits_thread *w)
{
	atomic_store(&w->tid, 0);
	atomic_store(&sending, 0);
	pauses = 0;
	helper_forget();
}

/* %rcx is the address behind the system call in which the signal came, also where the kernel is about to make that again. */
void waits_interrupted(struct waits_thread *w, const ucontext_t *context)
{
	const greg_t *r = context->uc_mcontext.gregs;
	greg_t again = r[REG_RIP] + CALL_BYTES;
	bool is_again = r[REG_RCX] == again || r[REG_RCX] == ~again;

	w->begun_ns = wmrt_now_ns();
	w->is_behind_call = is_again || r[REG_RCX] == r[REG_RIP];
	w->sp = (uint64_t)r[REG_RSP];
	w->pc = (uint64_t)(is_again ? again : r[REG_RIP]);
}

static bool is_sent_one(const struct waits_thread *w)
{
	return (int32_t)(atomic_load(&w->sent) - atomic_load(&w->walks)) > 0;
}

bool waits_take(struct waits_thread *w, bool is_sent)
{
	if (!waits_is_on() || !atomic_load(&w->tid))
		return false;
	return is_sent ? is_sent_one(w) : !atomic_exchange(&w->lock, 1);
}

/* Moves what has been counted to now. is_changed: the thread has run since. Returns the time that has passed. */
static uint64_t count_up_to(struct waits_thread *w, uint64_t now_ns, uint64_t cpu_ns, bool is_changed)
{
	uint64_t wall_ns = now_ns > w->wall_ns ? now_ns - w->wall_ns : 0;
	uint64_t used_ns = cpu_ns > w->cpu_ns ? cpu_ns - w->cpu_ns : 0;

	if (rates.off_cpu_hz && is_changed) {
		uint64_t delay_ns = blocked_run_delay_ns(atomic_load(&w->tid));

		used_ns += delay_ns > w->delay_ns ? delay_ns - w->delay_ns : 0;
		w->delay_ns = delay_ns;
	}
	w->off_ns += wall_ns > used_ns ? wall_ns - used_ns : 0;
	w->wall_ns = now_ns;
	w->cpu_ns = cpu_ns;
	return wall_ns;
}

void waits_walked(struct waits_thread *w, const wm_context *context, bool is_sent)
{
	uint64_t cpu_ns = wmrt_clock_ns(CLOCK_THREAD_CPUTIME_ID), wall_ns = count_up_to(w, w->begun_ns, cpu_ns, true);
	bool has_waited = is_sent && w->was_blocked && (w->is_behind_call || !w->was_in_call);

	w->has_context = context != NULL;
	if (context) {
		w->context = *context;
		if (rates.wall_hz)
			host->event(*context, "wall", wall_ns);
		if (rates.off_cpu_hz && has_waited)
			host->event(*context, "off-cpu", w->off_ns);
	} else {
		host->drop(offsetof(struct wmk_header, dropped_events));
	}
	if (has_waited)
		w->off_ns = 0;
	w->end_cpu_ns = wmrt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	w->cost_ns = wmrt_now_ns() - w->begun_ns;
	atomic_fetch_add(&w->walks, 1);
	if (!is_sent)
		atomic_store(&w->lock, 0);
}

void waits_pause(void)
{
	if (!helper_tid())
		return;
	short_lock(&sending);
	pauses++;
	short_unlock(&sending);
	/* One that was sent comes here at the latest. */
	wmrt_gettid();
}

void waits_resume(void)
{
	short_lock(&sending);
	pauses -= pauses != 0;
	short_unlock(&sending);
}

/* ---- in the helper ---- */

static void add(struct waits_thread *w, struct waits_event *e, const char *name, uint64_t ns, uint64_t now_ns)
{
	if (!e->event || e->chunk != chunk) {
		e->event = host->event_of(atomic_load(&w->tid), w->context, name, ns);
		/* Places in a chunk follow each other. */
		if (e->event && last_event && e->event != last_event + 1)
			chunk++;
		if (e->event)
			last_event = e->event;
		e->chunk = chunk;
		return;
	}
	__atomic_fetch_add(&e->event->value, ns, __ATOMIC_RELAXED);
	__atomic_store_n(&e->event->time_ns, now_ns, __ATOMIC_RELAXED);
}

/* It waits, and did since its walk. */
static void grow(struct waits_thread *w, uint64_t now_ns, uint64_t cpu_ns)
{
	uint64_t wall_ns = count_up_to(w, now_ns, cpu_ns, cpu_ns != w->cpu_ns);

	if (rates.wall_hz)
		add(w, &w->wall, "wall", wall_ns, now_ns);
	if (rates.off_cpu_hz)
		add(w, &w->off, "off-cpu", w->off_ns, now_ns);
	w->off_ns = 0;
}

static void begin_wait(struct waits_thread *w, uint64_t cpu_ns)
{
	w->is_waiting = true;
	w->waiting_cpu_ns = cpu_ns;
	w->wall.event = w->off.event = NULL;
}

/* Where a signal would be seen: only the function that made the call is known. */
static bool find_leaf(struct waits_thread *w, const struct blocked *b)
{
	struct walk_frame frame = {.pc = b->pc, .image = sampler_image_at(b->pc)};
	const struct walk walk = {.frames = &frame, .max = 1, .count = 1};

	return w->has_context = record_walk(&walk, WM_PREFIX_NO_DATA, &leaf_memory, &w->context);
}

/* The recording is there when it has the event. */
static void count_leaf(void)
{
	struct wmk_header *header = host->header();

	if (!header)
		return;
	header->wall_period_ns = period_ns;
	__atomic_fetch_add(&header->wall_samples, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&header->samples_cut, 1, __ATOMIC_RELAXED);
}

static void send(struct waits_thread *w, const struct blocked *b)
{
	uint32_t walks = atomic_load(&w->walks);

	w->was_blocked = b->is_blocked;
	w->was_in_call = b->is_in_call;
	w->is_waiting = false;
	short_lock(&sending);
	if (!pauses) {
		atomic_store(&w->sent, walks + 1);
		if (!sampler_timer_send(atomic_load(&w->tid), TICK_WALL))
			atomic_store(&w->sent, walks);
	}
	short_unlock(&sending);
}

static bool is_back(const struct waits_thread *w, const struct blocked *b, uint64_t cpu_ns)
{
	return w->has_context && w->is_behind_call && b->is_in_call && b->sp == w->sp && b->pc == w->pc &&
	       cpu_ns - w->end_cpu_ns < BACK_NS;
}

/* Under its lock. True: a tick is to be sent. */
static bool decide(struct waits_thread *w, const struct blocked *b, uint64_t now_ns, uint64_t cpu_ns)
{
	uint32_t walks = atomic_load(&w->walks);
	bool is_new_walk = walks != w->walks_seen;

	w->walks_seen = walks;
	w->is_waiting = false;
	if (!b->is_blocked)
		return b->is_known && rates.wall_hz && !is_guest;
	if (is_new_walk && is_back(w, b, cpu_ns)) {
		begin_wait(w, cpu_ns);
		grow(w, now_ns, cpu_ns);
		return false;
	}
	if (blocked_may_interrupt(b))
		return true;
	if (find_leaf(w, b)) {
		begin_wait(w, cpu_ns);
		grow(w, now_ns, cpu_ns);
		count_leaf();
	}
	return false;
}

static uint64_t between(uint64_t low, uint64_t value, uint64_t high)
{
	return value < low ? low : value > high ? (high > low ? high : low) : value;
}

static void set_due(struct waits_thread *w, uint64_t now_ns)
{
	uint64_t rest_ns = w->has_context ? w->cost_ns * REST : 0, least_ns = rest_ns > period_ns ? rest_ns : period_ns;

	w->due_ns = now_ns + between(least_ns, (now_ns - w->changed_ns) / PART, LOOK_MAX_NS);
}

/* Another thread has it than at the last look. */
static void begin_life(struct waits_thread *w, uint64_t now_ns)
{
	w->life_seen = atomic_load(&w->life);
	w->walks_seen = 0;
	w->is_waiting = false;
	w->changed_ns = now_ns;
}

/* True: a tick is to be sent. is_last: what waits as at the last look has its time, and nothing else is done. Under its lock. */
static bool look_at(struct waits_thread *w, uint32_t tid, uint64_t now_ns, bool is_last, struct blocked *ret)
{
	uint64_t cpu_ns, later_ns;

	if (w->life_seen != atomic_load(&w->life))
		begin_life(w, now_ns);
	if (!cpu_time(tid, &cpu_ns)) {
		w->due_ns = now_ns + LOOK_MAX_NS;
		return false;
	}
	if (w->is_waiting && cpu_ns == w->waiting_cpu_ns) {
		grow(w, now_ns, cpu_ns);
		set_due(w, now_ns);
		return false;
	}
	if (is_last || is_sent_one(w)) {
		set_due(w, now_ns);
		return false;
	}
	w->changed_ns = now_ns;
	set_due(w, now_ns);
	blocked_look(tid, ret);
	/* It has gone on meanwhile. */
	if (ret->is_blocked && (!cpu_time(tid, &later_ns) || later_ns != cpu_ns))
		*ret = (struct blocked){.is_known = true};
	return decide(w, ret, now_ns, cpu_ns);
}

static void look_at_all(bool is_last)
{
	for (struct waits_thread *w = atomic_load(&threads); w; w = w->next) {
		uint64_t now_ns = wmrt_now_ns();
		uint32_t tid = atomic_load(&w->tid);
		struct blocked b;
		bool is_to_send;

		if (!tid || (!is_last && now_ns < w->due_ns && w->life_seen == atomic_load(&w->life)) ||
		    atomic_exchange(&w->lock, 1))
			continue;
		is_to_send = look_at(w, tid, now_ns, is_last, &b);
		atomic_store(&w->lock, 0);
		if (is_to_send)
			send(w, &b);
	}
}

static void run(void)
{
	uint64_t next_ns = wmrt_now_ns() + period_ns, now_ns;

	host->check_fork();
	last_event = NULL;
	chunk++;
	while (!helper_is_to_end()) {
		now_ns = wmrt_now_ns();
		if (now_ns < next_ns) {
			helper_sleep(next_ns - now_ns);
			continue;
		}
		look_at_all(false);
		if (look_for_threads)
			look_for_threads();
		next_ns += period_ns;
		if (next_ns < wmrt_now_ns())
			next_ns = wmrt_now_ns() + period_ns;
	}
	look_at_all(true);
}

bool waits_start(void)
{
	return !waits_is_on() || helper_start(run);
}

void waits_end(void)
{
	helper_stop();
	helper_wait();
}
