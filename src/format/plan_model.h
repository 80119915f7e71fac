/*
 * plan_model.h - a plan as it was read. Private to plan.c and plan_choose.c.
 */
#ifndef WM_FORMAT_PLAN_MODEL_H
#define WM_FORMAT_PLAN_MODEL_H

#include <stdbool.h>

#include "base/vec.h"
#include "format/plan.h"

/* A profile's count of one path. */
struct plan_count {
	uint64_t name_key;
	uint64_t cfg_key;
	uint64_t number;
	uint64_t count;
};

struct plan_line {
	const char *file; /* the end of a path, whole components */
	uint32_t first, last;
};

VEC_DECLARE(plan_count_vec, struct plan_count);
VEC_DECLARE(plan_line_vec, struct plan_line);
VEC_DECLARE(plan_glob_vec, const char *);

enum {
	PLAN_HOT_ALL = 1000000, /* `hot` in parts of a million */
};

struct plan {
	struct arena arena;
	bool has_profile;
	bool has_hot;
	uint32_t hot;                 /* at most PLAN_HOT_ALL */
	struct plan_count_vec counts; /* by rising (name_key, cfg_key, number), each once */
	struct plan_glob_vec globs;
	struct plan_line_vec lines;
};

#endif
