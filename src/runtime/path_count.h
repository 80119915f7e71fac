/*
 * path_count.h - counts of single paths: those that found no place in their table.
 */
#ifndef WM_RUNTIME_PATH_COUNT_H
#define WM_RUNTIME_PATH_COUNT_H

#include "runtime/path_table.h"

/* In front of a table's index, by the hash of r; a hint. Never changed in size: a larger one takes its place. */
struct wmrt_path_cache {
	uint32_t shift;
	uint32_t size;
	struct wmk_path_count *records[]; /* [size]; none is NULL */
};

/* That of a table with no such counts. */
struct wmrt_path_cache *wmrt_path_cache_none(void);
/* Calls visit for each record of the table, in the order in which they were made. */
void wmrt_path_counts_each(const struct wmrt_path_table *table,
			   void (*visit)(const struct wmk_path_count *record, void *arg), void *arg);

#endif
