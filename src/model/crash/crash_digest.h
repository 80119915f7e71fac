/*
 * crash_digest.h - which branches decided that control came to where a frame is.
 *
 * Going back from there over the frame's paths, a branch decided if by another of its ways the function could have returned without
 * coming to what was decided so far; the next one must have led to that branch. This is control dependence, of the paths that were
 * taken. Ways that only end the program (a failed assertion) do not count as returning, where the function can return; where
 * it cannot they do, and so does going round a loop for ever. On the path in progress it counts in every function, since what ended a loop is worth
 * knowing. Each branch is shown once, at its last execution: iterations of loops are
 * folded, and copies of a branch that an optimizer made.
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
