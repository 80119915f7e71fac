/*
 * ppp_order.h - the numbering of ppp.h with the edges taken in one given order. Internal to src/core, and its tests.
 */
#ifndef WM_CORE_PATHS_PPP_ORDER_H
#define WM_CORE_PATHS_PPP_ORDER_H

#include "core/paths/ppp.h"

/* In which order the out-edges of a node (and the starts) get their weights. */
enum ppp_order {
	PPP_GIVEN = 0, /* as in the graph: the one of the paper's examples */
	PPP_REVERSED,
	PPP_WIDE_FIRST, /* those with the largest interval of any prefix */
	PPP_NARROW_FIRST,
	PPP_MANY_FIRST, /* those with the most prefixes */
	PPP_FEW_FIRST,
	PPP_EACH_BEST, /* at each node the one of the above that leaves the narrowest intervals there */
	PPP_FIT_WIDE,  /* sets of sums, not intervals (ppp_sets.c), wide first */
	PPP_FIT_MANY,  /* the same, many first */
	PPP_ORDERS,
};

/* As ppp_number, which tries all orders. The interval is 0 when those tried were FIT orders that were given up for their size. */
struct error *ppp_number_in_orders(const struct cfg *g, const struct path_numbering *n, const uint64_t *interesting,
				   uint32_t count, enum ppp_order first, enum ppp_order last, struct arena *arena,
				   struct ppp_numbering *ret);

#endif
