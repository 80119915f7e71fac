/*
 * profile_diff.h - two profiles side by side: functions and contexts with their numbers before and after.
 *
 * The builds may differ. Contexts are matched by the names of their functions, without what a compiler adds to a name (diff_names.h), by the old
 * and new names of functions that were renamed (diff_renames.h), and then by call sites, where a function is called from several places of another
 * (diff_sites.h). Addresses are not compared. Functions that have no name but a place (module+0x1234) match those of the same place only.
 */
#ifndef WM_MODEL_TABLES_PROFILE_DIFF_H
#define WM_MODEL_TABLES_PROFILE_DIFF_H

#include "model/tables/diff_names.h"
#include "model/tables/diff_renames.h"
#include "model/tables/diff_sites.h"

struct diff_function {
	const char *name;             /* in the new build, if it is there */
	const char *old_name;         /* it was renamed; NULL: it was not */
	const char *file[DIFF_SIDES]; /* of its source, or of its image; NULL when not known or not there */
	uint64_t self[DIFF_SIDES];
	uint64_t total[DIFF_SIDES];
	bool is_moved;                 /* to another file of source, or to another image */
	const char *moved[DIFF_SIDES]; /* from and to where; NULL: it was not */
};

struct diff_context {
	uint32_t node; /* of `both` */
	uint64_t value[DIFF_SIDES];
	uint32_t rank; /* in the order of names */
};

VEC_DECLARE(diff_number_vec, uint32_t);

struct profile_diff {
	struct profile both; /* contexts of both; its metrics are `old`, `new` and the larger of them for each context */
	uint32_t metric[DIFF_SIDES];
	uint32_t widest;
	uint64_t total[DIFF_SIDES];
	struct diff_sites sites;
	struct diff_number_vec frame_sites; /* by frame of `both`, of sites; 0: names alone count */
	struct diff_rename_vec renames;
	struct function_note_vec notes; /* of functions that were renamed or moved, by name */
	/* by falling change, then by name; without those that did not change */
	struct diff_function *functions;
	size_t function_count;
	struct diff_context *contexts;
	size_t context_count;
};

struct diff_options {
	bool keeps_names; /* looks for no functions that were renamed */
};

/* Of two views with the same metric, which adds up. They may go afterwards. */
struct error *profile_diff_create(const struct view *old, const struct view *new, const struct diff_options *options,
				  struct profile_diff *ret);
void profile_diff_deinit(struct profile_diff *d);

/* |after - before|. */
uint64_t diff_change(uint64_t before, uint64_t after);

/* The site of a frame of a context, where it calls the next one; NULL: names alone count. */
const struct diff_site *diff_site_of(const struct profile_diff *d, uint32_t node);

#endif
