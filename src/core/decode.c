/*
 * decode.c - from (function, id) back to the calls that led there (Algorithm 2 of the paper).
 *
 * Walks towards the callers: the incoming edge whose range holds the id is found by binary search, its addend is taken off.
 * O(depth x log(callers)). The ranges were made disjoint by callgraph_encode or checked by callgraph_adopt.
 */
#include "core/callgraph.h"

/* The encoded edge into node with the largest addend that is not above id, or UINT32_MAX. */
static uint32_t edge_below(const struct callgraph *g, uint32_t node, uint64_t id)
{
	uint32_t low = g->in_start[node], high = g->in_start[node + 1];

	/* The edge sought, if any, is in [low, high). */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (g->edges[g->in_edges[middle]].addend <= id)
			low = middle;
		else
			high = middle;
	}
	if (low == high || g->edges[g->in_edges[low]].addend > id)
		return UINT32_MAX;
	return g->in_edges[low];
}

static void reverse(uint32_t *edges, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++) {
		uint32_t edge = edges[i];

		edges[i] = edges[count - 1 - i];
		edges[count - 1 - i] = edge;
	}
}

struct error *callgraph_decode(const struct callgraph *g, uint32_t node, uint64_t id, uint32_t *edges,
			       uint32_t *ret_edge_count, uint32_t *ret_start)
{
	uint32_t count = 0, at = node;
	uint64_t left = id;

	if (!g->is_encoded)
		return error_create(ERROR_ARGUMENT, "the call graph is not encoded");
	if (node >= g->node_count)
		return error_create(ERROR_FORMAT, "function %u of %u", node, g->node_count);
	while (!g->nodes[at].has_dummy || left != g->nodes[at].restart) {
		uint32_t e = edge_below(g, at, left);

		if (e == UINT32_MAX || left - g->edges[e].addend >= g->nodes[g->edges[e].caller].contexts)
			return error_create(ERROR_FORMAT, "function %u has no context %llu", node,
					    (unsigned long long)id);
		left -= g->edges[e].addend;
		at = g->edges[e].caller;
		edges[count++] = e;
	}
	reverse(edges, count);
	*ret_edge_count = count;
	*ret_start = at;
	return NULL;
}
