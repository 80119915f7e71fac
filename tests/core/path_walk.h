/*
 * path_walk.h - runs all paths of a graph on a machine with one register, as instrumented code would.
 */
#ifndef WM_TESTS_CORE_PATH_WALK_H
#define WM_TESTS_CORE_PATH_WALK_H

#include "core/paths/placement.h"

/* Called at the end of each path with what is counted there. */
typedef void path_walk_ended(void *data, const struct path *path, uint64_t counted);

/* Paths come in the order of their Ball-Larus numbers. Returns what is wrong with the placement itself (a register that is used
 * but has no value), "" when nothing is. Recursive: for small graphs. */
const char *path_walk_all(const struct cfg *g, const struct path_numbering *n, const struct placement *p,
			  path_walk_ended *ended, void *data);

#endif
