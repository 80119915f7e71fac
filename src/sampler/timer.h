/* timer.h - samples of this thread, at a rate of its CPU time or of the clock. */
#ifndef WM_SAMPLER_TIMER_H
#define WM_SAMPLER_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct sampler_timer {
	int id; /* the kernel's number of the timer, or a descriptor of perf */
	bool is_clock;
	bool is_there;
};

/* on_tick is called with all signals blocked, on the stack that the signal came on. Once, before the first timer. */
bool sampler_timer_init(uint32_t hz, bool is_wall, void (*on_tick)(ucontext_t *context));
bool sampler_timer_start(struct sampler_timer *timer);
/* Of any thread. */
void sampler_timer_stop(struct sampler_timer *timer);
/* In a forked child: the timer is its parent's. */
void sampler_timer_forget(struct sampler_timer *timer);

#endif
