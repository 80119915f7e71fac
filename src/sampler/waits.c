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
#include "sampler/timer.h"
#include "waymark/abi.h"

enum {
	BACK_NS = 100000,        /* of CPU time that the way from a walk back into the wait takes at most */
	PART = 16,               /* of its wait passes between two looks at a thread */
	LOOK_MAX_NS = 200000000, /* or this time */
	REST = 20,               /* times what a walk took passes before the next one */
	CALL_BYTES = 2,          /* of a system call instruction */
	RIGHTS_NS = 1000000000,  /* from one look at the rights of the program to the next */
};

/* Written by waits_init. */
static struct waits_rates rates;
static uint64_t period_ns;
static void (*look_for_threads)(void);

static _Atomic(struct waits_thread *) threads;
/* The helper has other rights than the program, which has changed its own: the next tick starts it again. */
static _Atomic bool is_stale;
/* The helper's own. */
static uint64_t rights_due_ns;
static struct wmk_event *last_event;
static uint32_t chunk;
static struct record_known leaf_known[2];
static struct record_memory leaf_memory = {.known = leaf_known};

bool waits_init(const struct waits_rates *wanted, void (*look)(void))
{
	uint32_t hz = wanted->wall_hz > wanted->off_cpu_hz ? wanted->wall_hz : wanted->off_cpu_hz;

	rates = *wanted;
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

/* False: there is no such thread. Not by the C library, which would say so in its errno. */
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
	helper_forget();
}

/* %rcx is the address behind the system call in which the signal came, also where the kernel is about to make that again. */
void waits_interrupted(struct waits_thread *w, const ucontext_t *context)
{
	const greg_t *r = context->uc_mcontext.gregs;
	greg_t again = r[REG_RIP] + CALL_BYTES;
	bool is_again = r[REG_RCX] == again || r[REG_RCX] == ~again;

	w->begun_ns = wmrt_now_ns();
	w->begun_cpu_ns = wmrt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	w->is_behind_call = is_again || r[REG_RCX] == r[REG_RIP];
	w->sp = (uint64_t)r[REG_RSP];
	w->pc = (uint64_t)(is_again ? again : r[REG_RIP]);
}

static bool is_sent_one(const struct waits_thread *w)
{
	return (int32_t)(atomic_load(&w->sent) - atomic_load(&w->walks)) > 0;
}

bool waits_take(const struct waits_thread *w)
{
	return atomic_load(&w->tid) && is_sent_one(w);
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

void waits_walked(struct waits_thread *w, const wm_context *context)
{
	uint64_t cpu_ns = wmrt_clock_ns(CLOCK_THREAD_CPUTIME_ID), wall_ns = count_up_to(w, w->begun_ns, cpu_ns, true);
	bool has_waited = w->was_blocked && (w->is_behind_call || !w->was_in_call);

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
	w->cost_ns = w->end_cpu_ns - w->begun_cpu_ns;
	atomic_fetch_add(&w->walks, 1);
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

	/* The helper begins no recording. */
	w->has_context = host->header() && record_walk(&walk, WM_PREFIX_NO_DATA, &leaf_memory, &w->context);
	return w->has_context;
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

/* False: it was not sent. */
static bool send(struct waits_thread *w, const struct blocked *b)
{
	bool ret;
	uint32_t walks = atomic_load(&w->walks);

	w->was_blocked = b->is_blocked;
	w->was_in_call = b->is_in_call;
	w->is_waiting = false;
	atomic_store(&w->sent, walks + 1);
	w->has_alarm = !b->is_blocked && sampler_alarm_set(&w->alarm, atomic_load(&w->tid));
	ret = w->has_alarm || sampler_timer_send(atomic_load(&w->tid), TICK_WALL);
	if (!ret)
		atomic_store(&w->sent, walks);
	return ret;
}

static bool is_back(const struct waits_thread *w, const struct blocked *b, uint64_t cpu_ns)
{
	return w->has_context && w->is_behind_call && b->is_in_call && b->sp == w->sp && b->pc == w->pc &&
	       cpu_ns - w->end_cpu_ns < BACK_NS;
}

/* True: a tick is to be sent. */
static bool decide(struct waits_thread *w, const struct blocked *b, uint64_t now_ns, uint64_t cpu_ns)
{
	uint32_t walks = atomic_load(&w->walks);
	bool is_new_walk = walks != w->walks_seen;

	w->walks_seen = walks;
	w->is_waiting = false;
	if (!b->is_blocked)
		return b->is_known && rates.wall_hz;
	if (is_new_walk && is_back(w, b, cpu_ns)) {
		begin_wait(w, cpu_ns);
		grow(w, now_ns, cpu_ns);
		return false;
	}
	if (blocked_may_interrupt(b) || blocked_is_uninterruptible(atomic_load(&w->tid)))
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

/* The alarm of a thread has not come, and will not. */
static void take_back(struct waits_thread *w)
{
	if (w->has_alarm)
		atomic_store(&w->sent, atomic_load(&w->walks));
	w->has_alarm = false;
}

/* True: a tick is to be sent. is_last: what waits as at the last look has its time, and nothing else is done. */
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
	if (!is_sent_one(w))
		w->has_alarm = false;
	if (is_last || (is_sent_one(w) && !w->has_alarm)) {
		set_due(w, now_ns);
		return false;
	}
	w->changed_ns = now_ns;
	set_due(w, now_ns);
	blocked_look(tid, ret);
	if (ret->is_blocked && w->has_alarm)
		sampler_alarm_clear(&w->alarm);
	/* It has gone on meanwhile. */
	if (ret->is_blocked && (!cpu_time(tid, &later_ns) || later_ns != cpu_ns))
		*ret = (struct blocked){.is_known = true};
	else if (w->has_alarm && !ret->is_blocked)
		return false;
	take_back(w);
	return decide(w, ret, now_ns, cpu_ns);
}

static void look_at_all(bool is_last)
{
	for (struct waits_thread *w = atomic_load(&threads); w; w = w->next) {
		uint64_t now_ns = wmrt_now_ns();
		uint32_t tid = atomic_load(&w->tid);
		struct blocked b;

		if (!tid || (!is_last && now_ns < w->due_ns && w->life_seen == atomic_load(&w->life)))
			continue;
		if (look_at(w, tid, now_ns, is_last, &b))
			send(w, &b);
	}
}

/*
 * The C library changes the rights of all threads that it knows. A thread that keeps more would be a way back to them: so the helper ends, and some thread
 * gets a tick and starts another one. False: none can have a tick now.
 */
static bool hand_over(void)
{
	for (struct waits_thread *w = atomic_load(&threads); w; w = w->next) {
		struct blocked b;

		if (!atomic_load(&w->tid) || is_sent_one(w))
			continue;
		blocked_look(atomic_load(&w->tid), &b);
		if (!b.is_known || (b.is_blocked && !blocked_may_interrupt(&b)))
			continue;
		atomic_store(&is_stale, true);
		if (send(w, &b))
			return true;
		atomic_store(&is_stale, false);
	}
	return false;
}

/* True: the helper is to end. */
static bool has_wrong_rights(uint64_t now_ns)
{
	if (now_ns < rights_due_ns)
		return false;
	rights_due_ns = now_ns + RIGHTS_NS;
	return !blocked_has_same_rights(helper_tid(), wmrt_getpid()) && hand_over();
}

static void run(void)
{
	uint64_t next_ns = wmrt_now_ns() + period_ns, now_ns;

	host->check_fork();
	/* Alarms were those of the helper before. */
	for (struct waits_thread *w = atomic_load(&threads); w; w = w->next) {
		take_back(w);
		w->alarm.is_open = false;
	}
	rights_due_ns = 0;
	last_event = NULL;
	chunk++;
	while (!helper_is_to_end()) {
		now_ns = wmrt_now_ns();
		if (now_ns < next_ns) {
			helper_sleep(next_ns - now_ns);
			continue;
		}
		if (has_wrong_rights(now_ns))
			return;
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

void waits_renew(void)
{
	if (!atomic_load(&is_stale) || !atomic_exchange(&is_stale, false))
		return;
	waits_end();
	helper_start(run);
}

void waits_end(void)
{
	helper_stop();
	helper_wait();
}
