/*
 * path_view.h - what of a path profile is to be shown: chosen functions, the hottest paths, and their summary.
 */
#ifndef WM_MODEL_PATHS_PATH_VIEW_H
#define WM_MODEL_PATHS_PATH_VIEW_H

#include "model/paths/path_choices.h"

struct path_view_options {
	const char *const *functions; /* globs: name or link name must match one; none: all */
	size_t function_count;
	size_t top; /* paths or functions shown; 0: all */
};

struct path_view_row {
	const struct path_function *function;
	const struct path_entry *entry;
};

/* A summary of the view's functions; those without metadata only as far as it says. */
struct path_summary {
	uint64_t total;     /* paths counted, all functions */
	uint64_t functions; /* with metadata */
	uint64_t functions_run;
	uint64_t functions_unknown; /* did not run in their own bodies, and may have in others (path_folded.h) */
	uint64_t optimized;         /* functions of optimized code that ran */
	uint64_t unknown_functions; /* counted, without metadata */
	uint64_t unknown_total;
	uint64_t paths_run; /* with metadata */
	double paths_possible;
	uint64_t blocks, blocks_run;
	uint64_t edges, edges_run; /* without those of which no count is known */
	uint64_t activations, unfinished;
	uint64_t kinds[WM1_PATHS_PLAN + 1]; /* functions that ran, by kind of table; 0: of none */
	uint64_t split_functions;
	uint64_t residual;        /* counted outside plans */
	uint64_t plan_functions;  /* that a plan chose paths for, run or not */
	uint64_t alpha_functions; /* of them, those that have numbers of the plan's */
	double alpha_median;      /* interval / interesting paths */
	double alpha_most;
	struct path_choices choices; /* of functions that ran, with metadata */
	uint64_t skipped;            /* functions that are not counted, of all images; not chosen by name */
};

struct path_view {
	const struct path_profile *profile;
	bool is_filtered;
	const struct path_function **functions; /* by falling count, then name; all of the chosen ones, run or not */
	size_t function_count;
	struct path_view_row *rows; /* the hottest first */
	size_t row_count;           /* after top */
	size_t matching_rows;
	size_t top;
	struct path_summary summary;
	const char *producer;
};

/* The profile outlives the view. */
struct error *path_view_create(const struct path_profile *p, const struct path_view_options *options,
			       const char *producer, struct path_view *ret);
void path_view_deinit(struct path_view *v);

/* Name or link name matches one of the globs, or there are none. */
bool path_view_matches(const struct path_view_options *options, const struct path_function *f);
/* Some function of the profile is one that is wanted. */
bool path_view_matches_any(const struct path_view_options *options, const struct path_profile *p);

/* The most frequent paths of a function, at most `top` (0: all), in *ret (malloc'd). */
struct error *path_hottest(const struct path_function *f, size_t top, const struct path_entry ***ret,
			   size_t *ret_count);

/* Interval / interesting paths; 0 without numbers of a plan's. */
double path_alpha(const struct path_function *f);
/* Split edges of a function. */
uint32_t path_splits(const struct path_function *f);

#endif
