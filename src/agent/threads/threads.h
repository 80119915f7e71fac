/*
 * threads.h - the threads of the process that the agent has met: where each is, and what it needs until its end.
 *
 * A thread lists itself when it first comes to the agent: at its start where pthread_create made it (create.c), else when it takes the
 * agent's lock or is stopped. Records are never freed; one whose thread has ended is taken again.
 */
#ifndef WM_AGENT_THREADS_H
#define WM_AGENT_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/threads/thread.h"
#include "native/thread_timer.h"
#include "native/unwind/unwind.h"

enum {
	THREAD_NOTES = 32,
};

enum thread_phase {
	THREAD_RUNS,
	THREAD_WAITS, /* for the agent's lock, or it holds it: signals are blocked, and it goes on by its own hand only */
};

/* A thread that waits for the lock may not look at tables: what its pc is. */
enum thread_pc {
	THREAD_PC,          /* regs->pc itself */
	THREAD_PC_SITE,     /* the address of site pc_number */
	THREAD_PC_FUNCTION, /* the start of function pc_number */
	THREAD_PC_STUB,     /* in a stub, not known in which */
};

/* The context of a frame that called setjmp. */
struct thread_note {
	const void *buffer; /* NULL: none */
	uintptr_t pc, sp;
	uint64_t id;
	struct agent_entry *top, *base;
	uint32_t epoch;
};

struct thread_record {
	struct thread_record *next;
	_Atomic uint32_t tid;         /* 0: free */
	_Atomic uint32_t phase;       /* enum thread_phase; writer: the thread */
	_Atomic uint32_t stopped_in;  /* number of the last stop that it has obeyed; writer: the thread */
	_Atomic uint32_t asked;       /* signals of stops that were sent to it; writer: who holds the lock */
	_Atomic uint32_t heard;       /* those that came; writer: the thread */
	_Atomic bool is_gone;         /* it has ended, or its number is another thread's now */
	_Atomic bool is_unresponsive; /* it was asked to stop and has not yet; the thread takes it back */
	struct agent_thread *state;
	/* Where it is in the program while it waits or is stopped; NULL: not known. is_interrupted: it goes on there. */
	const struct unwind_regs *_Atomic regs;
	bool is_interrupted;
	_Atomic bool is_vfork_child; /* who waits for the lock is a child of the thread, in its memory */
	uint8_t pc_kind;             /* enum thread_pc, of regs->pc */
	uint32_t pc_number;
	/* Under the agent's lock. */
	bool is_skipped; /* unresponsive for long: it is not waited for again until it answers */
	struct thread_timer timer;
	uint32_t missed_stops;
	void *stack; /* its context stack and the agent's; NULL: none */
	size_t stack_bytes;
	/* The thread's own (resume.c). */
	struct thread_note notes[THREAD_NOTES]; /* by buffer */
	const void *landing_by;                 /* the buffer of the jump that lands; NULL: not known */
	bool is_noting;
};

/* All records, by `next`: also free ones, whose tid is 0. Records are added at the front and stay. */
extern _Atomic(struct thread_record *) threads_all __attribute__((visibility("hidden")));
#define threads_for_each(record) \
	for (struct thread_record *record = atomic_load(&threads_all); record; record = record->next)

/* Lists this thread. False without memory. Signal-safe; no lock. */
bool threads_join(void);
/* The same for one that is stopped. */
bool threads_join_of(struct agent_thread *thread, uint32_t tid);
/* Records of threads that have ended are free: timers and context stacks are given back. How many there are of others. Under the
 * agent's lock. */
uint32_t threads_sweep(void);
/* In a forked child: the caller is the only thread. */
void threads_after_fork(void);
/* Of the process that they are in, not of a child of vfork in its memory. */
uint32_t threads_pid(void);

/* Threads that are being created and are not listed yet: each lists itself before it runs code of the program. */
extern _Atomic uint32_t threads_coming __attribute__((visibility("hidden")));

/* The agent's frame on which all others of a thread stand that pthread_create has made. */
bool threads_is_base(uintptr_t pc);
/* The one that calls main (start.c). */
bool threads_is_main(uintptr_t pc);

#endif
