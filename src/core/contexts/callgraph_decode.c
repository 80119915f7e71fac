/*
 * callgraph_decode.c - from (function, id) back to the calls that led there (Algorithm 2 of the paper).
 *
 * Walks towards the callers: the range that holds the id names the edge, and what is left of the id is the caller's. The
 * dummy's range is the end. O(depth x log(callers)). The ranges were made disjoint by callgraph_encode or checked by
 * callgraph_adopt.
 */
#include "core/contexts/callgraph_decode.h"

void decode_reverse(uint32_t *edges, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t edge = edges[i];

		edges[i] = edges[count - 1 - i];
		edges[count - 1 - i] = edge;
	}
}

struct error *callgraph_decode(const struct callgraph *g, uint32_t node, uint64_t id, uint32_t *edges,
			       uint32_t *ret_edge_count, uint32_t *ret_start)
{
	const struct callgraph_range *range;
	uint32_t count = 0, at = node;
	uint64_t left = id;

	if (!g->is_encoded)
		return error_create_in(g->allocator, ERROR_ARGUMENT, "the call graph is not encoded");
	if (node >= g->node_count)
		return error_create_in(g->allocator, ERROR_FORMAT, "function %u of %u", node, g->node_count);
	for (;;) {
		range = id < g->nodes[node].contexts ? decode_find(g, at, left) : NULL;
		if (!range)
			return error_create_in(g->allocator, ERROR_FORMAT, "function %u has no context %llu", node,
					       (unsigned long long)id);
		if (range->edge == CALLGRAPH_DUMMY)
			break;
		left -= range->first;
		at = range->caller;
		edges[count++] = range->edge;
	}
	decode_reverse(edges, count);
	*ret_edge_count = count;
	*ret_start = at;
	return NULL;
}
