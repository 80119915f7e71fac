/*
 * timer.c - ticks of one thread each: perf's task clock, which keeps any rate; where the kernel does not grant it, POSIX timers of CPU time,
 * which tick no oftener than the scheduler does (CONFIG_HZ, mostly 250 times a second). The handler of the signal calls the C library's for
 * what is none of ours.
 *
 * Where the kernel does not let the clock tick in the kernel (perf_event_paranoid 2), it ticks in user mode alone.
 */
#include "sampler/timer.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "native/signal33.h"
#include "recorder/sys.h"

static void (*tick)(ucontext_t *);
static uint64_t period_ns;
static bool is_wall;

static void on_signal(int number, siginfo_t *info, void *data)
{
	/* Of perf: how its descriptor is ready. The C library's own comes by tgkill. */
	if (info->si_code == SI_TIMER || info->si_code >= POLL_IN)
		tick(data);
	else
		signal33_pass_on(number, info, data);
}

/* The kernel's number of the clock of CPU time of this thread. */
static clockid_t clock_of_thread(uint32_t tid)
{
	enum {
		PER_THREAD = 4,
		SCHEDULED = 2,
	};

	return is_wall ? CLOCK_MONOTONIC : (clockid_t)(~tid << 3 | PER_THREAD | SCHEDULED);
}

bool sampler_timer_init(uint32_t hz, bool wall, void (*on_tick)(ucontext_t *))
{
	period_ns = 1000000000u / hz;
	is_wall = wall;
	tick = on_tick;
	signal33_init(on_signal);
	return signal33_keep();
}

static bool start_clock(struct sampler_timer *timer, uint32_t tid)
{
	struct perf_event_attr attr;
	struct f_owner_ex owner = {F_OWNER_TID, (int)tid};
	long fd;

	memset(&attr, 0, sizeof attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.size = sizeof attr;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = period_ns;
	attr.wakeup_events = 1;
	attr.disabled = 1;
	fd = wmrt_sys6(SYS_perf_event_open, (long)&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
	if (fd < 0) {
		attr.exclude_kernel = 1;
		fd = wmrt_sys6(SYS_perf_event_open, (long)&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
	}
	if (fd < 0)
		return false;
	timer->id = wmrt_raise_fd((int)fd);
	timer->is_clock = true;
	timer->is_there = wmrt_sys3(SYS_fcntl, timer->id, F_SETOWN_EX, (long)&owner) == 0 &&
			  wmrt_sys3(SYS_fcntl, timer->id, F_SETSIG, TICK_SIGNAL) == 0 &&
			  wmrt_sys3(SYS_fcntl, timer->id, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 &&
			  wmrt_sys3(SYS_ioctl, timer->id, PERF_EVENT_IOC_ENABLE, 0) == 0;
	if (!timer->is_there)
		wmrt_sys3(SYS_close, timer->id, 0, 0);
	return timer->is_there;
}

static bool start_timer(struct sampler_timer *timer, uint32_t tid)
{
	struct timespec each = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)};
	struct itimerspec spec = {each, each};
	struct sigevent event;

	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = TICK_SIGNAL;
	event._sigev_un._tid = (int)tid;
	timer->is_clock = false;
	if (wmrt_sys3(SYS_timer_create, clock_of_thread(tid), (long)&event, (long)&timer->id) != 0)
		return false;
	timer->is_there = wmrt_sys6(SYS_timer_settime, timer->id, 0, (long)&spec, 0, 0, 0) == 0;
	return timer->is_there;
}

bool sampler_timer_start(struct sampler_timer *timer)
{
	uint32_t tid = wmrt_gettid();

	return signal33_keep() && ((!is_wall && start_clock(timer, tid)) || start_timer(timer, tid));
}

void sampler_timer_stop(struct sampler_timer *timer)
{
	if (timer->is_there && timer->is_clock) {
		wmrt_sys3(SYS_ioctl, timer->id, PERF_EVENT_IOC_DISABLE, 0);
		wmrt_sys3(SYS_close, timer->id, 0, 0);
	} else if (timer->is_there) {
		wmrt_sys3(SYS_timer_delete, timer->id, 0, 0);
	}
	timer->is_there = false;
}

void sampler_timer_forget(struct sampler_timer *timer)
{
	if (timer->is_there && timer->is_clock)
		wmrt_sys3(SYS_close, timer->id, 0, 0);
	timer->is_there = false;
}
