/*
 * path_count.h - counts of single paths: those that found no place in their table.
 */
#ifndef WM_RUNTIME_PATHS_PATH_COUNT_H
#define WM_RUNTIME_PATHS_PATH_COUNT_H

#include "runtime/paths/path_table.h"

/* In front of a table's index, by the hash of r; a hint. Never changed in size: a larger one takes its place. */
struct wmrt_path_cache {
	uint32_t shift;
	uint32_t size;
	struct wmk_path_count *records[]; /* [size]; none is NULL */
};

/* That of a table with no such counts. */
struct wmrt_path_cache *wmrt_path_cache_none(void);
/* How many records the table has. Those below: by its owner, signals blocked. */
uint32_t wmrt_path_counts_of(const struct wmrt_path_table *table);
/* Writes copies of them, flagged as inherited; the place behind them. */
struct wmk_path_count *wmrt_path_counts_save(const struct wmrt_path_table *table, struct wmk_path_count *saved);
void wmrt_path_counts_places(const struct wmrt_path_table *table, void (*visit)(const void *place, void *arg),
			     void *arg);
/* In a forked child: the records again, all counts 0, from those copies; the place behind them. is_inherited: what they
 * count is to be in the copies for the child's own children. */
const struct wmk_path_count *wmrt_path_counts_restore(struct wmrt_path_table *table, const struct wmk_path_count *saved,
						      bool is_inherited);
/* See wmrt_path_table_adopt. */
void wmrt_path_counts_adopt(struct wmrt_path_table *table);
/* The records of this table are not there any more. */
void wmrt_path_counts_forget(struct wmrt_path_table *table);

#endif
