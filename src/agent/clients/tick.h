/*
 * tick.h - what a thread does when its timer has run out (threads/timers.h): samples, and looks whether a new epoch is due.
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

/* The agent's signal comes here. Once, at start. */
void tick_init(void);
/* Ends all timers, and what the signal did before is as it was. All signals are blocked, and other threads stand still. */
void tick_stop(void);

#endif
