/*
 * profile_merge.h - adds up what many recordings counted, for `waymark merge`: paths, the heap, samples and other events.
 *
 * Counts are added per image (build id; path of one without), function (name_key, cfg_key) and path, whatever kind of table they
 * were in. Counts of residual paths keep their calling contexts: sites and prefixes get new numbers. The heap is added per context,
 * events per context and name. The order of the files does not matter, and a merged file may be merged again. What is kept in memory
 * is what was added up, not the files.
 */
#ifndef WM_MODEL_PATHS_PROFILE_MERGE_H
#define WM_MODEL_PATHS_PROFILE_MERGE_H

#include "base/vec.h"
#include "format/wmk.h"

struct merge;

/* The parts of the recordings that the written file does not have. */
struct merge_rest {
	uint64_t events; /* their times and threads */
};

struct error *merge_create(struct merge **ret);
void merge_destroy(struct merge *m);

/* Adds a recording; w may then go. ERROR_MISMATCH: it was added before, alone or in a merged file, or counts its samples otherwise. After an error m can only
 * be destroyed. */
struct error *merge_add(struct merge *m, const struct wmk_file *w);

/* Appends the .wmk to out. ERROR_MISMATCH when no recording has anything. */
struct error *merge_write(const struct merge *m, struct buffer *out);
void merge_get_rest(const struct merge *m, struct merge_rest *ret);

#endif
