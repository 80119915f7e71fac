/*
 * paths.c - wm1_path_enter: a thread's first entry of a function.
 *
 * Counters without room are in `discard`, one piece of memory for all: nobody reads it, and nothing is tried again. Word 1 of
 * it is 0, of every other table it points to what path_table.h knows of it.
 */
#include <string.h>

#include "recorder/agent.h"
#include "recorder/file.h"
#include "runtime/paths/path_space.h"
#include "runtime/paths/path_table.h"
#include "runtime/paths/paths.h"
#include "recorder/process.h"
#include "waymark/runtime.h"

/* As large as the largest table. Written by all threads, read by none; word 1 stays 0. */
static uint64_t discard[2 + (2u << WM1_PATHS_MAX_BITS)] __attribute__((aligned(64)));
_Static_assert(2u << WM1_PATHS_MAX_BITS >= WM1_PATHS_MAX_COUNTERS, "discard is as large as any table");

/* Do they all fit in it, and do without word 1? */
static bool is_good_bundle(const struct wm1_path_function *functions)
{
	size_t len_bytes = 0;
	uint32_t i;

	for (i = 0; i <= functions->more; i++) {
		const struct wm1_path_function *f = &functions[i];

		if (f->kind != WM1_PATHS_ARRAY || f->entry_count > WM1_PATHS_MAX_COUNTERS || (i && f->more))
			return false;
		len_bytes += wmrt_path_record_bytes(f->kind, f->entry_count);
		if (len_bytes > sizeof discard)
			return false;
	}
	return true;
}

/* Is it what this runtime knows, and no larger than it should be? */
static bool is_good(const struct wm1_path_function *function)
{
	if (function->abi_version != WM1_ABI_VERSION || !function->ehdr)
		return false;
	if (function->more)
		return is_good_bundle(function);
	if (function->kind == WM1_PATHS_ARRAY)
		return function->entry_count <= WM1_PATHS_MAX_COUNTERS;
	if (function->kind == WM1_PATHS_PLAN && function->entry_count && !function->checks)
		return false;
	return (function->kind == WM1_PATHS_HASH || function->kind == WM1_PATHS_PLAN) &&
	       function->bits <= WM1_PATHS_MAX_BITS &&
	       (function->entry_count == 0 || function->entry_count == UINT32_C(1) << function->bits);
}

static struct wmrt_path_table *table_for(const struct wm1_path_function *function, struct wmrt_thread *thread)
{
	struct wmrt_path_table *table = wmrt_path_table_find(function, thread);
	struct wmrt_guard guard;

	if (table) {
		if (table->owner != atomic_load(&thread->owner))
			wmrt_path_table_adopt(table, atomic_load(&thread->owner));
		return table;
	}
	wmrt_lock(&guard);
	table = wmrt_path_table_make(function, thread);
	wmrt_unlock(&guard);
	return table;
}

uint64_t *wmrt_path_enter(const struct wm1_path_function *function, uint64_t **thread_slot)
{
	struct wmrt_path_table *table = NULL;
	struct wmrt_thread *thread = NULL;
	uint64_t *words = discard;

	/* Opening first: it looks for a fork. */
	if (is_good(function) && wmrt_file_open()) {
		thread = wmrt_thread_self();
		table = thread ? table_for(function, thread) : NULL;
	}
	if (table) {
		words = wmrt_path_words(table);
	} else {
		wmrt_file_drop(offsetof(struct wmk_header, dropped_path_tables));
		if (thread)
			wmrt_path_thread(thread)->discard_count++;
	}
	*thread_slot = words;
	return words;
}

uint64_t *wm1_path_enter(const struct wm1_path_function *function, uint64_t **thread_slot)
{
	return wmrt_agent() ? wmrt_agent()->path_enter(function, thread_slot) : wmrt_path_enter(function, thread_slot);
}
