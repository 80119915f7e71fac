/*
 * crash_digest.h - which branches decided that control came to where a frame is.
 *
 * The search goes back from there over the frame's paths. A branch decided if the function could have returned without reaching the
 * place, had the branch gone another way; the next branch decided in the same sense that control reached this one. This is control
 * dependence on the paths that were taken. An outcome that only ends the program (a failed assertion) does not count as returning
 * in a function that can return; in one that cannot it does, and so does an endless loop. On the path in progress an endless loop counts
 * in every function, so that the branch that ended a loop is found. Each branch is shown once, at its last execution: iterations of
 * loops and the optimizer's copies of a branch are folded.
 */
#ifndef WM_MODEL_CRASH_CRASH_DIGEST_H
#define WM_MODEL_CRASH_CRASH_DIGEST_H

#include "model/crash/crash_steps.h"

enum {
	DIGEST_MAX = 5, /* shown, unless all is wanted */
};

/* A step of one of the frame's paths, and what one branch on it decided. */
struct crash_decision {
	uint32_t path; /* index */
	uint32_t node;
	struct path_step step; /* its outcome is only that of the branch */
};

struct crash_digest {
	struct arena arena;
	struct crash_decision *items; /* the last branch first */
	uint32_t count;
};

/* Without paths there is none: count 0. sources as in struct path_walk. */
struct error *crash_digest_create(const struct crash *c, const struct crash_thread *t, const struct crash_frame *f,
				  struct sources *sources, struct crash_digest *ret);
void crash_digest_deinit(struct crash_digest *d);

#endif
