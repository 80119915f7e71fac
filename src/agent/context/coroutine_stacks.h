/*
 * coroutine_stacks.h - the context stacks of coroutines, by their native stacks. follow/coroutine.c makes them run.
 *
 * A context stack belongs to the memory that makecontext was given: when that is used again, what ran on it before is gone. The caller
 * holds the agent's lock.
 */
#ifndef WM_AGENT_COROUTINE_STACKS_H
#define WM_AGENT_COROUTINE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "agent/threads/thread.h"

enum {
	COROUTINE_MAX_ARGUMENTS = 16,
};

/* In a mapping of its own, which its context stack follows. Written by makecontext, read by the coroutine. */
struct coroutine {
	uintptr_t low, high; /* its native stack */
	uintptr_t root;      /* 0: it has not run */
	size_t bytes;        /* of the mapping */
	void (*entry)(void);
	const ucontext_t *link;
	long arguments[COROUTINE_MAX_ARGUMENTS];
	struct agent_entry entries[];
};

/* The one of that native stack, made when there is none or its stack was smaller. NULL without memory. */
struct coroutine *coroutine_stack_on(uintptr_t low, size_t stack_bytes);
/* The base and the root (struct agent_segment) of the coroutine on whose stack that stack pointer is. */
bool coroutine_find(uintptr_t sp, struct agent_entry **ret_base, uintptr_t *ret_root);

/*
 * Coroutines that makecontext was called for before the agent was attached: their first frame returns to libc's __start_context, which
 * no table of unwinding tells from the end of what stands before it. Their base is the process, since it is not known where makecontext
 * was called.
 */
/* Such a frame returns to pc: said once, at start. */
void coroutine_stacks_end_at(uintptr_t pc);
bool coroutine_is_end(uintptr_t pc);
/* The base of the one whose first frame has its return address at root, made when there is none. NULL without memory. */
struct agent_entry *coroutine_adopt(uintptr_t root);
/* It is the base of such a one. */
bool coroutine_is_adopted(const struct agent_entry *base);

#endif
