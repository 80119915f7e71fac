/*
 * path_outcome.h - what one branch on a path decided, in words: "true", "a && b" split into "a: true", "b: false", "case '+'", "to line 12".
 */
#ifndef WM_MODEL_PATHS_PATH_OUTCOME_H
#define WM_MODEL_PATHS_PATH_OUTCOME_H

#include "model/paths/path_steps.h"

/* The branch at the end of a path's node. */
struct path_decision {
	const struct path_walk *walk;
	const struct path *path;
	const uint32_t *nodes;        /* of the path */
	uint32_t index;               /* of the node on it */
	uint32_t edge;                /* by which the path leaves it */
	const struct path_step *step; /* what the outcome is shown beside; NULL: nothing */
};

/*
 * *ret: the arena's; NULL for the only way on, where the end of the path shows it, and where another branch of the same test does.
 * *ret_is_forced: NULL, since the branch before left nothing to decide.
 */
struct error *path_outcome(const struct path_decision *b, struct arena *arena, const char **ret, bool *ret_is_forced);

/* "10, 35", "1 to 9 or others", "" if none is known; the arena's. NULL without memory. */
const char *path_cases(const struct pathmeta_cases *cases, bool is_character, struct arena *arena);

/* "to line 12", "to util.h:12" with "to" for the verb; `unknown` when no place is known. The arena's; NULL without memory. */
const char *path_way(const struct pathmeta_function *f, uint32_t edge, const char *verb, const char *unknown,
		     struct arena *arena);

#endif
