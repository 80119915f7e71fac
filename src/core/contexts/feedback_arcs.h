/*
 * feedback_arcs.h - puts the nodes of a strongly connected graph in a line so that little points backwards. Internal to src/core.
 */
#ifndef WM_CORE_CONTEXTS_FEEDBACK_ARCS_H
#define WM_CORE_CONTEXTS_FEEDBACK_ARCS_H

#include <stdint.h>

#include "base/error.h"

/* One end of an edge: the node at the other end, and what it costs when the edge points backwards. */
struct feedback_arcs_link {
	uint64_t cost; /* at least 1; the sum over the graph stays below 2^63 */
	uint32_t node;
};

/* Nodes are 0 .. node_count - 1. No loops; parallel edges are fine. Every edge is in out and in. The links of node n are
 * out[out_start[n]] .. out[out_start[n + 1] - 1], and so for in. */
struct feedback_arcs_graph {
	const struct allocator *allocator; /* of what the line takes while it is made */
	uint32_t node_count;
	uint32_t first; /* where a search starts: the node that is entered most from outside */
	uint32_t *out_start;
	uint32_t *in_start;
	struct feedback_arcs_link *out;
	struct feedback_arcs_link *in;
};

/*
 * Fills line[node_count] with the nodes. Near the least cost, not always at it. *budget is how many links may be looked at to
 * improve a first line; what was used is taken off. Reorders the links of each node.
 */
struct error *feedback_arcs_line(const struct feedback_arcs_graph *g, uint64_t *budget, uint32_t *line);

#endif
