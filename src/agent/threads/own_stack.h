/*
 * own_stack.h - what needs much stack runs on the agent's own: an alternate signal stack of the program may be small.
 */
#ifndef WM_AGENT_OWN_STACK_H
#define WM_AGENT_OWN_STACK_H

#include <stdbool.h>

/*
 * Calls fn(data) on the thread's stack of the agent, or where the thread is, when that is in use or not there. All signals are blocked
 * meanwhile if the thread is on an alternate signal stack: the kernel would take a handler for the first one there, and begin at its top.
 */
void own_stack_call(void (*fn)(void *data), void *data) __attribute__((visibility("hidden")));
/* The same, when the thread is on an alternate signal stack, with signals blocked meanwhile; else fn(data) is called where it is. Signal-safe. */
void own_stack_call_from(bool is_on_alternate, void (*fn)(void *data), void *data);

#endif
