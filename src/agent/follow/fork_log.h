/*
 * fork_log.h - what forked processes find, for those that are forked after them: a log in memory that all share which come from one
 * process by fork, and none after an exec.
 *
 *      parent        fork ────────► child: finds a call, adds it to the log
 *                    (waits)
 *                    takes in what the log has, then fork ────────► child: knows the call
 *
 * An image has a number in it that no other loading of an image has in any of the processes: what is said of one is taken for it where
 * it was loaded before the fork, and is still. A call more than are made is no harm: it is one of the graph that does not happen.
 *
 * The caller holds the agent's lock.
 */
#ifndef WM_AGENT_FAMILY_H
#define WM_AGENT_FAMILY_H

#include <stdint.h>

#include "native/unwind/unwind.h"

struct fork_log_stats {
	uint64_t told;  /* by this process */
	uint64_t taken; /* of others */
};
extern struct fork_log_stats fork_log_stats __attribute__((visibility("hidden")));

/* Hears of what is found, to add it to the log in a process that was forked. Once, at start. */
void fork_log_start(void);
/* Before a fork, at these registers: this process knows what the log has, and its children what it is. */
void fork_log_before_fork(const struct unwind_regs *regs);
/* In the child. */
void fork_log_after_fork(void);

#endif
