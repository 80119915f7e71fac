/*
 * profile_diff.h - two profiles side by side: functions and contexts with their numbers before and after.
 *
 * The builds may differ. Contexts are matched by the names of their functions, without what a compiler adds to a name (.constprop.0,
 * .isra.0, .part.0, .cold): line numbers and addresses are not compared. Functions that have no name but a place (module+0x1234) match
 * those of the same place only.
 */
#ifndef WM_MODEL_TABLES_PROFILE_DIFF_H
#define WM_MODEL_TABLES_PROFILE_DIFF_H

#include "model/base/profile_view.h"

enum diff_side {
	DIFF_OLD,
	DIFF_NEW,
	DIFF_SIDES,
};

struct diff_function {
	const char *name;
	const char *file[DIFF_SIDES]; /* of its source, or of its image; NULL when not known or not there */
	uint64_t self[DIFF_SIDES];
	uint64_t total[DIFF_SIDES];
	bool is_moved; /* to another file of source */
};

struct diff_context {
	uint32_t node; /* of `both` */
	uint64_t value[DIFF_SIDES];
	uint32_t rank; /* in the order of names */
};

struct profile_diff {
	struct profile both; /* contexts of both; its metrics are `old`, `new` and the larger of them for each context */
	uint32_t metric[DIFF_SIDES];
	uint32_t widest;
	uint64_t total[DIFF_SIDES];
	/* by falling change, then by name; without those that did not change */
	struct diff_function *functions;
	size_t function_count;
	struct diff_context *contexts;
	size_t context_count;
};

/* Of two views with the same metric, which adds up. They may go afterwards. */
struct error *profile_diff_create(const struct view *old, const struct view *new, struct profile_diff *ret);
void profile_diff_deinit(struct profile_diff *d);

/* |after - before|. */
uint64_t diff_change(uint64_t before, uint64_t after);

/* Writes the name without what compilers add, into a buffer of strlen(name) + 1 bytes. */
void diff_plain_name(const char *name, char *ret);

#endif
