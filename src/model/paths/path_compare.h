/*
 * path_compare.h - two profiles of paths side by side: what ran in the field and in no test, and what tests run often and the
 * field hardly ever. Residual path profiling of PPP, for profiles that are there already.
 *
 * Functions are matched by (name_key, cfg_key), not by image: a test build and a field build, with other counters or none of
 * them stripped, compare as long as the source is the same. A function whose control flow changed has other paths: it is
 * listed, not compared. The metadata of one side is enough, also for choosing functions by name.
 */
#ifndef WM_MODEL_PATHS_PATH_COMPARE_H
#define WM_MODEL_PATHS_PATH_COMPARE_H

#include <stdio.h>

#include "model/paths/path_choices.h"
#include "model/paths/path_view.h"

/* Why a path of the field is new. */
enum path_novelty {
	PATH_NOVEL_PATH = 0, /* tests ran the function, on other paths */
	PATH_NOVEL_FUNCTION, /* no test entered the function; whether the tested programs have it may not be known */
	PATH_NOVEL_BODY,     /* no test entered the function's own code; what was inlined elsewhere may have run */
	PATH_NOVEL_UNTESTED, /* the tested programs do not have the function */
};

/* One path on both sides. */
struct path_pair {
	const struct path_profile *profile;   /* of function */
	const struct path_function *function; /* one with metadata, if any of them has it */
	uint64_t number;
	uint64_t tested;
	uint64_t field;
	enum path_novelty news; /* tested is 0 */
	bool is_fielded;        /* the field's programs have the function, as far as is known */
};
VEC_DECLARE(path_pair_vec, struct path_pair);

/* A function that ran in the field and that the tested programs have with another control flow only. */
struct path_change {
	const struct path_profile *profile;
	const struct path_function *field;
	const struct path_function *tested; /* one of them */
	uint64_t count;                     /* paths counted in the field */
};
VEC_DECLARE(path_change_vec, struct path_change);

/* A function that ran in the field, with choices that paths do not distinguish. */
struct path_blur {
	const struct path_profile *profile;
	const struct path_function *function;
};
VEC_DECLARE(path_blur_vec, struct path_blur);

/* Whether the tests ran what the field ran. */
enum path_verdict {
	PATH_VERDICT_COVERED, /* every path of the field ran in the tests, and paths of the source are distinguished */
	PATH_VERDICT_NEW,     /* paths are new, or functions changed */
	PATH_VERDICT_UNKNOWN, /* no path is new, but what ran is not distinguished, or not all of it was recorded */
};

struct path_compare_options {
	struct path_view_options view; /* top: of each list */
	double hot;                    /* percent: tested paths are hot that make up so much of all counts */
};

/* Cold in the field: a share so many times smaller than in the tests. */
#define PATH_COLD 100.0

struct path_comparison {
	const struct path_profile *tested;
	const struct path_profile *field;
	bool is_tested_known; /* metadata of all programs of the side: what they have, run or not */
	bool is_field_known;
	const char *producer;
	struct path_pair_vec news;      /* by falling field count */
	struct path_pair_vec cold;      /* by falling share in the tests */
	struct path_change_vec changes; /* by falling count */
	struct path_choices choices;    /* of functions that ran in the field */
	struct path_blur_vec blurs;     /* by falling number of choices */
	uint64_t lost;                  /* recordings of the field that are not whole */
	uint64_t tested_total;          /* of chosen functions */
	uint64_t field_total;
	uint64_t tested_paths;
	uint64_t field_paths;
	uint64_t news_total;
	uint64_t changes_total;
	size_t top;
	double hot;
};

/* Both profiles are finished and outlive the result. */
struct error *path_compare(const struct path_profile *tested, const struct path_profile *field,
			   const struct path_compare_options *options, const char *producer,
			   struct path_comparison *ret);
void path_comparison_deinit(struct path_comparison *c);

static inline enum path_verdict path_comparison_verdict(const struct path_comparison *c)
{
	if (c->news.count || c->changes.count)
		return PATH_VERDICT_NEW;
	return path_choices_hide(&c->choices) || c->lost ? PATH_VERDICT_UNKNOWN : PATH_VERDICT_COVERED;
}

#endif
