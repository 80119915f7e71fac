/* blocked.h - what a thread of this process waits for, and whether a signal may interrupt that. For the helper (helper.h): no C library. */
#ifndef WM_SAMPLER_BLOCKED_H
#define WM_SAMPLER_BLOCKED_H

#include <stdbool.h>
#include <stdint.h>

struct blocked {
	bool is_known;   /* /proc says it */
	bool is_blocked; /* it does not run, nor is it about to */
	bool is_in_call;
	uint64_t number; /* of the system call */
	uint64_t arguments[6];
	uint64_t sp, pc; /* behind the system call */
};

void blocked_look(uint32_t tid, struct blocked *ret);
/* How long it has waited for a CPU, while nothing kept it from running. 0 where the kernel does not count that. */
uint64_t blocked_run_delay_ns(uint32_t tid);
/* It waits so that no signal interrupts it: a walk comes when the wait is over. */
bool blocked_is_uninterruptible(uint32_t tid);
/* Have these two threads the same rights: users, groups and capabilities? Yes, where it is not to be seen. */
bool blocked_has_same_rights(uint32_t tid, uint32_t other);
/*
 * The program does not see that a signal has interrupted the call: the kernel makes it again, or restart.c does, as if nothing had been. Not so of those
 * that return what they have done so far, whose limit of time begins anew, or that are not known.
 */
bool blocked_may_interrupt(const struct blocked *b);

#endif
