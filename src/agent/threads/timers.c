/* timers.c - makes and deletes the timers of threads. */
#include "agent/threads/timers.h"

#include "agent/os/options.h"
#include "native/libc_signals.h"
#include "native/thread_timer.h"
#include "agent/threads/threads.h"
#include "recorder/clock.h"

/* The same of all threads: written when one is started. */
static uint64_t period_ns;

uint64_t timers_period_ns(void)
{
	return period_ns;
}

uint64_t timers_take_time(void)
{
	uint64_t now = wmrt_clock_ns(agent_options.is_wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID),
		 last = agent_thread.sampled_ns;

	agent_thread.sampled_ns = now;
	return now > last ? now - last : 0;
}

bool timers_start_of(struct thread_record *record)
{
	uint32_t tid = atomic_load(&record->tid), hz = agent_options.clients[WM1_AGENT_sample].number;

	period_ns = hz ? 1000000000u / hz : TIMERS_EPOCH_NS;
	record->state->sampled_ns = wmrt_clock_ns(thread_clock(tid, agent_options.is_wall));
	return libc_signal_keep(TICK_SIGNAL) &&
	       thread_timer_start(&record->timer, tid, agent_options.is_wall, period_ns, 0);
}

bool timers_start(void)
{
	return agent_thread.record && timers_start_of(agent_thread.record);
}

void timers_put_off(uint64_t first_ns)
{
	threads_for_each(r)
		if (r->timer.is_made)
			thread_timer_put_off(&r->timer, first_ns, period_ns);
}

void timers_delete(void)
{
	threads_for_each(r)
		thread_timer_stop(&r->timer);
}
