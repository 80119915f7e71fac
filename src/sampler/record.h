/*
 * record.h - a walked stack as a context of the recording (docs/format.md, "Walked contexts"): a prefix node a frame, each naming the
 * recorded site that the frame is at.
 *
 * For signal handlers that run with all signals blocked.
 */
#ifndef WM_SAMPLER_RECORD_H
#define WM_SAMPLER_RECORD_H

#include "sampler/trail.h"
#include "sampler/walk/walk.h"
#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop

/* What a thread's last walk became: its outermost frames are mostly those of the next. */
struct record_memory {
	struct record_known {
		uint64_t pc;
		const struct sampler_image *image;
		uint32_t flags;
		uint32_t prefix; /* of the frame and all outside of it */
	} *known;                /* outermost first; room for as many as the walk's */
	size_t count;
	uint32_t root;
};

/* root: the prefix that the outermost frame stands on. False: there is no room in the recording. */
bool record_walk(const struct walk *walk, uint32_t root, struct record_memory *memory, wm_context *ret);

/* The same of a call of the function `name`, a constant string: its frame is the one that goes on at return_address. */
bool record_call(const struct walk *walk, uintptr_t return_address, const char *name, uint32_t root,
		 struct record_memory *memory, wm_context *ret);

enum record_result {
	RECORD_OK,
	RECORD_NEW,  /* something of it is met for the first time: again with may_make, and all signals blocked */
	RECORD_LOST, /* there is no room in the recording */
};

/*
 * The same of a trail, whose innermost frame has called the function, which has a number below 255 for its name, in the context of record_call.
 * Without may_make at any time.
 */
enum record_result record_trail(struct trail *t, uint32_t root, uint32_t function, const char *name, bool may_make,
				wm_context *ret);

/* The prefix of a thread that is created in that context. */
uint32_t record_thread(const wm_context *creator);

#endif
