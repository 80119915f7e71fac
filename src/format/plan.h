/*
 * plan.h - which paths are interesting (`waymark cc --wm-plan=FILE`): a profile, or a hand-written list.
 *
 * FILE is a .wmk (all paths that it has counted are interesting), or text, a line each, `#` begins a comment:
 *
 *      waymark-plan 1
 *      profile FILE.wmk        paths counted there (beside the plan, unless absolute); may be repeated, counts are added up
 *      hot 99%                 of each function the most frequent paths that make up 99 % of its count
 *      function GLOB           only functions whose name or link name matches (fnmatch(3)); may be repeated
 *      line FILE:12[-20]       only paths that pass one of these lines; FILE matches at the end of the path, by components
 *
 * `function` and `line` choose when either matches. Without `profile` they choose all paths of those functions, or all paths through those
 * lines, up to a limit that a message names.
 */
#ifndef WM_FORMAT_PLAN_H
#define WM_FORMAT_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "core/paths/path_number.h"
#include "format/pathmeta.h"

enum {
	PLAN_PATHS_MAX = 32768,     /* of a function, by a profile */
	PLAN_UNPROFILED_MAX = 4096, /* without one */
};

struct plan;

/* Gives the bytes of a file that stay until the plan is freed. */
struct plan_files {
	void *state;
	struct error *(*open)(void *state, const char *path, const void **ret_bytes, size_t *ret_len_bytes);
};

/* Reads the plan in the file `path` (opened through files). Damaged or unknown lines: one line with file and line number. A
 * profile that is truncated is used as far as it goes. */
struct error *plan_create(const char *path, const struct plan_files *files, struct plan **ret);
void plan_destroy(struct plan *plan);

enum plan_state {
	PLAN_KNOWN = 0, /* the paths given are the interesting ones, maybe none */
	PLAN_CHANGED, /* the profile has a function of that name with another control flow: it counts with Ball-Larus */
};

struct plan_choice {
	enum plan_state state;
	uint64_t *paths;  /* Ball-Larus numbers, most frequent first; the arena's */
	uint64_t *counts; /* of each; 0 without a profile */
	uint32_t count;
	uint64_t left_out; /* paths above PLAN_PATHS_MAX or PLAN_UNPROFILED_MAX */
};

/* The interesting paths of a function. Needs f's keys, names, graph and lines. */
struct error *plan_choose(const struct plan *plan, const struct pathmeta_function *f, const struct path_numbering *n,
			  struct arena *arena, struct plan_choice *ret);

#endif
