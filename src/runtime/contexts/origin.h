/*
 * origin.h - the context in which a thread or a coroutine is created, kept for it.
 */
#ifndef WM_RUNTIME_CONTEXTS_ORIGIN_H
#define WM_RUNTIME_CONTEXTS_ORIGIN_H

#include <stdint.h>

#include "waymark/abi.h"

/*
 * That of this point, for a thread that is created here; equal contexts have the same one. NULL: there is nothing to tell
 * (no function with code for contexts is on the stack), or no memory. Takes time in proportion to the pushes of this thread,
 * and the lock. Makes no recording.
 */
struct wm1_origin *wmrt_origin_here(void);
/* Makes the origin of a coroutine, whose stack stands on that prefix. */
struct wm1_origin *wmrt_origin_of_coroutine(uint32_t prefix);
/* The prefix that the stack of a thread created there stands on; interned by the first call. WM_PREFIX_THREAD when it
 * could not be recorded. */
uint32_t wmrt_origin_prefix(struct wm1_origin *origin);

/* push_count of them, the outermost first. */
static inline const struct wm1_push *wmrt_origin_pushes(const struct wm1_origin *origin)
{
	return (const struct wm1_push *)(origin + 1);
}

/* ---- numbers of the recording; without a recorder (alone.c) there are none ---- */

/* The context of this thread's task, on which its pushes stand; 0: it is in none. */
uint32_t wmrt_task_root(void);
/* That on which the stack of a coroutine stands that is made here; WM_PREFIX_LOST: it has none. */
uint32_t wmrt_coroutine_prefix(void);
/* Of a handler's entry (stack.h): [signal] on what was pushed when it began. */
uint32_t wmrt_signal_prefix(struct wm1_entry *entry);

#endif
