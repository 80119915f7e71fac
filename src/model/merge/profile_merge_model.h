/*
 * profile_merge_model.h - what profile_merge.c and profile_merge_code.c gather and profile_merge_write.c writes. Private to them.
 */
#ifndef WM_MODEL_PATHS_PROFILE_MERGE_MODEL_H
#define WM_MODEL_PATHS_PROFILE_MERGE_MODEL_H

#include "base/hashmap.h"
#include "format/wmk.h"
#include "model/merge/profile_merge.h"
#include "waymark/abi.h"

struct merge_image {
	struct wmk_image record; /* as it is written, but for path */
	const char *path;
};

/* The counters of a function: its own, and those of the threads that its processes inherited at forks. */
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

struct merge_site {
	uint32_t number;
	struct wmk_site record;
};

VEC_DECLARE(merge_image_vec, struct merge_image);
VEC_DECLARE(merge_function_vec, struct merge_function);
VEC_DECLARE(merge_count_vec, uint64_t);
VEC_DECLARE(merge_name_vec, const char *);
VEC_DECLARE(merge_code_function_vec, struct wmk_function);
VEC_DECLARE(merge_code_site_vec, struct merge_site);
VEC_DECLARE(merge_code_line_vec, struct wmk_line);
VEC_DECLARE(merge_epoch_vec, struct wmk_epoch);
VEC_DECLARE(merge_epoch_function_vec, struct wmk_epoch_function);
VEC_DECLARE(merge_epoch_edge_vec, struct wmk_epoch_edge);

struct merge_event {
	uint64_t count;
	uint64_t value;
};

VEC_DECLARE(merge_event_vec, struct merge_event);
VEC_DECLARE(merge_heap_vec, struct wmk_heap_sum);

/*
 * Recorded code of all files. The records have the numbers that are written, but for strings, which are indices of `texts`. Functions and
 * sites of files without encodings of their own (walked stacks) are the same if all that they have is.
 */
struct merge_code {
	struct hashmap text_numbers; /* {file, string number}: number of text_indices */
	struct merge_count_vec text_indices;
	struct hashmap text_map; /* by content */
	struct merge_name_vec texts;
	struct hashmap function_map; /* {image and name, address, owner and descriptor}: number of function_indices */
	struct merge_count_vec function_indices;
	struct hashmap site_map; /* {function and kind, position and name, line and flags}: number of site_numbers */
	struct merge_count_vec site_numbers;
	struct merge_code_function_vec functions; /* number N is the N-th */
	struct merge_code_site_vec sites;         /* by rising number */
	struct merge_code_line_vec lines;
	struct merge_epoch_vec epochs;
	struct merge_epoch_function_vec epoch_functions;
	struct merge_epoch_edge_vec epoch_edges;
};

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
	struct merge_code code;
	struct hashmap epochs;    /* {file, epoch}; number + 1 is the new one */
	struct hashmap nodes;     /* {id, parent and site, epoch and run}; prefix WM_PREFIX_FIRST + number */
	struct hashmap contexts;  /* {id, prefix and site, epoch} */
	struct hashmap functions; /* {image, name_key, cfg_key} */
	struct merge_function_vec function_totals;
	struct hashmap counts;
	struct hashmap events; /* {context, name: index of texts} */
	struct merge_event_vec event_values;
	struct hashmap heaps; /* {context, flags} */
	struct merge_heap_vec heap_values;
	struct merge_count_vec count_values;
	struct wmk_header header;
	uint64_t file_count;
	struct merge_rest rest;
};

enum {
	MERGE_SITE_UNKNOWN = WM1_SITE_ELIDED - 1, /* of no image, in the file either */
};

enum {
	MERGE_NO_NAME = UINT32_MAX, /* in `events`: the name was not recorded */
};

/* A file at work: what its numbers are in the merged one. */
struct adding {
	struct merge *m;
	const struct wmk_file *w;
	uint32_t *images;              /* by record number */
	bool has_code;                 /* recorded code with encodings: its epochs are no other file's */
	uint32_t first_function;       /* those from here on are of this file alone */
	struct hashmap code_functions; /* function number -> index in new_functions */
	struct hashmap code_sites;     /* site number -> index in new_sites */
	struct merge_count_vec new_functions;
	struct merge_count_vec new_sites;
	struct hashmap prefixes;
	struct merge_count_vec new_prefixes; /* by number in prefixes */
	uint32_t links;                      /* tasks whose nodes are being added, one inside of another */
};

void merge_code_deinit(struct merge_code *code);
/* Copies the recorded code of the file, if its path counts have contexts. */
struct error *merge_add_code(struct adding *a);
/* Epochs of two files are two epochs, but for epoch 0 of files without recorded code. */
struct error *merge_new_epoch(struct adding *a, uint32_t epoch, uint32_t *ret);
/* The index in `texts` of a string of the file; WMK_NO_STRING: the file has no such string. */
struct error *merge_add_text(struct adding *a, uint32_t string, uint32_t *ret);
/* False when it is no site of recorded code. */
bool merge_new_code_site(const struct adding *a, uint32_t site, uint32_t *ret);

#endif
