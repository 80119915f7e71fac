/*
 * coroutine.h - makecontext, swapcontext and setcontext: each stack that makecontext was given has a context stack of its own, whose
 * base is the context in which makecontext was called.
 */
#ifndef WM_AGENT_COROUTINE_H
#define WM_AGENT_COROUTINE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/thread.h"

/* Looks up what is stood in front of. Once, at start. */
void coroutine_start(void);
/* The base and the root (struct agent_segment) of the coroutine on whose stack that stack pointer is. Under the agent's lock. */
bool coroutine_find(uintptr_t sp, struct agent_entry **ret_base, uintptr_t *ret_root);

#endif
