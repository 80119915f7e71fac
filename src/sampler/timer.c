/*
 * timer.c - ticks of one thread each: perf's task clock, which keeps any rate; where the kernel does not grant it, POSIX timers of CPU time,
 * which tick no oftener than the scheduler does (CONFIG_HZ, mostly 250 times a second). The handler of the signal calls the C library's for
 * what is none of ours.
 *
 * A program may close the clock's descriptor, as daemons close all that they have inherited. So a timer of one second looks whether the clock is
 * there, and takes its place if not.
 *
 * The kernel queues each tick of the clock, also where the signal is blocked for long, out of what the user may have queued in all processes.
 * So the clock stops at a number of ticks that wait. Where the user has as many signals waiting as RLIMIT_SIGPENDING allows, the kernel sends
 * SIGIO for a tick, whose default action ends the process. So that is a tick, too, as long as the program has no action for it.
 *
 * Where the clock may not tick in the kernel (perf_event_paranoid 2; a program that is executed unseen, timer.h and unseen_exec.h: the signal of
 * a tick in that system call would end what is executed), it ticks in user mode alone, and a timer of CPU time ticks behind system calls.
 */
#include "sampler/timer.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "native/libc_signals.h"
#include "native/unseen_exec.h"
#include "recorder/clock.h"
#include "recorder/handlers.h"
#include "recorder/kernel_action.h"
#include "recorder/sys.h"
#include "sampler/helper.h"

enum {
	WATCH_NS = 999999999,
	UNHANDLED_MAX = 16, /* ticks of a thread that the kernel queues: of an ordinary timer it queues one */
	ALARM_NS = 50000,
	REST_NS = 1000000, /* the kernel's timers tick no oftener anyway */
	FDS_SHARE = 8,     /* of the program's descriptors, clocks have at most this part */
};

static sampler_tick_fn tick;
static uint64_t period_ns;
static bool is_user_only;
static _Atomic uint32_t clock_count;

static void on_signal(int number, siginfo_t *info, void *data)
{
	/* Of perf: how its descriptor is ready. The C library's own comes by tgkill. */
	if (info->si_code == SI_TIMER)
		tick(data, (enum sampler_tick)info->si_value.sival_int, -1);
	else if (info->si_code >= POLL_IN)
		tick(data, TICK_SAMPLE, info->si_fd);
	else
		libc_signal_pass_on(number, info, data);
}

static void on_io(int number, siginfo_t *info, void *data)
{
	(void)number;
	if (info->si_code == SI_KERNEL) {
		tick(data, TICK_SAMPLE, -1);
		return;
	}
	/* Somebody sent it. */
	kernel_action_default(SIGIO);
	kernel_send_again(SIGIO, info);
}

/* Before the first clock. */
static void guard_io(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK, .sa_sigaction = on_io};

	sigfillset(&action.sa_mask);
	sigdelset(&action.sa_mask, SIGBUS);
	action.sa_mask.__val[0] |= TICK_MASK;
	wmrt_handlers_guard(SIGIO, &action);
}

void sampler_timer_give_back(void)
{
	struct sigaction now, by_default = {.sa_handler = SIG_DFL};

	if (wmrt_next_sigaction(SIGIO, NULL, &now) == 0 && now.sa_sigaction == on_io)
		wmrt_next_sigaction(SIGIO, &by_default, NULL);
}

uint64_t sampler_timer_time_of(uint32_t tid)
{
	return wmrt_clock_ns(thread_clock(tid, false));
}

bool sampler_timer_init(uint32_t hz, bool guest, sampler_tick_fn on_tick)
{
	period_ns = hz ? 1000000000u / hz : 0;
	is_user_only = guest || unseen_exec();
	tick = on_tick;
	libc_signal_init(TICK_SIGNAL, on_signal);
	if (period_ns)
		guard_io();
	return libc_signal_keep(TICK_SIGNAL);
}

/* The program may have closed the descriptor, and the number may be another file's now. */
static bool has_clock(const struct sampler_timer *timer)
{
	uint64_t number = 0;

	return timer->is_clock && wmrt_sys3(SYS_ioctl, timer->clock_fd, PERF_EVENT_IOC_ID, (long)&number) == 0 &&
	       number == timer->clock_number;
}

/* The program needs descriptors, too. */
static bool has_room_for_clock(void)
{
	struct rlimit limit = {0, 0};

	return wmrt_sys3(SYS_getrlimit, RLIMIT_NOFILE, (long)&limit, 0) != 0 ||
	       atomic_load(&clock_count) < limit.rlim_cur / FDS_SHARE;
}

static void close_clock(struct sampler_timer *timer)
{
	wmrt_sys3(SYS_close, timer->clock_fd, 0, 0);
	atomic_fetch_sub(&clock_count, 1);
}

/* -1: the kernel gives none, or too many are open. */
static int open_clock(uint32_t tid, uint64_t ns, bool *is_user)
{
	struct perf_event_attr attr;
	long fd;

	memset(&attr, 0, sizeof attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.size = sizeof attr;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = ns;
	attr.wakeup_events = 1;
	attr.disabled = 1;
	attr.exclude_kernel = *is_user;
	fd = wmrt_sys6(SYS_perf_event_open, (long)&attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
	if (fd < 0 && !*is_user) {
		attr.exclude_kernel = *is_user = true;
		fd = wmrt_sys6(SYS_perf_event_open, (long)&attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
	}
	return fd < 0 ? -1 : (int)fd;
}

/* The thread gets the ticks. */
static bool direct_clock(int fd, uint32_t tid)
{
	struct f_owner_ex owner = {F_OWNER_TID, (int)tid};

	return wmrt_sys3(SYS_fcntl, fd, F_SETOWN_EX, (long)&owner) == 0 &&
	       wmrt_sys3(SYS_fcntl, fd, F_SETSIG, TICK_SIGNAL) == 0 &&
	       wmrt_sys3(SYS_fcntl, fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0;
}

static bool start_clock(struct sampler_timer *timer, uint32_t tid)
{
	int fd;

	timer->is_user = is_user_only;
	fd = has_room_for_clock() ? open_clock(tid, period_ns, &timer->is_user) : -1;
	if (fd < 0)
		return false;
	atomic_fetch_add(&clock_count, 1);
	timer->clock_fd = wmrt_raise_fd(fd);
	timer->is_clock = wmrt_sys3(SYS_ioctl, timer->clock_fd, PERF_EVENT_IOC_ID, (long)&timer->clock_number) == 0 &&
			  direct_clock(timer->clock_fd, tid) &&
			  wmrt_sys3(SYS_ioctl, timer->clock_fd, PERF_EVENT_IOC_REFRESH, UNHANDLED_MAX) == 0;
	if (!timer->is_clock)
		close_clock(timer);
	return timer->is_clock;
}

bool sampler_alarm_set(struct sampler_alarm *alarm, uint32_t tid)
{
	bool is_user = true;

	if (alarm->is_open && alarm->tid != tid) {
		wmrt_sys3(SYS_close, alarm->fd, 0, 0);
		alarm->is_open = false;
	}
	if (!alarm->is_open) {
		alarm->fd = open_clock(tid, ALARM_NS, &is_user);
		alarm->tid = tid;
		alarm->is_open = alarm->fd >= 0;
		if (alarm->is_open && !direct_clock(alarm->fd, tid)) {
			wmrt_sys3(SYS_close, alarm->fd, 0, 0);
			alarm->is_open = false;
		}
	}
	return alarm->is_open && wmrt_sys3(SYS_ioctl, alarm->fd, PERF_EVENT_IOC_REFRESH, 1) == 0;
}

void sampler_alarm_clear(struct sampler_alarm *alarm)
{
	if (alarm->is_open)
		wmrt_sys3(SYS_ioctl, alarm->fd, PERF_EVENT_IOC_DISABLE, 0);
}

bool sampler_timer_start(struct sampler_timer *timer, uint32_t tid)
{
	timer->is_clock = timer->posix.is_made = timer->is_given = false;
	if (!libc_signal_keep(TICK_SIGNAL))
		return false;
	if (!period_ns)
		return timer->is_given = true;
	/* The helper's descriptors are not those of the threads. */
	if (wmrt_gettid() == helper_tid() || !start_clock(timer, tid))
		return timer->is_given = thread_timer_start(&timer->posix, tid, false, period_ns, TICK_SAMPLE);
	if (timer->is_user)
		thread_timer_start(&timer->posix, tid, false, period_ns > REST_NS ? period_ns : REST_NS, TICK_REST);
	else
		thread_timer_start(&timer->posix, tid, false, WATCH_NS, TICK_WATCH);
	timer->is_given = true;
	return true;
}

bool sampler_timer_send(uint32_t tid, enum sampler_tick what)
{
	siginfo_t info;

	memset(&info, 0, sizeof info);
	info.si_signo = TICK_SIGNAL;
	info.si_code = SI_TIMER;
	info.si_value.sival_int = (int)what;
	return wmrt_sys6(SYS_rt_tgsigqueueinfo, wmrt_getpid(), tid, TICK_SIGNAL, (long)&info, 0, 0) == 0;
}

void sampler_timer_go_on(struct sampler_timer *timer)
{
	timer->ticks++;
	if (timer->is_clock)
		wmrt_sys3(SYS_ioctl, timer->clock_fd, PERF_EVENT_IOC_REFRESH, 1);
}

void sampler_timer_watch(struct sampler_timer *timer)
{
	bool has_ticked = timer->ticks != 0;

	if (!timer->is_clock)
		return;
	timer->ticks = 0;
	if (has_clock(timer)) {
		if (!has_ticked)
			wmrt_sys3(SYS_ioctl, timer->clock_fd, PERF_EVENT_IOC_REFRESH, UNHANDLED_MAX);
		return;
	}
	timer->is_clock = false;
	atomic_fetch_sub(&clock_count, 1);
	sampler_timer_stop(timer);
	timer->is_given = thread_timer_start(&timer->posix, wmrt_gettid(), false, period_ns, TICK_SAMPLE);
}

void sampler_timer_stop(struct sampler_timer *timer)
{
	if (has_clock(timer)) {
		wmrt_sys3(SYS_ioctl, timer->clock_fd, PERF_EVENT_IOC_DISABLE, 0);
		close_clock(timer);
	}
	thread_timer_stop(&timer->posix);
	timer->is_clock = timer->is_given = false;
}

void sampler_timer_forget(struct sampler_timer *timer)
{
	if (has_clock(timer))
		close_clock(timer);
	timer->is_clock = timer->posix.is_made = timer->is_given = false;
}
