/*
 * event.c - the event log: a chunk a thread, its slots claimed in the thread's record. The first chunk of a thread is small.
 *
 * A handler may interrupt a thread between claim and record, and log events of its own: they come later in the chunk.
 * It may not unmap the chunk in which the interrupted event has its slot: `event_frame` tells that one is
 * in progress. (The frame of one that a siglongjmp left lies at or below ours and counts no more.)
 */
#include "recorder/event.h"

#include <errno.h>
#include <stdatomic.h>

#include "recorder/clock.h"
#include "recorder/file.h"
#include "recorder/mapping.h"
#include "recorder/process.h"
#include "recorder/strtab.h"
#include "recorder/sys.h"
#include "recorder/thread.h"

_Static_assert((WMK_CHUNK_BYTES - WMK_CHUNK_HEADER_BYTES) / sizeof(struct wmk_event) < WMRT_EVENTS_MASK,
	       "the count fits below a chunk's address");

static bool has_room(uint64_t events)
{
	return wmrt_events_of(events) &&
	       (events & WMRT_EVENTS_MASK) < wmrt_body_bytes(wmrt_events_units(events)) / sizeof(struct wmk_event);
}

/* Puts a new chunk in the place of `full`; false with no room. */
static bool replace_chunk(struct wmrt_thread *thread, uint64_t full, bool is_nested)
{
	struct wmrt_guard guard;
	struct wmk_chunk_header *chunk = NULL;
	uint32_t units = wmrt_events_of(full) ? WMRT_UNITS_MAX : 1;
	bool is_there;

	wmrt_lock(&guard);
	is_there = wmrt_events_of(atomic_load(&thread->events)) != wmrt_events_of(full);
	if (!is_there) {
		chunk = wmrt_file_chunk(WMK_EVENTS, units, 0, wmrt_local.tid);
		if (chunk)
			atomic_store(&thread->events, (uintptr_t)chunk | (units > 1 ? WMRT_EVENTS_LARGE : 0));
	}
	wmrt_unlock(&guard);
	if (chunk && !is_nested)
		mapping_drop(wmrt_events_of(full), (size_t)wmrt_events_units(full) * WMK_UNIT_BYTES);
	return is_there || chunk;
}

/* A place for one record, NULL with no room. */
static struct wmk_event *claim(struct wmrt_thread *thread, bool is_nested)
{
	uint64_t events = atomic_load_explicit(&thread->events, memory_order_acquire);
	struct wmk_chunk_header *chunk;
	uint32_t i;

	for (;;) {
		if (!has_room(events)) {
			if (!replace_chunk(thread, events, is_nested))
				return NULL;
			events = atomic_load_explicit(&thread->events, memory_order_acquire);
		} else if (atomic_compare_exchange_weak(&thread->events, &events, events + 1)) {
			break;
		}
	}
	chunk = wmrt_events_of(events);
	i = (uint32_t)(events & WMRT_EVENTS_MASK);
	wmrt_chunk_raise_used(chunk, (i + 1) * (uint32_t)sizeof(struct wmk_event));
	return (struct wmk_event *)(void *)wmrt_chunk_body(chunk) + i;
}

static struct wmk_event *record(uint32_t tid, wm_context c, const char *name, uint64_t value, bool is_nested)
{
	struct wmrt_thread *thread = wmrt_thread_self();
	struct wmk_event *event;
	uint32_t string;

	if (!thread || (!has_room(atomic_load(&thread->events)) && wmrt_file_is_full()))
		return NULL;
	string = wmrt_string_cached(name ? name : "");
	if (string == WMRT_STRING_NONE)
		return NULL;
	event = claim(thread, is_nested);
	if (!event)
		return NULL;
	event->time_ns = wmrt_now_ns();
	event->value = value;
	event->id = c.id;
	event->prefix = c.prefix;
	event->site = c.site;
	event->name = string;
	event->epoch = c.epoch;
	event->tid = tid == WMRT_OWN_TID ? wmrt_local.tid : tid;
	__atomic_store_n(&event->state, 1, __ATOMIC_RELEASE);
	return event;
}

void wmrt_event(wm_context c, const char *name, uint64_t value)
{
	wmrt_event_of(WMRT_OWN_TID, c, name, value);
}

struct wmk_event *wmrt_event_of(uint32_t tid, wm_context c, const char *name, uint64_t value)
{
	uintptr_t outer = wmrt_local.event_frame;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	struct wmk_event *event;
	bool is_nested = outer && (outer > frame || wmrt_is_on_alt_stack(frame) != wmrt_is_on_alt_stack(outer));

	if (!wmrt_file_open())
		return NULL;
	wmrt_local.event_frame = is_nested ? outer : frame;
	atomic_signal_fence(memory_order_seq_cst);
	event = record(tid, c, name, value, is_nested);
	if (!event)
		wmrt_file_drop(offsetof(struct wmk_header, dropped_events));
	atomic_signal_fence(memory_order_seq_cst);
	wmrt_local.event_frame = is_nested ? outer : 0;
	return event;
}
