/*
 * path_flow.h - counts of blocks, edges and activations from counts of paths. Private to path_profile.c.
 *
 * Exact but for two things, which are said where they matter: what ran of an activation after its last counted path is not
 * known until it ends (unfinished), and jumps out of one block to several shared targets are known by target only.
 */
#ifndef WM_MODEL_PATHS_PATH_FLOW_H
#define WM_MODEL_PATHS_PATH_FLOW_H

#include "model/paths/path_profile.h"

/* Fills in f from numbering on, and ended, unfinished, calls. f->meta only; entries are assigned. */
struct error *path_flow_compute(struct path_profile *p, struct path_function *f);

#endif
