/*
 * thread.h - what the recorder keeps of each thread: its event chunk and its clients' slots.
 *
 * A thread's things hang on a record, struct wmrt_thread. There is no thread-exit hook (destructors of other thread data run
 * after ours would, and must still see their context): a record is taken over by a later thread once its owner is dead.
 */
#ifndef WM_RECORDER_THREAD_H
#define WM_RECORDER_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/chunkdir.h"
#include "recorder/client.h"
#include "waymark/wmk.h"

/* Owner: the thread `owner`; another one takes it over with a compare-and-swap of `owner` when that is dead. The clients' slots
 * follow it in memory. */
struct wmrt_thread {
	struct wmrt_thread *next;
	_Atomic uint64_t owner;      /* thread id, above it how many owners there were */
	_Atomic uint32_t generation; /* of wmrt_process when owned; inherited records are not taken over */
	_Atomic uint64_t events;     /* see wmrt_events_of */
	uint64_t events_off;         /* of that chunk in the file; under the lock */
	uint32_t number;             /* its own for the life of the process */
};

enum {
	WMRT_EVENTS_MASK = 2047,  /* how many events are claimed */
	WMRT_EVENTS_LARGE = 2048, /* the chunk has WMRT_UNITS_MAX units, else one: the first of a thread */
	WMRT_EVENTS_ALIGN = 4096,
};

/* Splits wmrt_thread.events. The thread's event chunk, which begins on a page, NULL: none. The bits below are how many events are claimed
 * in it: both change at once, and what is in the chunk itself is for readers of the file. */
static inline struct wmk_chunk_header *wmrt_events_of(uint64_t events)
{
	return (struct wmk_chunk_header *)(uintptr_t)(events & ~(uint64_t)(WMRT_EVENTS_ALIGN - 1));
}

static inline uint32_t wmrt_events_units(uint64_t events)
{
	return events & WMRT_EVENTS_LARGE ? (uint32_t)WMRT_UNITS_MAX : 1;
}

/* Private thread-local state; written by its own thread and by handlers on it. */
struct wmrt_local {
	struct wmrt_thread *thread;
	uintptr_t alt_low; /* the alternate signal stack that a handler last ran on; empty: none did */
	uintptr_t alt_high;
	uintptr_t event_frame; /* frame of the wm1_event in progress, 0 if none */
	uint32_t tid;
	uint32_t generation; /* that tid belongs to */
	uint32_t blocks;     /* of signals, one inside of another */
	bool is_stepped;     /* the program was, when signals were blocked */
	bool has_own_files;  /* its descriptors are not the process's */
	bool is_bus_blocked; /* the program has blocked SIGBUS (handlers.c) */
	uintptr_t bus_frame; /* of the innermost handler for which the kernel had; 0: none. A jump may have left it (bus.c) */
};
extern _Thread_local struct wmrt_local wmrt_local __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* This thread's record, after wmrt_check_fork. NULL without memory. */
struct wmrt_thread *wmrt_thread_self(void);

/* A client's slot in that record. */
static inline void *wmrt_thread_slot(struct wmrt_thread *thread, const struct wmrt_client_slot *slot)
{
	return (char *)thread + atomic_load_explicit(&slot->off, memory_order_relaxed);
}

/* Is that address on the alternate signal stack? Then it does not compare with addresses on the thread's own. */
static inline int wmrt_is_on_alt_stack(uintptr_t address)
{
	return address - wmrt_local.alt_low < wmrt_local.alt_high - wmrt_local.alt_low;
}

#endif
