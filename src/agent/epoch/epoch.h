/*
 * epoch.h - a new encoding while the program runs.
 */
#ifndef WM_AGENT_EPOCH_H
#define WM_AGENT_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

struct epoch_stats {
	uint64_t count;      /* epochs begun */
	uint64_t ns;         /* spent on it */
	uint64_t mismatches; /* contexts that were not what the stack said: repaired */
	uint64_t put_off;
	uint64_t max_id;
	uint64_t pushes; /* by calls whose pushes are counted: all of them when the agent is verbose */
};
extern struct epoch_stats epoch_stats __attribute__((visibility("hidden")));

/* Adds up what stubs have counted. Under the agent's lock. */
void epoch_take_counts(void);
/* The same. True: the encoder asks for a new epoch, and by now calls have cost what it would. */
bool epoch_is_due(void);
/* Return addresses on all stacks that are aimed at trampolines, or ought to be, after calls were added. This thread is at these registers. Under the
 * agent's lock. */
struct unwind_regs;
void epoch_retarget_returns(const struct unwind_regs *regs);
/*
 * After an attach: functions on the stacks of all threads are instrumented, calls in progress added, and each thread's state is made
 * what its stack says, in the encoding in force; or lost where that is not known, or when it is late. False: a thread is where that cannot
 * be done.
 */
bool epoch_settle(bool (*is_late)(void));
/* Begins one. This thread is outside of stubs and of the agent where it said it is when it took the agent's lock. False: not possible
 * now; everything is as before. */
bool epoch_begin(void);

#endif
