/*
 * crash_innermost.h - the innermost function of a thread that takes part in calling contexts, and how it was reached since
 * the last push.
 */
#ifndef WM_MODEL_CRASH_CRASH_INNERMOST_H
#define WM_MODEL_CRASH_CRASH_INNERMOST_H

#include "model/contexts/context.h"
#include "model/crash/crash.h"
#include "waymark/abi.h"

struct crash_innermost {
	struct crash_frame *frame;
	uint32_t index; /* of the frame, in the thread */
	struct image *image;
	uint32_t function; /* UINT32_MAX: which of several of that name is not known */
	bool is_entered; /* the frame is code of ours (WM1_CALL) on the way into the function, whose id it has already */
};

/* images: of each module, NULL where it has none. false: none takes part. */
bool crash_innermost_find(const struct crash *c, struct image *const *images, const struct crash_thread *t,
			  struct crash_innermost *ret);

/* The content of the thread's state and context stack. */
struct crash_state {
	uint64_t id;
	const struct wm1_entry *last; /* push; NULL: none */
	const struct wm1_entry
		*dropped;           /* the place above it, where what was pushed and put back lately still is; NULL */
	struct context_below below; /* the last push, or the root */
};

/* The function has pushed for the call in progress: its entry decides. */
bool crash_innermost_has_pushed(const struct crash_innermost *f, const struct process *process,
				const struct wm1_entry *last);

/* Appends the frames from the last push to the function, without its own. ERROR_NOT_FOUND where they are not known. */
struct error *crash_innermost_append(const struct crash *c, struct image *const *images, const struct process *process,
				     const struct crash_thread *t, const struct crash_innermost *f,
				     const struct crash_state *state, struct frame_vec *frames);

#endif
