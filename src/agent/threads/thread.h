/*
 * thread.h - the context of a thread: its id and its context stack.
 *
 *      thread-local                    context stack, mapped when the thread needs it
 *     .-----------.               .----------------------------------.
 *     | id        |               | base    prefix = what it is on   |
 *     | top ------|-------------->| entry   id frame_slot site prefix run   |
 *     | ...       |               | (free)                           |
 *     '-----------'               '----------------------------------'
 *
 * A call that pushes writes the caller's id and the site into *top, then top++, then id = the number at which the callee starts. In a
 * thread that has not pushed top is NULL. Code is reached by stubs at fixed offsets from %fs, so a thread's state is valid from its
 * first instruction on.
 *
 * AGENT_FOREIGN_ID stands in id while code runs that is not instrumented. A function that finds it there, or a sum from it on, was
 * entered in a way that the agent has not seen yet: captures then look at the stack itself (walk.h).
 */
#ifndef WM_AGENT_THREAD_H
#define WM_AGENT_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define AGENT_FOREIGN_ID (UINT64_C(1) << 63)
/* Ids of the encoding. What is above is that of foreign code, with or without sums that were added to it or taken off. */
#define AGENT_MAX_ID ((UINT64_C(1) << 62) - 1)
/* It is not known how the thread came here. What calls that were begun before take off leaves it above every id. */
#define AGENT_LOST_ID (UINT64_C(3) << 62)

/* 32 bytes. prefix, run and below are what captures have found out, 0 when pushed. Of a base below is the prefix without the segment's first
 * function, 0 where that is the same. */
struct agent_entry {
	uint64_t id;
	uint64_t frame_slot; /* 8 less than the address of the return address's slot */
	uint32_t site;
	uint32_t prefix; /* interned number of the stack up to and with this entry */
	uint32_t run;    /* how many equal (id, site) end here */
	uint32_t below;  /* prefix below the run */
};
_Static_assert(sizeof(struct agent_entry) == 32, "stubs step by 32");

/*
 * A stretch of native stack with a context of its own: a thread's first frames, a signal's handler, a coroutine. This is what is kept of
 * one that is not the running one.
 */
struct agent_segment {
	uint64_t id;
	struct agent_entry *top, *base;
	uintptr_t root; /* where the return address of its first frame is, which is the agent's; 0: the thread's first */
	uintptr_t landing;
	const struct agent_segment *outer; /* what a handler interrupted; NULL: not in a handler */
	bool is_on_alternate;              /* it runs on the alternate signal stack */
	const void *interrupted;           /* ucontext_t: the registers there; NULL: in a call of the agent's */
	uintptr_t handler;                 /* the program's, that runs */
	uintptr_t pc, sp;                  /* of these as the kernel has given them, in a stub maybe */
	bool is_in_stub; /* and these are the program's own meanwhile (place.h), the thread is in a stub */
	uint32_t epoch;
	bool predates_attach; /* a handler that ran when the agent was attached: it returns without the agent */
};

struct thread_record;

/* Writer: its own thread, and whoever has stopped it. A thread that the agent has not seen yet runs foreign code. */
struct agent_thread {
	uint64_t id;
	struct agent_entry *top; /* first free entry */
	struct agent_entry *base;
	char *agent_stack;               /* end of the agent's own; NULL: in use, or none */
	uintptr_t stack_low, stack_high; /* of the native stack; 0: not known yet */
	uint32_t in_agent;               /* > 0: the agent itself runs */
	uint32_t tid;
	uint64_t in_agent_site; /* where the program entered it */
	uint64_t late_mask;     /* of signals, put back by entry_point.inc on the program's stack */
	uint32_t has_late_mask; /* entry_point.inc looks at it */
	bool is_on_alternate;   /* of the running segment, as base and the next two */
	uintptr_t root;
	const struct agent_segment *outer;
	uintptr_t landing;               /* where a jump under way lands (resume.h) */
	struct agent_entry *first;       /* base of the thread's first segment */
	struct thread_record *record;    /* threads.h; NULL: it is not listed yet */
	__pthread_unwind_buf_t *cleanup; /* the innermost of pthread_cleanup_push (cancel.c) */
	bool is_tick_late;               /* the last tick took as long as until the next (tick.c) */
	bool is_unwinding;               /* the unwinder of exceptions runs (exception.c) */
	bool is_allocating;              /* it is in a function of the allocator (allocator.c) */
	bool is_forking;                 /* it holds the agent's lock until the fork is done (lock.h) */
	uint32_t vforking; /* it is a child of vfork, or of a child of one, in the memory of its parent, which waits */
	/* Where a return address into an image that was unloaded is on its stack: it can never return there, whatever is there now. 0: none. */
	uintptr_t in_unloaded_code;
	uintptr_t creation;    /* bytes of native stack that its creator asked for; 0: the limit's */
	uint64_t landing_mask; /* of signals, which a jump from an alternate stack puts in force where it lands */
	bool has_landing_mask;
	bool is_stepped;     /* the program was, when entry_point.inc blocked signals */
	bool is_bus_unseen;  /* it was there before the agent, and may block SIGBUS (recorder/bus.h) */
	uint64_t sampled_ns; /* its time that samples have (tick.c) */
};
extern _Thread_local struct agent_thread agent_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Offset of a member from %fs. */
#define AGENT_THREAD_OFFSET(member)                                              \
	((int32_t)((char *)&agent_thread - (char *)__builtin_thread_pointer()) + \
	 (int32_t)offsetof(struct agent_thread, member))

static inline bool agent_id_is_foreign(uint64_t id)
{
	return id > AGENT_MAX_ID;
}

/* As long as the agent has not found out how the thread came here, once it was attached. */
static inline bool agent_thread_is_lost(const struct agent_thread *thread)
{
	return thread->id >= AGENT_LOST_ID;
}

/* Gives this thread a context stack. False without memory. Signal-safe. */
bool agent_thread_begin(void);
/* The same for one that is stopped. */
bool agent_thread_begin_of(struct agent_thread *thread);
/* What its functions have left is gone: it is in foreign code, on its base. */
void agent_thread_reset(void);
/* What the thread's stack stands on: WM_PREFIX_PROCESS, WM_PREFIX_THREAD, or the prefix of its creator. */
void agent_thread_set_base(uint32_t prefix);
/* The same while the thread's first function runs, which is not instrumented: `prefix` has it, too. Until it is reset. */
void agent_thread_set_first(uint32_t prefix);
/* The range of the thread's native stack that `sp` lies in, read from /proc/self/maps when it is not the known one. */
bool agent_thread_stack(struct agent_thread *thread, uintptr_t sp, uintptr_t *ret_low, uintptr_t *ret_high);

#endif
