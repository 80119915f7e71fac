/*
 * callgraph_decode.h - one step of decoding. Internal to src/core.
 */
#ifndef WM_CORE_CONTEXTS_CALLGRAPH_DECODE_H
#define WM_CORE_CONTEXTS_CALLGRAPH_DECODE_H

#include "core/contexts/callgraph.h"

/*
 * The range of node that holds id, which is below the node's contexts; NULL when it falls into a gap. Hot callers have the
 * lowest ids, so the search gallops from the start: next to nothing for them, twice a binary search for the coldest.
 */
static inline const struct callgraph_range *decode_find(const struct callgraph *g, uint32_t node, uint64_t id)
{
	const struct callgraph_range *ranges = g->ranges + g->range_start[node];
	uint32_t count = g->range_start[node + 1] - g->range_start[node];
	uint32_t low = 0, high = 1;

	if (!count || ranges[0].first > id)
		return NULL;
	/* ranges[low].first <= id throughout */
	while (high < count && ranges[high].first <= id) {
		low = high;
		high = high * 2 < count ? high * 2 : count;
	}
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (ranges[middle].first <= id)
			low = middle;
		else
			high = middle;
	}
	/* The caller has no ids past the end of the range. */
	if (!g->is_gapless &&
	    id - ranges[low].first >= (ranges[low].edge == CALLGRAPH_DUMMY ? 1 : g->nodes[ranges[low].caller].contexts))
		return NULL;
	return &ranges[low];
}

/* Turns edges that were found towards the callers outermost first. */
void decode_reverse(uint32_t *edges, size_t count);

#endif
