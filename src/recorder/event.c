/*
 * event.c - the event log: a chunk a thread, its slots claimed by an atomic add.
 *
 * A handler may interrupt a thread between claim and record, and log events of its own: they come later in the chunk.
 * What it may not do is unmap the chunk in which the interrupted event has its slot: `event_frame` tells that one is
 * in progress. (The frame of one that a siglongjmp left lies at or below ours and counts no more.)
 */
#include "recorder/event.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "recorder/file.h"
#include "recorder/process.h"
#include "recorder/strtab.h"
#include "recorder/sys.h"
#include "recorder/thread.h"

static uint64_t now_ns(void)
{
	struct timespec ts = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Puts a new chunk in the place of `full`; false with no room. */
static bool replace_chunk(struct wmrt_thread *thread, struct wmk_chunk_header *full, bool is_nested)
{
	struct wmrt_guard guard;
	struct wmk_chunk_header *chunk = NULL;
	bool is_there;

	wmrt_lock(&guard);
	is_there = atomic_load(&thread->events) != full;
	if (!is_there) {
		chunk = wmrt_file_chunk(WMK_EVENTS, 0, wmrt_local.tid, NULL);
		if (chunk)
			atomic_store(&thread->events, chunk);
	}
	wmrt_unlock(&guard);
	if (chunk && full && !is_nested)
		wmrt_unmap(full, WMK_CHUNK_BYTES);
	return is_there || chunk;
}

/* A place for one record, NULL with no room. */
static struct wmk_event *claim(struct wmrt_thread *thread, bool is_nested)
{
	for (;;) {
		struct wmk_chunk_header *chunk = atomic_load_explicit(&thread->events, memory_order_acquire);
		uint32_t off = chunk ? __atomic_load_n(&chunk->used_bytes, __ATOMIC_RELAXED) : WMRT_CHUNK_BODY_BYTES;

		/* Looked at first, so that a full chunk with no successor does not count on and on. */
		if (off + sizeof(struct wmk_event) <= WMRT_CHUNK_BODY_BYTES)
			off = __atomic_fetch_add(&chunk->used_bytes, (uint32_t)sizeof(struct wmk_event),
						 __ATOMIC_RELAXED);
		if (off + sizeof(struct wmk_event) <= WMRT_CHUNK_BODY_BYTES)
			return (struct wmk_event *)(void *)(wmrt_chunk_body(chunk) + off);
		if (!replace_chunk(thread, chunk, is_nested))
			return NULL;
	}
}

static bool record(wm_context c, const char *name, uint64_t value, bool is_nested)
{
	struct wmrt_thread *thread = wmrt_thread_self();
	uint32_t string = wmrt_string_cached(name ? name : "");
	struct wmk_event *event;

	if (!thread || string == WMRT_STRING_NONE)
		return false;
	event = claim(thread, is_nested);
	if (!event)
		return false;
	event->time_ns = now_ns();
	event->value = value;
	event->id = c.id;
	event->prefix = c.prefix;
	event->site = c.site;
	event->name = string;
	event->epoch = c.epoch;
	event->tid = wmrt_local.tid;
	__atomic_store_n(&event->state, 1, __ATOMIC_RELEASE);
	return true;
}

void wmrt_event(wm_context c, const char *name, uint64_t value)
{
	uintptr_t outer = wmrt_local.event_frame;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	bool is_nested = outer && (outer > frame || wmrt_is_on_alt_stack(frame) != wmrt_is_on_alt_stack(outer));

	if (!wmrt_file_open())
		return;
	wmrt_local.event_frame = is_nested ? outer : frame;
	atomic_signal_fence(memory_order_seq_cst);
	if (!record(c, name, value, is_nested))
		wmrt_file_drop(offsetof(struct wmk_header, dropped_events));
	atomic_signal_fence(memory_order_seq_cst);
	wmrt_local.event_frame = is_nested ? outer : 0;
}
