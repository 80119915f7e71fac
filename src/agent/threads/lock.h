/*
 * lock.h - the agent's lock: who holds it may change tables, code and encodings. All signals are blocked while it is held, so no
 * handler finds its own thread holding it. Taken before the recorder's.
 */
#ifndef WM_AGENT_LOCK_H
#define WM_AGENT_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/process.h"

struct agent_guard {
	uint64_t signal_mask;
	bool is_nested; /* this thread has it already, since it forks; or nobody needs it any more (seccomp.h) */
};

struct unwind_regs;

/* Where a thread is in the program, see struct thread_record. */
struct lock_place {
	const struct unwind_regs *regs; /* NULL: not known */
	bool is_interrupted;
	uint8_t pc_kind; /* enum thread_pc */
	uint32_t pc_number;
};

/* How often it was taken, and the CPU time until it was released: what the agent did itself. Counted under the lock, when is_counted:
 * the clock costs a system call. */
struct agent_lock_stats {
	bool is_counted;
	uint64_t count;
	uint64_t ns;
};
extern struct agent_lock_stats agent_lock_stats __attribute__((visibility("hidden")));

void agent_lock(struct agent_guard *guard);
/* Somebody holds it. Of use where all other threads stand still. */
bool agent_lock_is_taken(void);
/* The same; while it waits others find the thread there in the program. */
void agent_lock_at(struct agent_guard *guard, const struct lock_place *place);
/* Lets others take it, and takes it again. */
void agent_lock_yield(const struct agent_guard *guard, const struct lock_place *place);
/* Ends a stop of the others too (stop.h). */
void agent_unlock(const struct agent_guard *guard);
/* The same at the end of what entry_point.inc calls. Of a thread that is on an alternate stack signals stay blocked until entry_point.inc is back there. */
void agent_unlock_at_entry(const struct agent_guard *guard);
/* Around a fork: no other thread is about to change tables or code meanwhile. Handlers of pthread_atfork that come between take the lock
 * again. */
void agent_lock_for_fork(const struct lock_place *place);
/* The thread is no longer where it said that it is: the registers are gone. */
void agent_lock_forget_place(void);
void agent_unlock_after_fork(void);
void agent_unlock_in_child(void);
/* In a forked child: nobody holds it. */
void agent_lock_after_fork(void);

#endif
