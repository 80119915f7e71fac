/*
 * coroutine.h - makecontext, swapcontext and setcontext: each stack that makecontext was given has a context stack of its own, whose
 * base is the context in which makecontext was called.
 */
#ifndef WM_AGENT_COROUTINE_H
#define WM_AGENT_COROUTINE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/threads/thread.h"

/* Looks up what is stood in front of. Once, at start. */
void coroutine_start(void);
/* makecontext, of a ucontext_t and 16 words of arguments; where the program has called it is what the coroutine stands on. */
void coroutine_make(const void *return_address, void *made, void (*entry)(void), int argument_count,
		    const long *arguments);
/* The base and the root (struct agent_segment) of the coroutine on whose stack that stack pointer is. Under the agent's lock. */
bool coroutine_find(uintptr_t sp, struct agent_entry **ret_base, uintptr_t *ret_root);

/*
 * Coroutines that makecontext was called for before the agent was attached: their first frame returns to libc's __start_context, which
 * no table of unwinding tells from the end of what stands before it. Their base is the process, since it is not known where makecontext
 * was called.
 */
/* pc is where such a frame returns to. */
bool coroutine_is_end(uintptr_t pc);
/* The base of the one whose first frame has its return address at root, made when there is none. NULL without memory. Under the agent's lock. */
struct agent_entry *coroutine_adopt(uintptr_t root);
/* It is the base of such a one. */
bool coroutine_is_adopted(const struct agent_entry *base);

#endif
