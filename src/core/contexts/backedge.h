/*
 * backedge.h - which edges become back edges. Internal to src/core.
 */
#ifndef WM_CORE_CONTEXTS_BACKEDGE_H
#define WM_CORE_CONTEXTS_BACKEDGE_H

#include "core/contexts/adjacency.h"

/*
 * Sets kind of every edge to EDGE_BACK or EDGE_ENCODED so that the encoded ones form no cycle, and fills order[node_count]
 * with the nodes, callers before the callees of encoded edges. Back edges are few and cold, as far as a heuristic finds.
 * sift_budget: see callgraph_options.
 */
struct error *backedge_mark(struct callgraph *g, const struct adjacency *out, const struct adjacency *in,
			    uint64_t sift_budget, uint32_t *order);

/* How far weights must be shifted right so that (weight >> shift) + 1, summed over all edges, stays below 2^63. */
unsigned int backedge_weight_shift(const struct callgraph *g);

#endif
