/*
 * stop.h - stops the other threads, so that code can be changed and contexts encoded anew.
 *
 *      who holds the agent's lock                    each other thread
 *        signal 33, with a mark     ----------->       handler: says where it is (registers), waits
 *        changes code, translates contexts             .
 *        lets go of the lock        ----------->       goes on
 *
 * A thread that waits for the agent's lock is stopped already, and one that pthread_create has just made comes to that lock before it
 * runs code of the program. A thread that cannot be stopped (the parent of vfork, also while its child waits for the lock, a traced one, one that has blocked even this
 * signal) makes the stop fail after some time: the change is put off, never forced.
 *
 * Under the agent's lock, which ends a stop.
 */
#ifndef WM_AGENT_STOP_H
#define WM_AGENT_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stop_stats {
	uint64_t count; /* in which another thread was stopped */
	uint64_t ns;
	uint64_t failed;
};
extern struct stop_stats stop_stats __attribute__((visibility("hidden")));

/* All other threads are stopped until stop_end or the lock is let go of. False: one could not be. */
bool stop_others(void);
/*
 * They are stopped by ptrace, until after stop_end: stop_others has nothing to do. Of each of them that is listed, where it is:
 * stop_assume_at; regs stay the caller's until stop_end.
 */
void stop_assume(void);
struct thread_record;
struct unwind_regs;
void stop_assume_at(struct thread_record *record, const struct unwind_regs *regs);
/* Others wait in a stop. */
bool stop_is_on(void);
/* They go on; nothing, if they are not stopped. */
void stop_end(void);
/* A child of vfork waits for the lock: nothing can be changed before it has had it. No lock is needed. */
bool stop_child_waits(void);
/* A stop failed for that since the lock was last let go of. */
bool stop_is_for_child(void);
/* They go on for a moment and are stopped again: one was where it cannot stay. False: they go on. */
bool stop_again(unsigned int times);
/* It is this thread's, or that of one that is stopped, whose state can be looked at. */
bool stop_has(const struct thread_record *record);
/* A signal of a stop, which may be over, has yet to come to it: only this agent's handler hides from the program that it does. */
bool stop_is_asked(const struct thread_record *record);
/* The same of any thread, also of one without a record. */
bool stop_is_any_asked(void);
enum stop_held {
	STOP_FREE,
	STOP_HELD,       /* by a thread that moves when it goes on */
	STOP_HELD_STAYS, /* by one that does not before this one lets go of the lock */
};
/* A thread, this one too, is inside of [at + 1, at + len) or comes back to there from a handler. Others are stopped. */
enum stop_held stop_is_held(uintptr_t at, size_t len);

/* What the thread says before it waits for the lock, while a stop may be waiting for it. */
void stop_notice(void);
/* The signal's handler: true if it was for a stop. */
bool stop_on_signal(const siginfo_t *info, void *context);
/* Closes what is open for it. */
void stop_close(void);
/* A child of fork. */
void stop_after_fork(void);

#endif
