/* timer.h - samples of this thread, at a rate of its CPU time or of the clock. */
#ifndef WM_SAMPLER_TIMER_H
#define WM_SAMPLER_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "native/thread_timer.h"

struct sampler_timer {
	uint64_t clock_number; /* perf's, by which its descriptor is known */
	int clock_fd;
	bool is_clock;
	uint32_t ticks;            /* of the clock, since the watch has looked */
	struct thread_timer posix; /* is_clock: the watch */
};

/*
 * on_tick is called with all signals blocked, on the stack that the signal came on. is_watch: it is no sample, sampler_timer_watch is to be
 * called. Once, before the first timer.
 */
bool sampler_timer_init(uint32_t hz, bool is_wall, void (*on_tick)(ucontext_t *context, bool is_watch));
bool sampler_timer_start(struct sampler_timer *timer);
/* At each tick of this thread: so many that were not handled stop the clock until the watch finds it. */
void sampler_timer_go_on(struct sampler_timer *timer);
/* Looks whether the clock of this thread still ticks. */
void sampler_timer_watch(struct sampler_timer *timer);
/* Of any thread. */
void sampler_timer_stop(struct sampler_timer *timer);
/* In a forked child: the timer is its parent's. */
void sampler_timer_forget(struct sampler_timer *timer);

#endif
