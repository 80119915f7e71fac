/*
 * origin_prefix.c - the numbers of what a stack stands on: of the context in which its thread or coroutine was created (origin.c).
 */
#include "runtime/contexts/capture.h"
#include "runtime/contexts/origin.h"

#include <stddef.h>

#include "recorder/file.h"
#include "recorder/prefix_table.h"
#include "recorder/task.h"
#include "runtime/contexts/stack.h"
#include "waymark/runtime.h"

enum {
	CREATORS = 32, /* on the stack, which may be a handler's */
};

static uint32_t prefix_of(const struct wm1_origin *origin)
{
	return __atomic_load_n(&origin->prefix, __ATOMIC_ACQUIRE);
}

/* Its creator has a prefix. */
static void intern_origin(struct wm1_origin *origin)
{
	uint32_t prefix = origin->creator ? prefix_of(origin->creator) : origin->root;
	const struct wm1_push *pushes = wmrt_origin_pushes(origin);
	uint32_t none = 0;
	uint32_t i;

	for (i = 0; i < origin->push_count && prefix != WM_PREFIX_LOST; i++)
		prefix = wmrt_intern(prefix, WM_EPOCH_COMPILED, pushes[i].id, pushes[i].site, pushes[i].run);
	if (prefix != WM_PREFIX_LOST)
		prefix = wmrt_intern(prefix, WM_EPOCH_COMPILED, 0, WM_SITE_THREAD, 1);
	if (prefix == WM_PREFIX_LOST)
		prefix = WM_PREFIX_THREAD;
	__atomic_compare_exchange_n(&origin->prefix, &none, prefix, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Creators come first, and may be more than the stack has room for: some of the outermost at a time. */
uint32_t wmrt_origin_prefix(struct wm1_origin *origin)
{
	while (!prefix_of(origin)) {
		struct wm1_origin *outermost[CREATORS];
		struct wm1_origin *at;
		size_t end = 0;
		size_t count;

		for (at = origin; at && !prefix_of(at); at = at->creator)
			outermost[end++ % CREATORS] = at;
		for (count = end < CREATORS ? end : CREATORS; count; count--)
			intern_origin(outermost[--end % CREATORS]);
	}
	return prefix_of(origin);
}

uint32_t wmrt_base_prefix(void)
{
	struct wmrt_stack *local = &wmrt_stack;

	if (!local->base_prefix) {
		struct wm1_origin *origin = wm1_thread_state.origin;

		wmrt_file_open();
		local->base_prefix = origin ? wmrt_origin_prefix(origin) : wmrt_kind_of_root();
	}
	return local->base_prefix;
}

uint32_t wmrt_task_root(void)
{
	return wmrt_tasks.count ? wmrt_in_task(wmrt_capture_pushed(WM_SITE_FOREIGN, 0)).prefix : 0;
}

/* Where nothing is ever pushed (programs that only count paths) no recording is made for it. */
static uint32_t prefix_here(void)
{
	const struct wm1_thread *thread = &wm1_thread_state;

	return thread->top || thread->origin ? wmrt_prefix(thread->top) : wmrt_kind_of_root();
}

/* The coroutine's own begins anew. */
static uint32_t without_history(uint32_t prefix)
{
	const struct wm1_entry *top = wm1_thread_state.top;

	if (prefix == WM_PREFIX_LOST || wmrt_history_above(top ? top - 1 : NULL) == WM1_HISTORY_NONE)
		return prefix;
	return wmrt_intern(prefix, WM_EPOCH_COMPILED, 0, WM_SITE_HISTORY, 1);
}

uint32_t wmrt_coroutine_prefix(void)
{
	return without_history(prefix_here());
}
