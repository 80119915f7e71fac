/*
 * stack.h - the context stacks of threads and coroutines.
 */
#ifndef WM_RUNTIME_CONTEXTS_STACK_H
#define WM_RUNTIME_CONTEXTS_STACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/thread.h"
#include "waymark/abi.h"

/* The first 32 bytes of a segment: shares its place and the field `prefix` with an entry. */
struct wmrt_segment {
	_Atomic(struct wmrt_segment *) next;
	struct wmrt_segment *previous; /* NULL in the first */
	uint32_t origin_low;           /* of a coroutine's first: struct wm1_origin, or WM1_ORIGIN_NONE */
	uint32_t prefix;     /* of the first: what the stack stands on, 0 before its first capture; of others: 0 */
	uint32_t is_discard; /* it stands in for one that there is no memory for */
	uint32_t origin_high;
};
_Static_assert(sizeof(struct wmrt_segment) == sizeof(struct wm1_entry), "slot 0 is one entry");

enum {
	WMRT_SEGMENT_ENTRIES = WM1_SEGMENT_BYTES / sizeof(struct wm1_entry),
};

/* Private thread-local state; written by its own thread and by handlers on it. */
struct wmrt_stack {
	struct wm1_entry *before_discard; /* top when the discard segment was entered */
	struct wmrt_segment *first;       /* of the thread's own stack; NULL before its first push */
	uint32_t base_prefix;             /* what the thread's stack stands on, 0 before its first capture */
};
extern _Thread_local struct wmrt_stack wmrt_stack __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* WM_PREFIX_PROCESS or WM_PREFIX_THREAD. */
uint32_t wmrt_kind_of_root(void);
/* The call in progress that has been put off is on top already: what pushes it has been interrupted. */
bool wmrt_deferred_is_pushed(const struct wm1_entry *top, const volatile struct wm1_thread *thread);
/* The prefix that this thread's stack stands on. The first call makes the recording. */
uint32_t wmrt_base_prefix(void);
/* A free entry with one free slot below it, for a signal handler that may have interrupted a push. */
struct wm1_entry *wmrt_entry_for_signal(void);
/* The place of the entry above one that is not the last. */
struct wm1_entry *wmrt_entry_above(struct wm1_entry *entry);
/* The value of top if `entry` is the lowest one dropped. */
struct wm1_entry *wmrt_top_without(struct wm1_entry *entry);
/* A stack of its own with that root, for a coroutine: the first free entry. NULL without memory. */
struct wm1_entry *wmrt_stack_new(uint32_t prefix);
/* Makes later calls stand on the prefix, until top and id have their former values. sp: above the frames of what is called. */
void wmrt_push_root(uint32_t prefix, uint64_t sp);
/* Makes a coroutine's stack stand on origin's context, whose number is prefix. */
void wmrt_stack_begin(struct wm1_entry *first, uint32_t prefix, const struct wm1_origin *origin);
/* NULL: none, or a thread's stack. */
struct wm1_origin *wmrt_stack_origin(const struct wmrt_segment *first);
/* Is it the first segment of this thread's own stack, and not of a coroutine's? */
bool wmrt_stack_is_of_thread(const struct wmrt_segment *first);

/* As a push of the call in progress that has been put off. */
static inline void wmrt_write_deferred(volatile struct wm1_entry *entry, const volatile struct wm1_thread *thread)
{
	entry->id = thread->id;
	entry->sp = thread->deferred_sp;
	entry->site = thread->deferred_site;
	entry->prefix = 0;
	entry->run = 0;
	entry->history = thread->history;
}

/* Slot 0 of a segment. */
static inline int wmrt_entry_is_slot(const struct wm1_entry *entry)
{
	return ((uintptr_t)entry & (WM1_SEGMENT_BYTES - 1)) == 0;
}

static inline struct wmrt_segment *wmrt_segment_of(const struct wm1_entry *entry)
{
	return (struct wmrt_segment *)((uintptr_t)entry & ~(uintptr_t)(WM1_SEGMENT_BYTES - 1));
}

/* The entry under `entry`, or the first segment's slot 0. `entry` is no slot 0. */
static inline struct wm1_entry *wmrt_entry_below(struct wm1_entry *entry)
{
	struct wmrt_segment *segment = wmrt_segment_of(entry);

	if (entry - 1 > (struct wm1_entry *)segment || !segment->previous)
		return entry - 1;
	return (struct wm1_entry *)segment->previous + WMRT_SEGMENT_ENTRIES - 1;
}

/* A handler's (signal.c): what it pushes stands on [signal]. */
static inline int wmrt_entry_is_signal(const struct wm1_entry *entry)
{
	return entry->prefix == WM_PREFIX_SIGNAL && entry->run == 0 && entry->site == 0;
}

/* Entries above it stand on its prefix and not on those below: a handler's entry, or one of wmrt_push_root. */
static inline int wmrt_entry_is_root(const struct wm1_entry *entry)
{
	return !wmrt_entry_is_slot(entry) && entry->prefix && !entry->run;
}

/* How the history (waymark/abi.h) starts again behind it: WM1_SP_RESTARTS or WM1_SP_SPILLS; 0: it goes on. */
static inline uint32_t wmrt_entry_marks(const struct wm1_entry *entry)
{
	uint32_t marks = (uint32_t)entry->sp & WM1_SP_MARKS;

	return marks == WM1_SP_RESTARTS || marks == WM1_SP_SPILLS ? marks : 0;
}

/* The history with which that begins which stands on the entry; NULL: nothing is pushed. */
static inline uint32_t wmrt_history_above(const struct wm1_entry *entry)
{
	if (!entry || wmrt_entry_is_slot(entry) || wmrt_entry_is_root(entry))
		return WM1_HISTORY_NONE;
	switch (wmrt_entry_marks(entry)) {
	case WM1_SP_RESTARTS:
		return WM1_HISTORY_NONE;
	case WM1_SP_SPILLS:
		return 0;
	default:
		return entry->history;
	}
}

/* What stands on the entry begins with WM1_HISTORY_NONE, as one look tells: so it is mostly. */
static inline bool wmrt_entry_is_plain(const struct wm1_entry *entry)
{
	return entry->history == WM1_HISTORY_NONE && !(entry->sp & WM1_SP_MARKS);
}

/* In the segment that stands in when there is no memory. */
static inline int wmrt_entry_is_discard(const struct wm1_entry *entry)
{
	return (int)wmrt_segment_of(entry)->is_discard;
}

#endif
