/*
 * profile_merge_model.h - what profile_merge.c gathers and profile_merge_write.c writes. Private to the two.
 */
#ifndef WM_MODEL_PATHS_PROFILE_MERGE_MODEL_H
#define WM_MODEL_PATHS_PROFILE_MERGE_MODEL_H

#include "base/hashmap.h"
#include "model/paths/profile_merge.h"

struct merge_image {
	struct wmk_image record; /* as it is written, but for path */
	const char *path;
};

/* What is counted of a function: by itself, and by the threads that its processes inherited at forks. */
enum merge_part {
	MERGE_OWN = 0,
	MERGE_INHERITED,
	MERGE_PARTS,
};

struct merge_function {
	uint64_t path_count;
	uint64_t activations[MERGE_PARTS];
	bool has[MERGE_PARTS];
};

VEC_DECLARE(merge_image_vec, struct merge_image);
VEC_DECLARE(merge_function_vec, struct merge_function);
VEC_DECLARE(merge_count_vec, uint64_t);
VEC_DECLARE(merge_name_vec, const char *);

/* words[0] of a key in `counts`: function, part, whether it is residual. words[1]: the path. words[2]: number of the context + 1,
 * 0 for none. */
enum {
	MERGE_RESIDUAL = 1,
	MERGE_PART_SHIFT = 1,
	MERGE_FUNCTION_SHIFT = 2,
};

struct merge {
	struct arena arena;
	struct hashmap runs;             /* {run} */
	struct merge_name_vec run_files; /* by number of the run: the file it was in */
	struct merge_image_vec images;
	uint32_t next_site;
	struct hashmap nodes;     /* {id, parent and site, epoch and run}; prefix WM_PREFIX_FIRST + number */
	struct hashmap contexts;  /* {id, prefix and site, epoch} */
	struct hashmap functions; /* {image, name_key, cfg_key} */
	struct merge_function_vec function_totals;
	struct hashmap counts;
	struct merge_count_vec count_values;
	struct wmk_header header;
	uint64_t file_count;
	struct merge_rest rest;
};

#endif
