/*
 * thread.c - thread-local state, records of threads, and the segments of the context stacks.
 *
 *     thread           segment 0 (64 KiB, aligned)      segment 1
 *     .-------.       .--------------------------.     .------------------.
 *     | stack |------>| slot 0: next, prefix     |---->| slot 0: previous |
 *     | owner |       | entry 1                  |     | entry 1          |
 *     '-------'       | ...                      |     | ...              |
 *                     | entry 2047               |     '------------------'
 *                     '--------------------------'
 *
 * Segments of a stack are kept for its next descent. A handler that interrupts wm1_grow may add the segment first;
 * the loser of the compare-and-swap gives its own back.
 */
#include "recorder/thread.h"

#include <stdbool.h>
#include <stddef.h>

#include "recorder/client.h"
#include "recorder/file.h"
#include "recorder/origin.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "waymark/runtime.h"

_Thread_local struct wm1_thread wm1_thread_state __attribute__((tls_model("initial-exec")));
_Thread_local struct wmrt_local wmrt_local __attribute__((tls_model("initial-exec")));

/* All records, newest first; only ever pushed to. */
static _Atomic(struct wmrt_thread *) threads;
static _Atomic uint32_t thread_count;
/* Where the search for a dead owner goes on; a hint. */
static _Atomic(struct wmrt_thread *) cursor;

enum {
	ENTRIES = WM1_SEGMENT_BYTES / sizeof(struct wm1_entry),
	PROBES = 8, /* owners looked at before a new record is made */
	SLOT_ALIGN = 16,
};

/* A thread whose record was first needed by its vfork child, which cannot know its number: never taken for dead. */
static const uint32_t NOBODY_KNOWS = UINT32_MAX;

/* Stands in when there is no memory: shared by all threads, its contents mean nothing. Twice the size, to hold an
 * aligned one. */
static char scrap[2 * WM1_SEGMENT_BYTES];

static struct wmrt_segment *scrap_segment(void)
{
	struct wmrt_segment *segment = (struct wmrt_segment *)(((uintptr_t)scrap + WM1_SEGMENT_BYTES - 1) &
							       ~(uintptr_t)(WM1_SEGMENT_BYTES - 1));

	segment->is_scrap = 1;
	return segment;
}

uint32_t wmrt_kind_of_root(void)
{
	int is_main = wmrt_process.main_thread ? wmrt_process.main_thread == (void *)&wmrt_local
					       : wmrt_gettid() == wmrt_getpid();

	return is_main ? WM_PREFIX_PROCESS : WM_PREFIX_THREAD;
}

uint32_t wmrt_base_prefix(void)
{
	struct wmrt_local *local = &wmrt_local;

	if (!local->base_prefix) {
		struct wm1_origin *origin = wm1_thread_state.origin;

		wmrt_file_open();
		local->base_prefix = origin ? wmrt_origin_prefix(origin) : wmrt_kind_of_root();
	}
	return local->base_prefix;
}

/* 64 KiB at a multiple of it: maps twice as much and gives the ends back. */
static struct wmrt_segment *segment_new(struct wmrt_segment *previous, uint32_t prefix)
{
	char *raw = wmrt_map_memory(2 * WM1_SEGMENT_BYTES);
	char *at;
	struct wmrt_segment *segment;

	if (!raw)
		return NULL;
	at = (char *)(((uintptr_t)raw + WM1_SEGMENT_BYTES - 1) & ~(uintptr_t)(WM1_SEGMENT_BYTES - 1));
	if (at > raw)
		wmrt_unmap(raw, (size_t)(at - raw));
	if (at < raw + WM1_SEGMENT_BYTES)
		wmrt_unmap(at + WM1_SEGMENT_BYTES, (size_t)(raw + WM1_SEGMENT_BYTES - at));
	segment = (struct wmrt_segment *)at;
	segment->previous = previous;
	segment->prefix = prefix;
	return segment;
}

static struct wm1_entry *segment_first(struct wmrt_segment *segment)
{
	return (struct wm1_entry *)segment + 1;
}

/* The segment after `segment`, made if need be; NULL without memory. */
static struct wmrt_segment *segment_next(struct wmrt_segment *segment)
{
	struct wmrt_segment *next = atomic_load_explicit(&segment->next, memory_order_acquire);
	struct wmrt_segment *made;

	if (next)
		return next;
	made = segment_new(segment, 0);
	if (!made)
		return NULL;
	if (atomic_compare_exchange_strong(&segment->next, &next, made))
		return made;
	wmrt_unmap(made, WM1_SEGMENT_BYTES);
	return next;
}

/* My own number is that of a dead thread too: I have no record yet. */
static bool is_dead(uint32_t owner, uint32_t tid)
{
	return owner == 0 || owner == tid || !wmrt_thread_is_alive(wmrt_process.pid, owner);
}

/* With a count of owners, so that a thread number that comes back does not look like the dead owner. */
static uint64_t next_owner(uint64_t owner, uint32_t tid)
{
	return ((owner >> 32) + 1) << 32 | tid;
}

/* Takes over a record whose owner is dead. A fork's child leaves the inherited ones alone. */
static struct wmrt_thread *thread_take_over(uint32_t tid)
{
	struct wmrt_thread *thread = atomic_load(&cursor);
	int i;

	for (i = 0; i < PROBES; i++) {
		uint64_t owner;

		if (!thread)
			thread = atomic_load(&threads);
		if (!thread)
			return NULL;
		owner = atomic_load(&thread->owner);
		if (atomic_load(&thread->generation) == wmrt_process.generation && is_dead((uint32_t)owner, tid) &&
		    atomic_compare_exchange_strong(&thread->owner, &owner, next_owner(owner, tid))) {
			atomic_store(&cursor, thread);
			return thread;
		}
		thread = thread->next;
	}
	atomic_store(&cursor, thread);
	return NULL;
}

static uint32_t align_slot(size_t len_bytes)
{
	return (uint32_t)((len_bytes + SLOT_ALIGN - 1) & ~(size_t)(SLOT_ALIGN - 1));
}

/* Gives each client its place behind a record; the same at each call. Returns the length of a record with its slots. */
static uint32_t place_slots(void)
{
	uint32_t len_bytes = align_slot(sizeof(struct wmrt_thread));

	for (const struct wmrt_client *const *c = wmrt_clients; *c; c++) {
		struct wmrt_client_slot *slot = (*c)->slot;

		if (!slot)
			continue;
		atomic_store(&slot->off, len_bytes);
		len_bytes += align_slot(slot->len_bytes);
	}
	return len_bytes;
}

/* A page each: little beside the segment or chunk that it is for. */
static struct wmrt_thread *thread_new(uint32_t tid)
{
	struct wmrt_thread *thread = wmrt_map_memory(place_slots());
	struct wmrt_thread *head = atomic_load(&threads);

	if (!thread)
		return NULL;
	thread->number = atomic_fetch_add(&thread_count, 1);
	atomic_store(&thread->generation, wmrt_process.generation);
	atomic_store(&thread->owner, tid);
	do
		thread->next = head;
	while (!atomic_compare_exchange_weak(&threads, &head, thread));
	return thread;
}

/* After a fork the thread that forked keeps its stack; its event chunk is the parent's. */
static void thread_renew(struct wmrt_thread *thread, uint32_t tid)
{
	wmrt_unmap(atomic_exchange(&thread->events, NULL), WMK_CHUNK_BYTES);
	atomic_store(&thread->owner, tid);
	atomic_store(&thread->generation, wmrt_process.generation);
}

struct wmrt_thread *wmrt_thread_self(void)
{
	struct wmrt_local *local = &wmrt_local;
	struct wmrt_thread *thread = local->thread;
	uint32_t owner;

	if (WMRT_LIKELY(thread && local->generation == wmrt_process.generation))
		return thread;
	local->tid = wmrt_gettid();
	local->generation = wmrt_process.generation;
	if (thread) {
		thread_renew(thread, local->tid);
		return thread;
	}
	owner = wmrt_is_vfork_child() ? NOBODY_KNOWS : local->tid;
	thread = thread_take_over(owner);
	if (!thread)
		thread = thread_new(owner);
	/* A handler may have come first, with a record of its own that is in use by nobody now. */
	if (local->thread) {
		if (thread && thread != local->thread)
			atomic_store(&thread->owner, next_owner(atomic_load(&thread->owner), 0));
		return local->thread;
	}
	local->thread = thread;
	return thread;
}

/* The first segment of this thread; NULL without memory. */
static struct wmrt_segment *thread_stack(void)
{
	struct wmrt_thread *thread;
	struct wmrt_segment *stack;
	struct wmrt_segment *made;

	wmrt_check_fork();
	thread = wmrt_thread_self();
	if (!thread)
		return NULL;
	stack = atomic_load(&thread->stack);
	if (!stack) {
		made = segment_new(NULL, 0);
		if (!made)
			return NULL;
		if (atomic_compare_exchange_strong(&thread->stack, &stack, made))
			stack = made;
		else
			wmrt_unmap(made, WM1_SEGMENT_BYTES);
	}
	stack->prefix = wmrt_local.base_prefix;
	return stack;
}

/* The first entry that a push at the boundary `top` may use. */
static struct wm1_entry *grow_from(struct wm1_entry *top)
{
	struct wmrt_segment *segment;

	if (!top)
		segment = thread_stack();
	else if (wmrt_entry_is_scrap(top - 1))
		segment = NULL;
	else
		segment = segment_next(wmrt_segment_of(top - 1));
	if (!segment && !(top && wmrt_entry_is_scrap(top - 1)))
		wmrt_local.before_scrap = top;
	return segment_first(segment ? segment : scrap_segment());
}

struct wm1_entry *wm1_grow(void)
{
	return grow_from(wm1_thread_state.top);
}

void wm1_drop_tails(uint64_t return_slot)
{
	struct wm1_thread *thread = &wm1_thread_state;

	while (thread->top) {
		struct wm1_entry *last = thread->top - 1;

		if ((last->sp & ~(uint64_t)WM1_TAIL_ORDINALS) != return_slot)
			return;
		thread->id = last->id;
		thread->top = wmrt_top_without(last);
	}
}

static bool is_lowest(const struct wm1_entry *entry)
{
	const struct wmrt_segment *segment = wmrt_segment_of(entry);

	return entry == (const struct wm1_entry *)segment && !segment->previous;
}

/* The newest entry that was pushed at this stack pointer; NULL: none. */
static struct wm1_entry *find_push(struct wm1_entry *top, uint64_t sp)
{
	while (top && !is_lowest(top - 1)) {
		struct wm1_entry *entry = top - 1;

		if (entry == (struct wm1_entry *)wmrt_segment_of(entry))
			entry = (struct wm1_entry *)wmrt_segment_of(entry)->previous + ENTRIES - 1;
		if (entry->prefix == WM_PREFIX_SIGNAL && !entry->run && !entry->site) {
			top = (struct wm1_entry *)(uintptr_t)entry->id;
			continue;
		}
		if (entry->sp == sp)
			return entry;
		top = entry;
	}
	return NULL;
}

void wm1_put_back(uint64_t sp)
{
	volatile struct wm1_thread *thread = &wm1_thread_state;
	struct wm1_entry *top = thread->top;
	struct wm1_entry *entry = find_push(top, sp);

	if (!entry && top && wmrt_entry_is_scrap(top - 1))
		entry = find_push(wmrt_local.before_scrap, sp);
	if (!entry) {
		thread->id = UINT64_MAX;
		return;
	}
	thread->id = entry->id;
	thread->top = wmrt_top_without(entry);
}

struct wm1_entry *wmrt_entry_for_signal(void)
{
	struct wm1_entry *entry = wm1_thread_state.top;
	int i;

	for (i = 0; i < 2; i++) {
		if (((uintptr_t)entry & (WM1_SEGMENT_BYTES - 1)) == 0)
			entry = grow_from(entry);
		entry += i == 0;
	}
	return entry;
}

struct wm1_entry *wmrt_entry_below(struct wm1_entry *entry)
{
	struct wmrt_segment *segment = wmrt_segment_of(entry);

	if (entry - 1 > (struct wm1_entry *)segment || !segment->previous)
		return entry - 1;
	return (struct wm1_entry *)segment->previous + ENTRIES - 1;
}

struct wm1_entry *wmrt_entry_above(struct wm1_entry *entry)
{
	struct wmrt_segment *segment;

	if (((uintptr_t)(entry + 1) & (WM1_SEGMENT_BYTES - 1)) != 0)
		return entry + 1;
	segment = atomic_load_explicit(&wmrt_segment_of(entry)->next, memory_order_acquire);
	return segment ? segment_first(segment) : NULL;
}

struct wm1_entry *wmrt_top_without(struct wm1_entry *entry)
{
	struct wmrt_segment *segment = wmrt_segment_of(entry);

	if (entry != segment_first(segment) || !segment->previous)
		return entry;
	return (struct wm1_entry *)segment->previous + ENTRIES;
}

struct wm1_entry *wmrt_stack_new(uint32_t prefix)
{
	struct wmrt_segment *segment = segment_new(NULL, prefix);

	if (!segment)
		return NULL;
	wmrt_stack_begin(segment_first(segment), prefix, NULL);
	return segment_first(segment);
}

void wmrt_stack_begin(struct wm1_entry *first, uint32_t prefix, const struct wm1_origin *origin)
{
	struct wmrt_segment *segment = wmrt_segment_of(first);
	uint64_t address = origin ? (uintptr_t)origin : WM1_ORIGIN_NONE;

	segment->prefix = prefix;
	segment->origin_low = (uint32_t)address;
	segment->origin_high = (uint32_t)(address >> 32);
}

struct wm1_origin *wmrt_stack_origin(const struct wmrt_segment *first)
{
	uint64_t address = (uint64_t)first->origin_high << 32 | first->origin_low;

	return address == WM1_ORIGIN_NONE ? NULL : (struct wm1_origin *)(uintptr_t)address;
}
