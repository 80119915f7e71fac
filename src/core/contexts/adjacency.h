/*
 * adjacency.h - the edges of a call graph grouped by caller or by callee (compressed sparse rows). Internal to src/core.
 */
#ifndef WM_CORE_CONTEXTS_ADJACENCY_H
#define WM_CORE_CONTEXTS_ADJACENCY_H

#include "core/contexts/callgraph.h"

/* The edges of node n are edges[start[n]] .. edges[start[n + 1] - 1], indices into g->edges, rising. */
struct adjacency {
	uint32_t *start;
	uint32_t *edges;
	const struct allocator *allocator;
};

struct error *adjacency_by_caller(const struct callgraph *g, struct adjacency *ret);
struct error *adjacency_by_callee(const struct callgraph *g, struct adjacency *ret);
void adjacency_deinit(struct adjacency *a);

#endif
