/*
 * timers.h - a timer for each thread, of its CPU time or of the wall's, that sends the agent's signal (libc_signals.h).
 */
#ifndef WM_AGENT_TIMERS_H
#define WM_AGENT_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TIMERS_EPOCH_NS = 2000000, /* the period where nothing is sampled */
};

struct thread_record;

/* A timer for this thread, which is listed. False: the kernel gives none. */
bool timers_start(void);
/* The same for another one. */
bool timers_start_of(struct thread_record *record);
/* The next signals come after so long, then as before. Under the agent's lock, or while other threads stand still. */
void timers_put_off(uint64_t first_ns);
/* Deletes all. Under the agent's lock, or while other threads stand still. */
void timers_delete(void);
/* From one signal of a timer to the next; 0: none was started. */
uint64_t timers_period_ns(void);

/* The time of this thread since it was asked last, or its timer was started: of CPU time, or of the clock. Signal-safe. */
uint64_t timers_take_time(void);

#endif
