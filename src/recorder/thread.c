/*
 * thread.c - the records of threads with their clients' slots.
 *
 *      record of a thread
 *     .--------------------.--------------------.--------------------.---
 *     | struct wmrt_thread | slot of a client   | slot of another    | ...
 *     '--------------------'--------------------'--------------------'---
 */
#include "recorder/thread.h"

#include <stdbool.h>
#include <stddef.h>

#include "recorder/client.h"
#include "recorder/mapping.h"
#include "recorder/process.h"
#include "recorder/sys.h"

/* All records, newest first; only ever pushed to. */
static _Atomic(struct wmrt_thread *) threads;
static _Atomic uint32_t thread_count;
/* Where the search for a dead owner goes on; a hint. */
static _Atomic(struct wmrt_thread *) cursor;

enum {
	PROBES = 8, /* owners looked at before a new record is made */
	SLOT_ALIGN = 16,
};

/* A thread whose record was first needed by its vfork child, which cannot know its number: never taken for dead. */
static const uint32_t NOBODY_KNOWS = UINT32_MAX;

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
	uint64_t events = atomic_exchange(&thread->events, 0);

	wmrt_mapping_drop(wmrt_events_of(events), (size_t)wmrt_events_units(events) * WMK_UNIT_BYTES);
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
	if (wmrt_process.is_sealed)
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
