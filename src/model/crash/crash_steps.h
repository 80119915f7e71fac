/*
 * crash_steps.h - the paths of a crash's frames as steps over the source.
 */
#ifndef WM_MODEL_CRASH_CRASH_STEPS_H
#define WM_MODEL_CRASH_CRASH_STEPS_H

#include "model/crash/crash.h"
#include "model/paths/path_steps.h"

/* A path of a frame (NULL: none yet), for path_steps_walk. */
struct path_walk crash_path_walk(const struct crash *c, const struct crash_thread *t, const struct crash_frame *f,
				 const struct crash_path *path);
/* Its steps; sources as in struct path_walk. */
struct error *crash_path_steps(const struct crash *c, const struct crash_thread *t, const struct crash_frame *f,
			       const struct crash_path *path, struct sources *sources, struct path_steps *ret);

#endif
