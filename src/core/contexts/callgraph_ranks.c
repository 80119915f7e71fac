/* callgraph_ranks.c - numbers a call graph from ranks: callers first (Kahn 1962), each function's ranges one behind the other. */
#include "core/contexts/callgraph_ranks.h"

#include "core/contexts/adjacency.h"

struct ranking {
	struct callgraph *g;
	struct adjacency in, out;
	uint32_t *open;    /* by node: encoded callers without numbers */
	uint32_t *encoded; /* by node: encoded edges into it */
	uint32_t *list;    /* nodes whose callers have numbers */
};

/* Puts the encoded edges into the node in front of the others, by rank. */
static struct error *order_node(struct ranking *r, uint32_t n)
{
	const struct callgraph_edge *edges = r->g->edges;
	uint32_t *group = r->in.edges + r->in.start[n], count = r->in.start[n + 1] - r->in.start[n], encoded = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t edge = group[i];

		if (edges[edge].kind != EDGE_ENCODED)
			continue;
		group[i] = group[encoded];
		group[encoded++] = edge;
	}
	r->open[n] = r->encoded[n] = encoded;
	/* Each exchange brings an edge to its place. */
	for (uint32_t i = 0; i < encoded;) {
		uint64_t rank = edges[group[i]].addend;
		uint32_t other;

		if (rank == i) {
			i++;
			continue;
		}
		if (rank >= encoded || edges[group[rank]].addend == rank)
			return error_create_in(r->g->allocator, ERROR_FORMAT, "no order of the calls to function %u",
					       n);
		other = group[rank];
		group[rank] = group[i];
		group[i] = other;
	}
	return NULL;
}

static struct error *number_node(struct ranking *r, uint32_t n)
{
	struct callgraph_node *node = &r->g->nodes[n];
	const uint32_t *group = r->in.edges + r->in.start[n];
	uint64_t next = 0;

	node->restart = 0;
	for (uint32_t i = 0; i < r->encoded[n]; i++) {
		struct callgraph_edge *edge = &r->g->edges[group[i]];

		edge->addend = next;
		if (__builtin_add_overflow(next, r->g->nodes[edge->caller].contexts, &next) || next == UINT64_MAX)
			return error_create_in(r->g->allocator, ERROR_FORMAT, "function %u has too many contexts", n);
		if (i == 0 && node->has_dummy)
			node->restart = next++;
	}
	if (!r->encoded[n] && node->has_dummy)
		next++;
	node->contexts = next;
	return next ? NULL : error_create_in(r->g->allocator, ERROR_FORMAT, "function %u has no context", n);
}

static struct error *number_all(struct ranking *r)
{
	struct callgraph *g = r->g;
	uint32_t listed = 0, taken = 0;
	struct error *err = NULL;

	for (uint32_t n = 0; n < g->node_count && !err; n++) {
		err = order_node(r, n);
		if (!r->open[n])
			r->list[listed++] = n;
	}
	while (taken < listed && !err) {
		uint32_t n = r->list[taken++];

		err = number_node(r, n);
		for (uint32_t k = r->out.start[n]; k < r->out.start[n + 1]; k++) {
			const struct callgraph_edge *edge = &g->edges[r->out.edges[k]];

			if (edge->kind == EDGE_ENCODED && --r->open[edge->callee] == 0)
				r->list[listed++] = edge->callee;
		}
	}
	for (uint32_t n = 0; listed < g->node_count && !err; n++)
		if (r->open[n])
			err = error_create_in(g->allocator, ERROR_FORMAT,
					      "the encoded calls to function %u come from a cycle", n);
	return err;
}

struct error *callgraph_number_ranks(struct callgraph *g)
{
	struct ranking r = {.g = g};
	size_t count = (size_t)g->node_count + 1;
	struct error *err = &error_no_memory;

	r.open = allocator_calloc(g->allocator, count, sizeof *r.open);
	r.encoded = allocator_calloc(g->allocator, count, sizeof *r.encoded);
	r.list = allocator_alloc(g->allocator, count, sizeof *r.list);
	if (r.open && r.encoded && r.list)
		err = adjacency_by_callee(g, &r.in) ?: adjacency_by_caller(g, &r.out);
	if (!err)
		err = number_all(&r);
	adjacency_deinit(&r.in);
	adjacency_deinit(&r.out);
	allocator_free(g->allocator, r.open);
	allocator_free(g->allocator, r.encoded);
	allocator_free(g->allocator, r.list);
	return err;
}
