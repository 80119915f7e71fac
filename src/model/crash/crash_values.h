/*
 * crash_values.h - values of a crash: arguments of frames, the variables on their lines, how the address of a fault comes of them;
 * what threads wait for and which of them wait for each other; exceptions. Where debug information and sources have them.
 */
#ifndef WM_MODEL_CRASH_CRASH_VALUES_H
#define WM_MODEL_CRASH_CRASH_VALUES_H

#include "snapshot/debug/values.h"
#include "snapshot/state/waits.h"
#include "model/crash/crash.h"
#include "model/source/source.h"

struct crash_wait {
	struct snapshot_wait wait;
	const char *name;      /* of what it waits for: "locks[1]", "q->lock in push"; NULL: not known */
	uint32_t owner_thread; /* index of wait.owner; UINT32_MAX: not in the core, or none */
	bool is_deadlocked;    /* its owner waits for another one, and so on round to the thread itself */
};

struct crash_values {
	const struct crash *c;
	struct sources *sources;
	struct arena arena;
	struct crash_wait *waits;              /* [thread_count] */
	struct snapshot_exception *exceptions; /* [thread_count] */
	struct snapshot_assignments assignments;
};

/* The values of a frame; texts are the arena's. */
struct crash_frame_values {
	struct snapshot_value_vec arguments;
	struct snapshot_value_vec values; /* of its line, without arguments of the same name */
	const char *fault; /* "0x8 is in r->section->values"; NULL: not the frame of the fault, or not known */
};

/* c and sources outlive it; it stays where it is. */
struct error *crash_values_create(const struct crash *c, struct sources *sources, struct crash_values *ret);
void crash_values_deinit(struct crash_values *v);

struct error *crash_values_of(const struct crash_values *v, const struct crash_thread *thread,
			      const struct crash_frame *frame, struct arena *arena, struct crash_frame_values *ret);
void crash_frame_values_deinit(struct crash_frame_values *f);

/* "the mutex", ...; NULL for none. */
const char *crash_wait_text(enum snapshot_wait_kind kind);
/* They wait for the same, and handle the same exception. */
bool crash_values_alike(const struct crash_values *v, uint32_t thread, uint32_t other);

#endif
