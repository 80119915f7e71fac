/*
 * capture.c - captures: the context stack becomes a prefix number, lazily.
 *
 * A push only stores. The first capture after it walks down to the nearest entry that is already known and up again,
 * and notes in each entry what it is (how many equal entries end there, and the prefix below them). So each entry is
 * looked at once per push, a recursion of N equal pushes makes two nodes and not N, and a second capture is one load:
 *
 *      entry     id site | run below            nodes
 *      top-1     a  7    | 3   P      ---->     N = (P, a, 7, run 3)       one node for the capture
 *                a  7    | 2   P
 *                a  7    | 1   P
 *                b  4    | 1   Q      ---->     P = (Q, b, 4, run 1)       a node where the run ends
 *
 * The prefix below a run is that of the entry under it, which has been interned by then. Where functions have called themselves between two
 * pushes, a node with the history (waymark/abi.h) stands between theirs.
 */
#include "runtime/contexts/capture.h"
#include "runtime/contexts/origin.h"

#include <stdatomic.h>

#include "recorder/agent.h"
#include "recorder/event.h"
#include "recorder/image.h"
#include "recorder/prefix_table.h"
#include "recorder/task.h"
#include "recorder/token.h"
#include "runtime/heap/heap.h"
#include "runtime/paths/paths.h"

/* Pushes that are whole are in force: what was called since the last of them is not known, which readers say. */
uint32_t wmrt_signal_prefix(struct wm1_entry *entry)
{
	uint32_t prefix;

	if (entry->below)
		return entry->below;
	prefix = wmrt_prefix((struct wm1_entry *)(uintptr_t)entry->id);
	if (prefix != WM_PREFIX_LOST)
		prefix = wmrt_intern(prefix, WM_EPOCH_COMPILED, 0, WM_SITE_SIGNAL, 1);
	entry->below = prefix == WM_PREFIX_LOST ? WM_PREFIX_SIGNAL : prefix;
	return entry->below;
}

uint32_t wmrt_with_history_slow(uint32_t prefix, const struct wm1_entry *top, uint32_t history)
{
	if (prefix == WM_PREFIX_LOST || history == wmrt_history_above(top ? top - 1 : NULL))
		return prefix;
	return wmrt_intern(prefix, WM_EPOCH_COMPILED, history, WM_SITE_HISTORY, 1);
}

/* The first of the equal pushes that end with `entry`. */
static struct wm1_entry *first_of_run(struct wm1_entry *entry)
{
	uint32_t left = entry->run - 1;

	while (left) {
		uint32_t here = (uint32_t)(entry - (struct wm1_entry *)wmrt_segment_of(entry)) - 1;
		uint32_t steps = left < here ? left : here;

		entry -= steps;
		left -= steps;
		if (left) {
			entry = wmrt_entry_below(entry);
			left--;
		}
	}
	return entry;
}

static __attribute__((noinline)) uint32_t entry_prefix_slow(struct wm1_entry *entry);

static inline uint32_t entry_prefix(struct wm1_entry *entry)
{
	bool is_known = entry->prefix && entry->prefix != WM_PREFIX_SIGNAL;

	return WMRT_LIKELY(is_known) ? entry->prefix : entry_prefix_slow(entry);
}

/* Of one that ends a run which begins with `first`. */
static inline uint32_t entry_intern(struct wm1_entry *entry, struct wm1_entry *first)
{
	struct wm1_entry *below = wmrt_entry_below(first);
	uint32_t prefix = wmrt_with_history(entry_prefix(below), below + 1, first->history);

	return entry->prefix = wmrt_intern(prefix, WM_EPOCH_COMPILED, wmrt_entry_id(entry), entry->site, entry->run);
}

static uint32_t entry_prefix_slow(struct wm1_entry *entry)
{
	if (wmrt_entry_is_signal(entry))
		return wmrt_signal_prefix(entry);
	return entry->prefix ? entry->prefix : entry_intern(entry, first_of_run(entry));
}

/* Fills in run from the entry below, which has its prefix if the run begins here. A handler may leave with siglongjmp in between: run is stored last.
 * Slot 0 of a stack and the entries of signal handlers have a prefix and no run: nothing goes on from there. */
static inline void entry_learn(struct wm1_entry *entry, struct wm1_entry *below)
{
	int is_run = below->run && wmrt_entry_repeats(entry, below);

	if (!is_run)
		entry_prefix(below);
	atomic_signal_fence(memory_order_release);
	entry->run = is_run ? below->run + 1 : 1;
}

__attribute__((noinline)) uint32_t wmrt_prefix_slow(struct wm1_entry *top)
{
	struct wm1_entry *last, *entry;

	if (!top)
		return wmrt_base_prefix();
	last = entry = top - 1;
	if (wmrt_entry_is_discard(last))
		return WM_PREFIX_LOST;
	while (!entry->run && !entry->prefix) {
		if (wmrt_entry_is_slot(entry)) /* the first capture of this thread */
			entry->prefix = wmrt_base_prefix();
		else
			entry = wmrt_entry_below(entry);
	}
	while (entry != last) {
		struct wm1_entry *above = wmrt_entry_above(entry);

		entry_learn(above, entry);
		entry = above;
	}
	return last->run == 1 && !last->prefix ? entry_intern(last, last) : entry_prefix_slow(last);
}

/* sp: of the call. */
static inline wm_context capture(uint32_t site, uint64_t sp, const void *return_address)
{
	return WMRT_UNLIKELY(wmrt_agent()) ? wmrt_agent()->capture(return_address)
					   : wmrt_in_task(wmrt_capture_at(site, sp));
}

static void event(uint32_t site, uint64_t sp, const void *return_address, const char *name, uint64_t value)
{
	if (wmrt_agent())
		wmrt_agent()->event(return_address, name, value);
	else
		wmrt_event(wmrt_in_task(wmrt_capture_at(site, sp)), name, value);
}

wm_context wm1_capture(uint32_t site)
{
	return capture(site, WMRT_CALLER_SP(), __builtin_return_address(0));
}

/* Not rewritten by the instrumenter: the caller is foreign code. In a program that only counts paths nothing keeps contexts. */
wm_context wm_capture(void)
{
	if (!wmrt_agent() && !wmrt_image_of(WM1_SITE_PROGRAM) && !wmrt_image_of(WM_SITE_FIRST))
		return (wm_context){.epoch = WM_EPOCH_NONE};
	return capture(WM_SITE_FOREIGN, 0, __builtin_return_address(0));
}

void wm1_event(uint32_t site, const char *name, uint64_t value)
{
	event(site, WMRT_CALLER_SP(), __builtin_return_address(0), name, value);
}

void wm_event(const char *name, uint64_t value)
{
	event(WM_SITE_FOREIGN, 0, __builtin_return_address(0), name, value);
}

int wm_token(wm_context c, char *buf, size_t size)
{
	return wmrt_agent() ? wmrt_agent()->token(&c, buf, size) : wmrt_token(c, buf, size);
}

wm_context wmrt_path_context(const void *return_address, uint32_t site)
{
	(void)return_address;
	return wmrt_in_task(wmrt_capture(site));
}

/* The allocator is foreign code: its call is pushed, if it has not been yet. */
wm_context wmrt_heap_context(const void *return_address, enum wm1_heap_function function, bool *ret_is_settled)
{
	(void)return_address;
	(void)function;
	*ret_is_settled = true;
	return wmrt_in_task(wmrt_capture(WM_SITE_FOREIGN));
}

static bool heap_point_at(uint32_t site, uint64_t id, uint32_t prefix, struct wmrt_memo_key *ret)
{
	*ret = (struct wmrt_memo_key){{site, id, prefix}};
	return prefix != WM_PREFIX_LOST;
}

static __attribute__((noinline)) bool heap_point_slow(uint32_t site, uint64_t id, struct wmrt_memo_key *ret)
{
	return heap_point_at(site, id, wmrt_prefix_here(), ret);
}

/*
 * Of a call whose push has been put off: what is below, and what would be pushed. That is the whole of wmrt_heap_context, as long as the push would
 * begin a run (its site is not that below it) and is not there already (then its site is that below it, too). So the caller need not take a push off,
 * and what is below keeps its prefix from one call to the next.
 */
bool wmrt_heap_point(const void *return_address, enum wm1_heap_function function, struct wmrt_memo_key *ret)
{
	const volatile struct wm1_thread *thread = &wm1_thread_state;
	const struct wm1_entry *top = thread->top;
	uint64_t sp = thread->deferred_sp, id = 0;
	uint32_t site = WM_SITE_FOREIGN, prefix = wmrt_stack.base_prefix;
	bool is_plain = thread->history == WM1_HISTORY_NONE;

	(void)return_address;
	(void)function;
	/* A task is part of the context, an offset of the stack part of the id. */
	if (WMRT_UNLIKELY(wmrt_tasks.count || wmrt_has_hybrid || wmrt_has_own_events))
		return false;
	if (sp) {
		site = thread->deferred_site;
		id = thread->id;
		if (WMRT_UNLIKELY(sp & WM1_SP_MARKS || (top && top[-1].site == site)))
			return false;
	}
	if (top) {
		prefix = top[-1].prefix;
		is_plain &= wmrt_entry_is_plain(top - 1);
	}
	if (WMRT_UNLIKELY(!is_plain || !prefix || prefix == WM_PREFIX_SIGNAL))
		return heap_point_slow(site, id, ret);
	return heap_point_at(site, id, prefix, ret);
}
