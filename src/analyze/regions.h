/*
 * regions.h - what each instruction reads and writes, so that one can ask which stores a load can see.
 *
 * A region is what some instruction reads: a location with a number of bytes. Of each instruction there are three sets of regions: those that it
 * reads, those that what it writes can change, and those that it surely overwrites as a whole. Equal sets are one.
 */
#ifndef WM_ANALYZE_REGIONS_H
#define WM_ANALYZE_REGIONS_H

#include "analyze/call_order.h"
#include "core/pointers/id_sets.h"

/* That control comes this far: calls that may not return change it. */
#define REGION_CONTROL 0

struct region {
	uint32_t location;
	uint32_t len_bytes;
};
VEC_DECLARE(region_vec, struct region);

struct regions {
	const struct memory *memory;
	struct region_vec items; /* [0] is REGION_CONTROL */
	struct slotmap map;
	struct id_set_vec sets; /* [0] is empty */
	struct slotmap set_map;
	uint32_t *reads, *changes, *overwrites; /* [instruction] in `sets` */
	uint32_t *passes; /* [instruction] in `sets`: what a call writes for those that it calls: variable arguments, copies of structures */
	struct id_set *function_changes; /* [function] what it and those that it calls can change */
	struct call_order calls;
	const bool *is_recursive; /* [function] that of calls */
	void *builder;
};

/* runs: as in memory_analyse. */
struct error *regions_find(const struct memory *m, const bool *runs, struct regions *ret);
/* For who has read the rest of them: makes `calls`, is_recursive and function_changes. */
struct error *regions_sum(struct regions *r);
void regions_deinit(struct regions *r);

static inline const struct id_set *region_set(const struct regions *r, uint32_t set)
{
	return &r->sets.items[set];
}

#endif
