/*
 * tick.h - a timer of CPU time for each thread: samples, and looks whether a new epoch is due.
 */
#ifndef WM_AGENT_TICK_H
#define WM_AGENT_TICK_H

#include <stdbool.h>
#include <stdint.h>

struct tick_stats {
	uint64_t samples;
	uint64_t unknown;  /* whose context could not be found */
	uint64_t in_agent; /* while the agent itself ran */
	uint64_t checked, agreed;
	uint64_t unchecked; /* the independent walk found no whole stack */
};
extern struct tick_stats tick_stats __attribute__((visibility("hidden")));

enum {
	TICK_SIGNAL = 33, /* SIGSETXID of glibc, which programs cannot use */
};
/* It, in a set of the kernel's. */
static const uint64_t TICK_MASK = UINT64_C(1) << (TICK_SIGNAL - 1);

/* The handler of the signal, which glibc replaces when it first makes a thread. False: it could not be put in place. */
bool tick_keep_signal(void);
/* A timer for this thread, which is listed. False: the kernel gives none. */
bool tick_start(void);
struct thread_record;
/* The same for another one. */
bool tick_start_of(struct thread_record *record);
/* Ends all timers, and what the signal did before is as it was. All signals are blocked, and other threads stand still. */
void tick_stop(void);

#endif
