/* timers.c - makes and deletes the timers of threads. */
#include "agent/threads/timers.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#include "agent/os/options.h"
#include "native/signal33.h"
#include "agent/threads/threads.h"
#include "recorder/clock.h"
#include "recorder/sys.h"

/* The same of all threads: written when one is started. */
static uint64_t period_ns;

uint64_t timers_period_ns(void)
{
	return period_ns;
}

/* The kernel's number of the clock of CPU time of any thread of the process. */
static clockid_t clock_of(uint32_t tid)
{
	enum {
		PER_THREAD = 4,
		SCHEDULED = 2,
	};

	return agent_options.is_wall ? CLOCK_MONOTONIC : (clockid_t)(~tid << 3 | PER_THREAD | SCHEDULED);
}

uint64_t timers_take_time(void)
{
	uint64_t now = wmrt_clock_ns(agent_options.is_wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID),
		 last = agent_thread.sampled_ns;

	agent_thread.sampled_ns = now;
	return now > last ? now - last : 0;
}

static struct itimerspec period(void)
{
	struct timespec each = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)};

	return (struct itimerspec){each, each};
}

bool timers_start_of(struct thread_record *record)
{
	uint32_t hz = agent_options.clients[WM1_AGENT_sample].number;
	struct sigevent event;
	struct itimerspec spec;

	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = TICK_SIGNAL;
	event._sigev_un._tid = (int)atomic_load(&record->tid);
	period_ns = hz ? 1000000000u / hz : TIMERS_EPOCH_NS;
	spec = period();
	record->state->sampled_ns = wmrt_clock_ns(clock_of((uint32_t)event._sigev_un._tid));
	if (!signal33_keep() || wmrt_sys3(SYS_timer_create, clock_of((uint32_t)event._sigev_un._tid), (long)&event,
					  (long)&record->timer) != 0)
		return false;
	record->has_timer = true;
	return wmrt_sys6(SYS_timer_settime, record->timer, 0, (long)&spec, 0, 0, 0) == 0;
}

bool timers_start(void)
{
	return agent_thread.record && timers_start_of(agent_thread.record);
}

void timers_delete(void)
{
	for (struct thread_record *r = atomic_load(&threads_all); r; r = r->next) {
		if (r->has_timer)
			wmrt_sys3(SYS_timer_delete, r->timer, 0, 0);
		r->has_timer = false;
	}
}
