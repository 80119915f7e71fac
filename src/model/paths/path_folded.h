/*
 * path_folded.h - what of a profile may have run where nothing counted it: at the final stage the optimizer inlined functions,
 * folded copies, dropped calls, moved parts of lines. What has the count 0 and may have run so is not known to be never run, and a
 * count above 0 may be too low.
 *
 *      f is inlined into main and folded; main ran     calls of f, lines of f: not known, or at least so often
 *      a line of main, in part folded or sunk          the same, unless the line is firm (format/pathmeta.h)
 */
#ifndef WM_MODEL_PATHS_PATH_FOLDED_H
#define WM_MODEL_PATHS_PATH_FOLDED_H

#include "model/paths/path_profile.h"

/* Sets p->folded, and is_part of its functions, of which everything else is known. */
struct error *path_folded_find(struct path_profile *p);

/* A line of the function, an index of f->meta->lines. */
bool path_folded_line(const struct path_profile *p, const struct path_function *f, uint32_t line);
/* The ways of a branch of the function: of one that stands on that line. */
bool path_folded_way(const struct path_profile *p, const struct path_function *f, uint32_t line);

static inline bool path_has_run(const struct path_function *f)
{
	return f->total || f->activations || f->inherited;
}

#endif
