/*
 * watch.c - looks into /proc/self/task from time to time, at the end of a tick: threads that are new get a clock, and what those had that have
 * ended is used again.
 *
 * Where only threads run that have no clock yet nobody ticks. So a timer of the process's CPU time is set anew at each look, and comes when
 * there has been none. Its signal also finds out that glibc has put its own handler in the place of the ticks', which it does when the first
 * thread is made.
 */
#include "sampler/watch.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "native/restart.h"
#include "native/tasks.h"
#include "native/libc_signals.h"
#include "recorder/clock.h"
#include "recorder/sys.h"
#include "sampler/sample.h"

enum {
	LOOK_NS = 10000000,
	REST = 50, /* times what a look took passes before the next one */
	UNSEEN_NS = 100000000,
	CPUS_MAX = 1024,
};

/* Under the lock, but for due_ns. */
static _Atomic uint32_t lock;
static _Atomic uint64_t due_ns; /* 0: nobody looks */
static uint32_t look_number;
static uint32_t cpu_count;
static int timer_id;
static bool has_timer;
static struct tasks_buffer entries;

/* In another process's /proc, or that of another namespace, these are other numbers. */
static bool is_own_proc(void)
{
	char text[16] = "";

	if (wmrt_sys3(SYS_readlink, (long)"/proc/self", (long)text, sizeof text - 1) <= 0)
		return false;
	return tasks_number(text) == wmrt_getpid();
}

static uint32_t count_cpus(void)
{
	uint64_t set[CPUS_MAX / 64] = {0};
	long len_bytes = wmrt_sys3(SYS_sched_getaffinity, 0, sizeof set, (long)set);
	uint32_t count = 0;

	for (long i = 0; i * (long)sizeof *set < len_bytes; i++)
		count += (uint32_t)__builtin_popcountll(set[i]);
	return count ? count : 1;
}

static void set_timer(uint64_t ns)
{
	struct itimerspec spec = {.it_value = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)}};

	if (has_timer)
		wmrt_sys6(SYS_timer_settime, timer_id, 0, (long)&spec, 0, 0, 0);
}

static void take(uint32_t tid, void *count)
{
	sample_guest_thread(tid, look_number, 0, false);
	++*(uint32_t *)count;
}

/* How many threads there are; 0: that is not to be seen. */
static uint32_t look(void)
{
	uint32_t count = 0;

	look_number++;
	tasks_each("/proc/self/task", &entries, take, &count);
	return count;
}

static void look_if_due(bool is_helper)
{
	uint64_t due = atomic_load_explicit(&due_ns, memory_order_relaxed), begun_ns, took_ns;
	uint32_t count;

	if (!due || wmrt_now_ns() < due || atomic_exchange_explicit(&lock, 1, memory_order_acquire))
		return;
	begun_ns = wmrt_now_ns();
	libc_signal_keep(TICK_SIGNAL);
	libc_signal_keep(WATCH_SIGNAL);
	count = look();
	if (count && !is_helper)
		sample_guest_end(look_number);
	took_ns = (wmrt_now_ns() - begun_ns) * REST;
	set_timer((uint64_t)UNSEEN_NS * (count < cpu_count ? count + !count : cpu_count));
	due = begun_ns + (took_ns > LOOK_NS ? took_ns : LOOK_NS);
	/* 0 for good, if it has ended meanwhile. */
	if (atomic_load(&due_ns))
		atomic_store(&due_ns, due);
	atomic_store_explicit(&lock, 0, memory_order_release);
}

void watch_look(void)
{
	look_if_due(false);
}

void watch_find(void)
{
	look_if_due(true);
}

static void on_watch(int number, siginfo_t *info, void *context)
{
	if (info->si_code != SI_TIMER) {
		libc_signal_pass_on(number, info, context);
		return;
	}
	if (sample_guest_is_thread())
		restart_call(context);
	watch_look();
}

uint32_t watch_begin(void)
{
	struct sigevent event;

	cpu_count = count_cpus();
	atomic_store(&lock, 0);
	libc_signal_init(WATCH_SIGNAL, on_watch);
	if (!is_own_proc() || !libc_signal_keep(WATCH_SIGNAL))
		return ++look_number;
	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = WATCH_SIGNAL;
	has_timer = wmrt_sys3(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, (long)&event, (long)&timer_id) == 0;
	set_timer(UNSEEN_NS);
	atomic_store(&due_ns, wmrt_now_ns() + LOOK_NS);
	return ++look_number;
}

bool watch_is_on(void)
{
	return atomic_load(&due_ns) != 0;
}

void watch_end(void)
{
	atomic_store(&due_ns, 0);
	if (has_timer)
		wmrt_sys3(SYS_timer_delete, timer_id, 0, 0);
	has_timer = false;
}

bool watch_is_looking(void)
{
	return atomic_load(&lock) != 0;
}

void watch_give_back(void)
{
	libc_signal_give_back(WATCH_SIGNAL, true);
	libc_signal_give_back(TICK_SIGNAL, true);
}
