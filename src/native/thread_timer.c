/* thread_timer.c - timers of threads, by system calls: the C library's numbers of timers are its own. */
#include "native/thread_timer.h"

#include <signal.h>
#include <string.h>

#include "native/libc_signals.h"
#include "recorder/sys.h"

/* Linux numbers the clock of a thread so (include/linux/posix-timers.h). */
clockid_t thread_clock(uint32_t tid, bool is_wall)
{
	enum {
		PER_THREAD = 4,
		SCHEDULED = 2,
	};

	return is_wall ? CLOCK_MONOTONIC : (clockid_t)(~tid << 3 | PER_THREAD | SCHEDULED);
}

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

bool thread_timer_put_off(const struct thread_timer *timer, uint64_t first_ns, uint64_t period_ns)
{
	struct itimerspec spec = {time_of(period_ns), time_of(first_ns)};

	return wmrt_sys6(SYS_timer_settime, timer->id, 0, (long)&spec, 0, 0, 0) == 0;
}

bool thread_timer_start(struct thread_timer *timer, uint32_t tid, bool is_wall, uint64_t period_ns, int value)
{
	struct sigevent event;

	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = TICK_SIGNAL;
	event.sigev_value.sival_int = value;
	event._sigev_un._tid = (int)tid;
	timer->is_made = wmrt_sys3(SYS_timer_create, thread_clock(tid, is_wall), (long)&event, (long)&timer->id) == 0;
	return timer->is_made && thread_timer_put_off(timer, period_ns, period_ns);
}

void thread_timer_stop(struct thread_timer *timer)
{
	if (timer->is_made)
		wmrt_sys3(SYS_timer_delete, timer->id, 0, 0);
	timer->is_made = false;
}
