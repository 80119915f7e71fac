/*
 * capture.h - the context of this point, for the runtime's own files.
 */
#ifndef WM_RUNTIME_CONTEXTS_CAPTURE_H
#define WM_RUNTIME_CONTEXTS_CAPTURE_H

#include "recorder/image.h"
#include "recorder/process.h"
#include "runtime/contexts/hybrid.h"
#include "runtime/contexts/stack.h"
#include "waymark/runtime.h"
#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop

/* Interns the stack below `top` and keeps what it learned in the entries. */
uint32_t wmrt_prefix_slow(struct wm1_entry *top);

/* What stands on the stack below `top`, whose number is prefix, with that history. */
uint32_t wmrt_with_history_slow(uint32_t prefix, const struct wm1_entry *top, uint32_t history);
static inline uint32_t wmrt_with_history(uint32_t prefix, const struct wm1_entry *top, uint32_t history)
{
	bool has_none = history == WM1_HISTORY_NONE && (!top || wmrt_entry_is_plain(top - 1));

	return WMRT_LIKELY(has_none) ? prefix : wmrt_with_history_slow(prefix, top, history);
}

/* Few ns: one load when the stack was captured before since its last push. */
static inline uint32_t wmrt_prefix(struct wm1_entry *top)
{
	uint32_t prefix = WMRT_LIKELY(top != NULL) ? top[-1].prefix : wmrt_stack.base_prefix;

	return WMRT_LIKELY(prefix && prefix != WM_PREFIX_SIGNAL) ? prefix : wmrt_prefix_slow(top);
}

/* What is pushed, and the history since. */
static inline uint32_t wmrt_prefix_here(void)
{
	struct wm1_entry *top = wm1_thread_state.top;

	return wmrt_with_history(wmrt_prefix(top), top, wm1_thread_state.history);
}

/*
 * In foreign code the id is whatever a root that it called back left there. The program has pushed its call of that code. sp: the stack pointer of
 * the call at the site, which a program with hybrid encoding needs; 0 in foreign code.
 */
static inline wm_context wmrt_capture_pushed(uint32_t site, uint64_t sp)
{
	wm_context c = {.site = site, .epoch = WM_EPOCH_COMPILED};
	const struct wm1_entry *top;

	if (wm1_thread_state.deferred_sp)
		wm1_push_deferred();
	top = wm1_thread_state.top;
	if (site != WM_SITE_FOREIGN)
		c.id = wmrt_hybrid_id(wm1_thread_state.id, site, sp, top ? top - 1 : NULL);
	c.prefix = wmrt_prefix_here();
	return c;
}

/* As wmrt_capture_pushed, where it is not known that the call was pushed. */
static inline wm_context wmrt_capture_at(uint32_t site, uint64_t sp)
{
	if (WMRT_UNLIKELY(wmrt_has_own_events) && site < WM1_SITE_PROGRAM)
		return (wm_context){.prefix = WM_PREFIX_NOT_KEPT, .epoch = WM_EPOCH_COMPILED};
	return wmrt_capture_pushed(site, sp);
}

/* Where the stack pointer at the site is not known, and not needed: no program with hybrid encoding has such sites of its own. */
static inline wm_context wmrt_capture(uint32_t site)
{
	return wmrt_capture_at(site, 0);
}

#endif
