/*
 * event.c - the event log: a chunk a thread, its slots claimed in the thread's record. The first chunk of a thread is small.
 *
 * A handler may interrupt a thread between claim and record, and log events of its own: they come later in the chunk.
 * It may not unmap the chunk in which the interrupted event has its slot: `event_frame` tells that one is
 * in progress. (The frame of one that a siglongjmp left lies at or below ours and counts no more.)
 *
 * A large chunk that is full is retired. Once there are as many as WAYMARK_RECENT allows, or the file has no room, the oldest one is recycled:
 * its events are added to sums (sums.h), and later ones, or other records, get its space.
 */
#include "recorder/event.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "recorder/clock.h"
#include "recorder/config.h"
#include "recorder/file.h"
#include "recorder/mapping.h"
#include "recorder/process.h"
#include "recorder/strtab.h"
#include "recorder/sums.h"
#include "recorder/sys.h"
#include "recorder/thread.h"

_Static_assert((WMK_CHUNK_BYTES - WMK_CHUNK_HEADER_BYTES) / sizeof(struct wmk_event) < WMRT_EVENTS_MASK,
	       "the count fits below a chunk's address");

static bool has_room(uint64_t events)
{
	return wmrt_events_of(events) &&
	       (events & WMRT_EVENTS_MASK) < wmrt_body_bytes(wmrt_events_units(events)) / sizeof(struct wmk_event);
}

/* ---- retired chunks ---- */

/* Under the lock: where they are in the file, oldest first. */
static struct {
	uint64_t *offs;
	uint32_t first, count, size; /* a ring */
	uint32_t large_count;        /* that the file has for events, retired or not */
	uint32_t generation;         /* of the process that they are of */
} retired;
static _Atomic bool has_retired;

/* With less space than two chunks there are none: what comes when the file is full is dropped, without a system call. */
static bool may_retire(void)
{
	return wmrt_config()->recent_bytes >= 2 * WMK_CHUNK_BYTES;
}

/* After a fork the file is another one. */
static void renew_retired(void)
{
	if (retired.generation == wmrt_process.generation)
		return;
	retired.generation = wmrt_process.generation;
	retired.first = retired.count = retired.large_count = 0;
	atomic_store(&has_retired, false);
	wmrt_sums_forget();
}

static bool grow_retired(void)
{
	uint32_t size = retired.size ? retired.size * 2 : 512;
	uint64_t *offs = wmrt_map_memory(size * sizeof *offs);

	if (!offs)
		return false;
	for (uint32_t i = 0; i < retired.count; i++)
		offs[i] = retired.offs[(retired.first + i) % retired.size];
	if (retired.offs)
		wmrt_unmap(retired.offs, retired.size * sizeof *offs);
	retired.offs = offs;
	retired.size = size;
	retired.first = 0;
	return true;
}

/* Adds its events up. Those that no sum takes are dropped. */
static void add_up(struct wmk_chunk_header *chunk)
{
	struct wmk_event *events = (struct wmk_event *)(void *)wmrt_chunk_body(chunk);

	for (uint32_t i = 0; i < wmrt_body_bytes(WMRT_UNITS_MAX) / sizeof *events; i++) {
		struct wmk_event event = events[i];

		if (__atomic_load_n(&events[i].state, __ATOMIC_ACQUIRE) != 1)
			continue;
		/* First: a process that is killed in between counts it nowhere, rather than twice. */
		__atomic_store_n(&events[i].state, 2, __ATOMIC_RELEASE);
		if (!wmrt_sums_add(&event))
			wmrt_file_drop(offsetof(struct wmk_header, dropped_events));
	}
}

/* The oldest one, empty; NULL: there is none. */
static struct wmk_chunk_header *recycle(uint64_t *ret_off)
{
	struct wmk_chunk_header *chunk;

	renew_retired();
	if (!retired.count)
		return NULL;
	*ret_off = retired.offs[retired.first];
	chunk = wmrt_file_map_large(*ret_off);
	if (!chunk)
		return NULL;
	retired.first = (retired.first + 1) % retired.size;
	retired.count--;
	retired.large_count--;
	atomic_store(&has_retired, retired.count != 0);
	add_up(chunk);
	__atomic_store_n(&chunk->used_bytes, 0, __ATOMIC_RELEASE);
	memset(wmrt_chunk_body(chunk), 0, wmrt_body_bytes(WMRT_UNITS_MAX));
	wmrt_file_drop(offsetof(struct wmk_header, recycled_chunks));
	return chunk;
}

/* For records of other kinds: a quarter of the space stays for events. */
static struct wmk_chunk_header *give(uint64_t *ret_off)
{
	renew_retired();
	return (uint64_t)retired.count * WMK_CHUNK_BYTES > wmrt_config()->recent_bytes / 4 ? recycle(ret_off) : NULL;
}

/* False: it stays as it is for good. */
static bool retire(uint64_t off)
{
	if (!may_retire())
		return false;
	if (retired.count == retired.size && !grow_retired())
		return false;
	if (!wmrt_sums_start())
		return false;
	retired.offs[(retired.first + retired.count++) % retired.size] = off;
	wmrt_file_set_reclaim(give);
	atomic_store(&has_retired, true);
	return true;
}

/* The last one is still in use. */
static void unretire(void)
{
	retired.count--;
	atomic_store(&has_retired, retired.count != 0);
}

/* ---- chunks of threads ---- */

/* The next chunk of a thread. Under the lock. */
static struct wmk_chunk_header *next_chunk(uint32_t *units, uint64_t *off)
{
	struct wmk_chunk_header *chunk = NULL;

	if (wmrt_file_is_full())
		*units = WMRT_UNITS_MAX;
	if (*units > 1 && (uint64_t)retired.large_count * WMK_CHUNK_BYTES >= wmrt_config()->recent_bytes)
		chunk = recycle(off);
	if (!chunk) {
		chunk = wmrt_file_chunk(WMK_EVENTS, *units, 0, wmrt_local.tid);
		*off = wmrt_file_last_off();
	}
	if (!chunk && *units > 1)
		chunk = recycle(off);
	if (chunk)
		chunk->tid = wmrt_local.tid;
	if (chunk && *units > 1)
		retired.large_count++;
	return chunk;
}

/* Puts a new chunk in the place of `full`; false with no room. */
static bool replace_chunk(struct wmrt_thread *thread, uint64_t full, bool is_nested)
{
	struct wmrt_guard guard;
	struct wmk_chunk_header *chunk = NULL;
	uint32_t units = wmrt_events_of(full) ? WMRT_UNITS_MAX : 1;
	uint64_t off;
	bool is_there, is_retired;

	wmrt_lock(&guard);
	is_there = wmrt_events_of(atomic_load(&thread->events)) != wmrt_events_of(full);
	if (!is_there) {
		renew_retired();
		/* An interrupted event may still have its place in the one that is full. Without another one it is recycled itself. */
		is_retired = full & WMRT_EVENTS_LARGE && !is_nested && retire(thread->events_off);
		chunk = next_chunk(&units, &off);
		if (!chunk && is_retired)
			unretire();
		if (chunk) {
			thread->events_off = off;
			atomic_store(&thread->events, (uintptr_t)chunk | (units > 1 ? WMRT_EVENTS_LARGE : 0));
		}
	}
	wmrt_unlock(&guard);
	if (chunk && !is_nested)
		wmrt_mapping_drop(wmrt_events_of(full), (size_t)wmrt_events_units(full) * WMK_UNIT_BYTES);
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

/* There is a chunk whose events can be added up: a retired one, or the thread's own. */
static bool may_recycle(struct wmrt_thread *thread)
{
	return may_retire() && (atomic_load(&has_retired) || atomic_load(&thread->events) & WMRT_EVENTS_LARGE);
}

static struct wmk_event *record(uint32_t tid, wm_context c, const char *name, uint64_t value, bool is_nested)
{
	struct wmrt_thread *thread = wmrt_thread_self();
	struct wmk_event *event;
	uint32_t string;

	if (!thread || (!has_room(atomic_load(&thread->events)) && wmrt_file_is_full() && !may_recycle(thread)))
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
