/*
 * coroutine.h - makecontext, swapcontext and setcontext: each stack that makecontext was given has a context stack of its own, whose
 * base is the context in which makecontext was called.
 */
#ifndef WM_AGENT_COROUTINE_H
#define WM_AGENT_COROUTINE_H

#include <stdbool.h>
#include <stdint.h>

/* Looks up what is stood in front of. Once, at start. */
void coroutine_start(void);
/* makecontext, of a ucontext_t and 16 words of arguments; where the program has called it is what the coroutine stands on. */
void coroutine_make(const void *return_address, void *made, void (*entry)(void), int argument_count,
		    const long *arguments);

#endif
