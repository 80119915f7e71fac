/*
 * stack.c - the context stacks of threads and coroutines, in segments.
 *
 *     thread's slot     segment 0 (64 KiB, aligned)      segment 1
 *     .-------.       .--------------------------.     .------------------.
 *     | first |------>| slot 0: next, prefix     |---->| slot 0: previous |
 *     '-------'       | entry 1                  |     | entry 1          |
 *                     | ...                      |     | ...              |
 *                     | entry 2047               |     '------------------'
 *                     '--------------------------'
 *
 * Segments of a stack are kept for its next descent. A handler that interrupts wm1_grow may add the segment first;
 * the loser of the compare-and-swap gives its own back.
 */
#include "runtime/contexts/stack.h"

#include <stdbool.h>
#include <stddef.h>

#include "recorder/agent.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "runtime/clients.h"
#include "runtime/contexts/origin.h"
#include "runtime/whole.h"
#include "waymark/runtime.h"

_Thread_local struct wm1_thread wm1_thread_state
	__attribute__((tls_model("initial-exec"))) = {.history = WM1_HISTORY_NONE};
_Thread_local struct wmrt_stack wmrt_stack __attribute__((tls_model("initial-exec")));

/* A thread's context stack; a later owner of the record continues with it. */
struct stack_slot {
	_Atomic(struct wmrt_segment *) first;
};
static struct wmrt_client_slot client_slot = {.len_bytes = sizeof(struct stack_slot)};

static struct stack_slot *slot_of(struct wmrt_thread *thread)
{
	return wmrt_thread_slot(thread, &client_slot);
}

/* Stands in when there is no memory: shared by all threads, its contents mean nothing. Twice the size, to hold an
 * aligned one. */
static char discard[2 * WM1_SEGMENT_BYTES];

static struct wmrt_segment *discard_segment(void)
{
	struct wmrt_segment *segment = (struct wmrt_segment *)(((uintptr_t)discard + WM1_SEGMENT_BYTES - 1) &
							       ~(uintptr_t)(WM1_SEGMENT_BYTES - 1));

	segment->is_discard = 1;
	return segment;
}

uint32_t wmrt_kind_of_root(void)
{
	int is_main = wmrt_process.main_thread || wmrt_process.is_sealed
			      ? wmrt_process.main_thread == (void *)&wmrt_local
			      : wmrt_gettid() == wmrt_getpid();

	return is_main ? WM_PREFIX_PROCESS : WM_PREFIX_THREAD;
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

/* The first segment in this thread's record; NULL without memory. */
static __attribute__((noinline)) struct wmrt_segment *find_stack(void)
{
	struct wmrt_thread *thread;
	struct wmrt_segment *stack;
	struct wmrt_segment *made;
	struct stack_slot *slot;

	wmrt_check_fork();
	thread = wmrt_thread_self();
	if (!thread)
		return NULL;
	slot = slot_of(thread);
	stack = atomic_load(&slot->first);
	if (!stack) {
		made = segment_new(NULL, 0);
		if (!made)
			return NULL;
		if (atomic_compare_exchange_strong(&slot->first, &stack, made))
			stack = made;
		else
			wmrt_unmap(made, WM1_SEGMENT_BYTES);
	}
	return stack;
}

/* The first segment of this thread; NULL without memory. Calls that main makes come here each time, as nothing is pushed below them. A thread
 * keeps its record, and the record its segment, so once found it stays. */
static struct wmrt_segment *thread_stack(void)
{
	struct wmrt_segment *stack = wmrt_stack.first;

	if (WMRT_UNLIKELY(!stack))
		wmrt_stack.first = stack = find_stack();
	if (stack)
		stack->prefix = wmrt_stack.base_prefix;
	return stack;
}

/* The first entry that a push at the boundary `top` may use. */
static struct wm1_entry *grow_from(struct wm1_entry *top)
{
	struct wmrt_segment *segment;

	if (!top)
		segment = thread_stack();
	else if (wmrt_entry_is_discard(top - 1))
		segment = NULL;
	else
		segment = segment_next(wmrt_segment_of(top - 1));
	if (!segment && !(top && wmrt_entry_is_discard(top - 1)))
		wmrt_stack.before_discard = top;
	return segment_first(segment ? segment : discard_segment());
}

/* Entries that nobody reads: one segment of each thread, again and again. */
static struct wm1_entry *grow_discarded(struct wm1_entry *top)
{
	struct wmrt_segment *segment = top ? wmrt_segment_of(top - 1) : thread_stack();

	if (!segment)
		segment = discard_segment();
	segment->is_discard = 1;
	return segment_first(segment);
}

struct wm1_entry *wm1_grow(void)
{
	struct wm1_entry *top = wm1_thread_state.top;
	const struct wm1_whole *front = wmrt_front();

	if (front)
		return front->grow();
	return wmrt_agent() ? grow_discarded(top) : grow_from(top);
}

void wm1_drop_tails(uint64_t return_slot)
{
	struct wm1_thread *thread = &wm1_thread_state;
	const struct wm1_whole *front = wmrt_front();

	if (front) {
		front->drop_tails(return_slot);
		return;
	}
	while (thread->top && !wmrt_agent()) {
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
			entry = (struct wm1_entry *)wmrt_segment_of(entry)->previous + WMRT_SEGMENT_ENTRIES - 1;
		if (entry->prefix == WM_PREFIX_SIGNAL && !entry->run && !entry->site) {
			top = (struct wm1_entry *)(uintptr_t)entry->id;
			continue;
		}
		if (entry->sp - wmrt_entry_marks(entry) == sp)
			return entry;
		top = entry;
	}
	return NULL;
}

bool wmrt_deferred_is_pushed(const struct wm1_entry *top, const volatile struct wm1_thread *thread)
{
	return top && !wmrt_entry_is_slot(top - 1) && top[-1].sp == thread->deferred_sp &&
	       top[-1].site == thread->deferred_site;
}

/* Writes the same as a handler that interrupts it, to the same place. */
void wm1_push_deferred(void)
{
	volatile struct wm1_thread *thread = &wm1_thread_state;
	struct wm1_entry *top = thread->top;
	volatile struct wm1_entry *entry;
	const struct wm1_whole *front;

	if (!thread->deferred_sp)
		return;
	front = wmrt_front();
	if (front) {
		front->push_deferred();
		return;
	}
	if (!wmrt_deferred_is_pushed(top, thread)) {
		entry = (uintptr_t)top & (WM1_SEGMENT_BYTES - 1) ? top : wm1_grow();
		wmrt_write_deferred((struct wm1_entry *)entry, thread);
		thread->top = (struct wm1_entry *)entry + 1;
	}
	thread->deferred_sp = 0;
}

void wm1_put_back(uint64_t sp)
{
	volatile struct wm1_thread *thread = &wm1_thread_state;
	struct wm1_entry *top = thread->top;
	struct wm1_entry *entry;
	const struct wm1_whole *front = wmrt_front();

	if (front) {
		front->put_back(sp);
		return;
	}
	thread->deferred_sp = 0; /* of another stack, if it has not been pushed */
	if (wmrt_agent()) {
		thread->history = WM1_HISTORY_NONE;
		return;
	}
	entry = find_push(top, sp);
	if (!entry && top && wmrt_entry_is_discard(top - 1))
		entry = find_push(wmrt_stack.before_discard, sp);
	if (!entry) {
		thread->id = UINT64_MAX;
		thread->history = WM1_HISTORY_NONE;
		return;
	}
	thread->id = entry->id;
	thread->history = entry->history;
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
	return (struct wm1_entry *)segment->previous + WMRT_SEGMENT_ENTRIES;
}

struct wm1_entry *wmrt_stack_new(uint32_t prefix)
{
	struct wmrt_segment *segment = segment_new(NULL, prefix);

	if (!segment)
		return NULL;
	wmrt_stack_begin(segment_first(segment), prefix, NULL);
	return segment_first(segment);
}

void wmrt_push_root(uint32_t prefix, uint64_t sp)
{
	volatile struct wm1_thread *thread = &wm1_thread_state;
	struct wm1_entry *top = thread->top;
	volatile struct wm1_entry *entry = (uintptr_t)top & (WM1_SEGMENT_BYTES - 1) ? top : wm1_grow();

	entry->id = thread->id;
	entry->sp = sp;
	entry->site = 0;
	entry->run = 0;
	entry->below = 0;
	entry->prefix = prefix;
	thread->top = (struct wm1_entry *)entry + 1;
	thread->id = 0;
	thread->history = WM1_HISTORY_NONE;
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

bool wmrt_stack_is_of_thread(const struct wmrt_segment *first)
{
	struct wmrt_thread *thread = wmrt_local.thread;

	return thread && first == atomic_load(&slot_of(thread)->first);
}

const struct wmrt_client wmrt_stacks = {.slot = &client_slot};

extern __typeof(wm1_grow) wmrt_own_grow __attribute__((alias("wm1_grow")));
extern __typeof(wm1_drop_tails) wmrt_own_drop_tails __attribute__((alias("wm1_drop_tails")));
extern __typeof(wm1_push_deferred) wmrt_own_push_deferred __attribute__((alias("wm1_push_deferred")));
extern __typeof(wm1_put_back) wmrt_own_put_back __attribute__((alias("wm1_put_back")));
