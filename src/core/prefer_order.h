/*
 * prefer_order.h - the numbering of prefer.h with the edges taken in one given order. Internal to src/core, and its tests.
 */
#ifndef WM_CORE_PREFER_ORDER_H
#define WM_CORE_PREFER_ORDER_H

#include "core/prefer.h"

/* In which order the out-edges of a node (and the starts) get their weights. */
enum prefer_order {
	PREFER_GIVEN = 0, /* as in the graph: the one of the paper's examples */
	PREFER_REVERSED,
	PREFER_WIDE_FIRST, /* those with the largest interval of any prefix */
	PREFER_NARROW_FIRST,
	PREFER_MANY_FIRST, /* those with the most prefixes */
	PREFER_FEW_FIRST,
	PREFER_EACH_BEST, /* at each node the one of the above that leaves the narrowest intervals there */
	PREFER_FIT_WIDE,  /* sets of sums, not intervals (prefer_fit.c), wide first */
	PREFER_FIT_MANY,  /* the same, many first */
	PREFER_ORDERS,
};

/* As prefer_number, which tries all orders. The interval is 0 when one of the FIT orders was given up for its size. */
struct error *prefer_number_in_order(const struct cfg *g, const struct path_numbering *n, const uint64_t *interesting,
				     uint32_t count, enum prefer_order order, struct arena *arena,
				     struct prefer_numbering *ret);

#endif
