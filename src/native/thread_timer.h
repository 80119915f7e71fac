/* thread_timer.h - the kernel's timers of one thread each, which send TICK_SIGNAL (libc_signals.h). Signal-safe. */
#ifndef WM_NATIVE_THREAD_TIMER_H
#define WM_NATIVE_THREAD_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct thread_timer {
	int id; /* the kernel's number of the timer */
	bool is_made;
};

/* The clock of CPU time of a thread of this process; is_wall: CLOCK_MONOTONIC. */
clockid_t thread_clock(uint32_t tid, bool is_wall);
/* Sends the thread a signal each period, with that si_value. False: the kernel gives none. */
bool thread_timer_start(struct thread_timer *timer, uint32_t tid, bool is_wall, uint64_t period_ns, int value);
/* The next signal of one that was started comes after so long, and then one each period. */
bool thread_timer_put_off(const struct thread_timer *timer, uint64_t first_ns, uint64_t period_ns);
/* Nothing, when it was not started. */
void thread_timer_stop(struct thread_timer *timer);

#endif
