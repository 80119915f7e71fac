/*
 * segments.h - leaves the running segment of a thread (thread.h) and begins another one: writes the thread's state, and reads no frame.
 *
 *      context stack of the thread
 *      | base | entries of main, f, g ... | (half a push) | what is kept | [signal] | entries of the handler ...
 *         ^ base of the segment left      top                               ^ base of the running one
 *
 * epoch: the present one, which the id that is kept belongs to. Signal-safe.
 */
#ifndef WM_AGENT_SEGMENTS_H
#define WM_AGENT_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/threads/thread.h"

/* Keeps the running segment of this thread in *ret. interrupted: the ucontext_t of a handler, NULL in a call of the agent's. */
void segments_leave(const void *interrupted, uint32_t epoch, struct agent_segment *ret);
/*
 * A segment on that prefix (WM_PREFIX_NONE: found when it is needed) for the handler that has interrupted the thread's running one, which
 * is kept on the context stack: jumps out of the handler find it there. The thread is this one, or is stopped.
 */
struct agent_segment *segments_begin_handler(struct agent_thread *thread, const void *interrupted, uint32_t epoch,
					     uint32_t prefix, uintptr_t root);
/* Another stack's: base is its first entry, the one above is free. The thread is this one, or is stopped. */
void segments_begin(volatile struct agent_thread *thread, struct agent_entry *base, uintptr_t root,
		    const struct agent_segment *outer);
/* What was left is the running segment again, as it was. */
void segments_put_back(volatile struct agent_thread *thread, const struct agent_segment *left);
/* Where the handler that has left that segment has interrupted it, as the program knows it; 0: it was left by a call of the agent's. */
uintptr_t segments_interrupted_at(const struct agent_segment *s);
/* Handlers of the thread have interrupted it inside of [at + 1, at + len). */
bool segments_are_held(const struct agent_thread *thread, uintptr_t at, size_t len);

#endif
