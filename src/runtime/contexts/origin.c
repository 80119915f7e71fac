/*
 * origin.c - copies of context stacks, for threads and coroutines: what creates one goes on, so its stack cannot be looked at later.
 *
 *      creator's stack              origin                            prefixes, at the first capture on a thread
 *
 *      pthread_create 9   --->      pushes: (0, 7) x 1                 P = (creator's, 0, 7, run 1)
 *      f              4                     (0, 4) x 2   --->          Q = (P, 0, 4, run 2)
 *      f              4                     (0, 9) x 1                 R = (Q, 0, 9, run 1)
 *      main           7             creator: that thread's origin      base of the thread's stack = (R, 0, WM_SITE_THREAD, 1)
 *
 * A program that creates threads and captures nothing makes no recording, so nothing is interned before a capture asks
 * for it (origin_prefix.c). A coroutine has its prefix from the beginning, which is that of the creator's stack itself. Equal origins are found by a hash: a program that creates threads at the same place for ever takes memory once.
 */
#include "runtime/contexts/origin.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "recorder/index.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "runtime/contexts/hybrid.h"
#include "runtime/contexts/stack.h"
#include "waymark/runtime.h"

enum {
	BUCKETS = 1 << 16,
	ARENA_BYTES = 1 << 16,
};

struct known {
	struct known *next; /* in its bucket */
	uint64_t hash;
	struct wm1_origin origin;
};

/* All under the lock. */
static struct known **buckets; /* BUCKETS of them; NULL before the first origin */
static char *arena;
static size_t arena_left_bytes;

/* Where a walk over pushes from the innermost is: in front of an entry, or of the history between it and what is above. */
struct place {
	struct wm1_entry *entry; /* NULL: nothing is pushed */
	uint32_t history;        /* of what stands on it */
};

/* The prefix that the pushes of a stack stand on, and where a walk over them begins. */
struct stack {
	struct place last;
	struct wm1_origin *creator;
	uint32_t root;
	uint32_t is_coroutine;
	uint32_t push_count;
	uint64_t hash;
};

static bool is_base(const struct wm1_entry *entry)
{
	return !entry || wmrt_entry_is_slot(entry) || wmrt_entry_is_root(entry);
}

/* The next run of equal pushes, or a history as a push of WM_SITE_HISTORY. False at the base, which is *at then. */
static bool next_push(struct place *at, struct wm1_push *ret)
{
	const uint32_t history = wmrt_history_above(at->entry);
	struct wm1_entry *entry = at->entry;
	struct wm1_entry *first;

	if (at->history != history) {
		*ret = (struct wm1_push){.id = at->history, .site = WM_SITE_HISTORY, .run = 1};
		at->history = history;
		return true;
	}
	if (is_base(entry))
		return false;
	*ret = (struct wm1_push){.id = wmrt_entry_id(entry), .site = entry->site};
	do {
		ret->run++;
		first = entry;
		entry = wmrt_entry_below(entry);
	} while (!is_base(entry) && wmrt_entry_repeats(first, entry));
	*at = (struct place){entry, first->history};
	return true;
}

static void find_base(struct stack *stack, struct wm1_entry *base)
{
	if (base && wmrt_entry_is_root(base)) {
		stack->root = wmrt_entry_is_signal(base) ? wmrt_signal_prefix(base) : base->prefix;
	} else if (base && !wmrt_stack_is_of_thread((const struct wmrt_segment *)(uintptr_t)base)) {
		/* a coroutine's stack */
		stack->creator = wmrt_stack_origin(wmrt_segment_of(base));
		stack->root = stack->creator ? 0 : base->prefix ? base->prefix : WM_PREFIX_THREAD;
	} else {
		stack->creator = wm1_thread_state.origin;
		stack->root = stack->creator ? 0 : wmrt_kind_of_root();
	}
}

static struct stack stack_here(uint32_t is_coroutine)
{
	struct wm1_entry *top = wm1_thread_state.top;
	struct stack stack = {.last = {top ? top - 1 : NULL, wm1_thread_state.history},
			      .is_coroutine = is_coroutine,
			      .hash = is_coroutine};
	struct place at = stack.last;
	struct wm1_push push;

	for (; next_push(&at, &push); stack.push_count++) {
		stack.hash = wmrt_hash(stack.hash, push.id);
		stack.hash = wmrt_hash(stack.hash, (uint64_t)push.site << 32 | push.run);
	}
	find_base(&stack, at.entry);
	stack.hash = wmrt_hash(stack.hash, (uintptr_t)stack.creator ^ stack.root);
	return stack;
}

/* In a task the context is one number, which has who enqueued it. */
static struct stack stack_of_task(uint32_t root)
{
	struct stack stack = {.last.history = WM1_HISTORY_NONE, .root = root};

	stack.hash = wmrt_hash(0, stack.root);
	return stack;
}

static bool is_same(const struct wm1_origin *origin, const struct stack *stack)
{
	struct place at = stack->last;
	struct wm1_push push;
	uint32_t i = origin->push_count;

	if (origin->creator != stack->creator || origin->root != stack->root || i != stack->push_count ||
	    origin->is_coroutine != stack->is_coroutine)
		return false;
	while (next_push(&at, &push)) {
		const struct wm1_push *known = &wmrt_origin_pushes(origin)[--i];

		if (known->id != push.id || known->site != push.site || known->run != push.run)
			return false;
	}
	return true;
}

static void *arena_alloc(size_t len_bytes)
{
	char *at;

	if (len_bytes > ARENA_BYTES / 4)
		return wmrt_map_memory(len_bytes);
	if (len_bytes > arena_left_bytes) {
		arena = wmrt_map_memory(ARENA_BYTES);
		arena_left_bytes = arena ? ARENA_BYTES : 0;
		if (!arena)
			return NULL;
	}
	at = arena;
	arena += len_bytes;
	arena_left_bytes -= len_bytes;
	return at;
}

static struct known *origin_new(const struct stack *stack)
{
	struct known *known = arena_alloc(sizeof *known + stack->push_count * sizeof(struct wm1_push));
	struct place at = stack->last;
	uint32_t i = stack->push_count;
	struct wm1_push push;

	if (!known)
		return NULL;
	known->hash = stack->hash;
	known->origin.creator = stack->creator;
	known->origin.root = stack->root;
	known->origin.is_coroutine = stack->is_coroutine;
	known->origin.push_count = i;
	while (next_push(&at, &push))
		((struct wm1_push *)(&known->origin + 1))[--i] = push;
	return known;
}

/* Under the lock. */
static struct wm1_origin *find_or_add(const struct stack *stack)
{
	struct known **bucket;
	struct known *known;

	if (!buckets)
		buckets = wmrt_map_memory(BUCKETS * sizeof *buckets);
	if (!buckets)
		return NULL;
	bucket = &buckets[stack->hash % BUCKETS];
	for (known = *bucket; known; known = known->next)
		if (known->hash == stack->hash && is_same(&known->origin, stack))
			return &known->origin;
	known = origin_new(stack);
	if (!known)
		return NULL;
	known->next = *bucket;
	*bucket = known;
	return &known->origin;
}

static struct wm1_origin *origin_here(uint32_t is_coroutine)
{
	struct wm1_entry *top;
	struct wm1_origin *origin;
	struct wmrt_guard guard;
	struct stack stack;
	uint32_t task;

	wm1_push_deferred();
	top = wm1_thread_state.top;
	if ((!top && !wm1_thread_state.origin) || (top && wmrt_entry_is_discard(top - 1)))
		return NULL;
	task = is_coroutine ? 0 : wmrt_task_root();
	stack = task ? stack_of_task(task) : stack_here(is_coroutine);
	if (!stack.push_count && !stack.creator && stack.root < WM_PREFIX_SIGNAL)
		return NULL;
	wmrt_check_fork();
	wmrt_lock(&guard);
	origin = find_or_add(&stack);
	wmrt_unlock(&guard);
	return origin;
}

struct wm1_origin *wmrt_origin_here(void)
{
	return origin_here(0);
}

struct wm1_origin *wmrt_origin_of_coroutine(uint32_t prefix)
{
	struct wm1_origin *origin = origin_here(1);

	if (origin)
		__atomic_store_n(&origin->prefix, prefix, __ATOMIC_RELEASE);
	return origin;
}
