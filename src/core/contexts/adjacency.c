/*
 * adjacency.c - counting sort of edges by one of their ends. Linear, stable.
 */
#include "core/contexts/adjacency.h"

static uint32_t end_of(const struct callgraph_edge *edge, bool by_callee)
{
	return by_callee ? edge->callee : edge->caller;
}

static struct error *adjacency_build(const struct callgraph *g, bool by_callee, struct adjacency *ret)
{
	uint32_t *start = allocator_calloc(g->allocator, (size_t)g->node_count + 1, sizeof(*start));
	uint32_t *edges = allocator_alloc(g->allocator, g->edge_count, sizeof(*edges));
	uint32_t sum = 0;

	if (!start || !edges) {
		allocator_free(g->allocator, start);
		allocator_free(g->allocator, edges);
		return &error_no_memory;
	}
	for (uint32_t e = 0; e < g->edge_count; e++)
		start[end_of(&g->edges[e], by_callee)]++;
	for (uint32_t n = 0; n <= g->node_count; n++) {
		sum += start[n];
		start[n] = sum;
	}
	/* Each start is now one past its group's end and walks down to its beginning. */
	for (uint32_t e = g->edge_count; e-- > 0;)
		edges[--start[end_of(&g->edges[e], by_callee)]] = e;
	*ret = (struct adjacency){start, edges, g->allocator};
	return NULL;
}

struct error *adjacency_by_caller(const struct callgraph *g, struct adjacency *ret)
{
	return adjacency_build(g, false, ret);
}

struct error *adjacency_by_callee(const struct callgraph *g, struct adjacency *ret)
{
	return adjacency_build(g, true, ret);
}

void adjacency_deinit(struct adjacency *a)
{
	allocator_free(a->allocator, a->start);
	allocator_free(a->allocator, a->edges);
	*a = (struct adjacency){0};
}
