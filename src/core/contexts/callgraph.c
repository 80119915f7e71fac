/*
 * callgraph.c - building a call graph, by hand, call by call while its encoding is in use, or from a stored encoding.
 *
 * A stored encoding is untrusted: what callgraph_decode relies on is checked here, once.
 */
#include "core/contexts/callgraph.h"

#include "base/sort.h"
#include "base/vec.h"
#include "core/contexts/adjacency.h"

void callgraph_init(struct callgraph *g, const struct allocator *allocator)
{
	*g = (struct callgraph){.allocator = allocator};
}

void callgraph_forget_encoding(struct callgraph *g)
{
	allocator_free(g->allocator, g->range_start);
	allocator_free(g->allocator, g->ranges);
	g->range_start = NULL;
	g->ranges = NULL;
	g->range_start_capacity = g->range_capacity = 0;
	g->is_encoded = g->is_gapless = false;
}

void callgraph_deinit(struct callgraph *g)
{
	allocator_free(g->allocator, g->nodes);
	allocator_free(g->allocator, g->edges);
	callgraph_forget_encoding(g);
	*g = (struct callgraph){.allocator = g->allocator};
}

/* items with room for one more, NULL when memory is short. */
static void *grow(const struct callgraph *g, void *items, uint32_t count, uint32_t *capacity, size_t item_bytes)
{
	size_t wide = *capacity;

	if (count < *capacity)
		return items;
	items = vec_grow_in(g->allocator, items, &wide, (size_t)count + 1, item_bytes);
	if (items)
		*capacity = wide < UINT32_MAX ? (uint32_t)wide : UINT32_MAX;
	return items;
}

static struct error *reserve_node(struct callgraph *g)
{
	struct callgraph_node *nodes;

	if (g->node_count == CALLGRAPH_MAX_COUNT)
		return error_create_in(g->allocator, ERROR_OVERFLOW, "call graph has more than %u functions",
				       g->node_count);
	nodes = grow(g, g->nodes, g->node_count, &g->node_capacity, sizeof(*nodes));
	if (!nodes)
		return &error_no_memory;
	g->nodes = nodes;
	return NULL;
}

struct error *callgraph_add_node(struct callgraph *g, bool is_root, uint32_t *ret)
{
	struct error *err = reserve_node(g);

	if (err)
		return err;
	if (g->is_encoded)
		callgraph_forget_encoding(g);
	g->nodes[g->node_count] = (struct callgraph_node){.is_root = is_root};
	*ret = g->node_count++;
	return NULL;
}

static struct error *reserve_edge(struct callgraph *g, uint32_t caller, uint32_t callee)
{
	struct callgraph_edge *edges;

	if (caller >= g->node_count || callee >= g->node_count)
		return error_create_in(g->allocator, ERROR_ARGUMENT, "call from function %u to %u, but there are %u",
				       caller, callee, g->node_count);
	if (g->edge_count == CALLGRAPH_MAX_COUNT)
		return error_create_in(g->allocator, ERROR_OVERFLOW, "call graph has more than %u calls",
				       g->edge_count);
	edges = grow(g, g->edges, g->edge_count, &g->edge_capacity, sizeof(*edges));
	if (!edges)
		return &error_no_memory;
	g->edges = edges;
	return NULL;
}

struct error *callgraph_add_edge(struct callgraph *g, uint32_t caller, uint32_t callee, uint32_t site, uint64_t weight,
				 uint32_t *ret)
{
	struct error *err = reserve_edge(g, caller, callee);

	if (err)
		return err;
	if (g->is_encoded)
		callgraph_forget_encoding(g);
	g->edges[g->edge_count] =
		(struct callgraph_edge){.caller = caller, .callee = callee, .site = site, .weight = weight};
	*ret = g->edge_count++;
	return NULL;
}

/* ---- additions to an encoded graph ---- */

/* Room for the range of one more node. */
static struct error *reserve_range(struct callgraph *g)
{
	uint32_t filled = g->range_start ? g->range_start[g->node_count] : 0;
	struct callgraph_range *ranges = grow(g, g->ranges, filled, &g->range_capacity, sizeof(*ranges));
	uint32_t *start;

	if (!ranges)
		return &error_no_memory;
	g->ranges = ranges;
	start = grow(g, g->range_start, g->node_count + 1, &g->range_start_capacity, sizeof(*start));
	if (!start)
		return &error_no_memory;
	g->range_start = start;
	g->range_start[g->node_count] = filled;
	return NULL;
}

struct error *callgraph_extend_node(struct callgraph *g, bool is_root, uint32_t *ret)
{
	uint32_t n = g->node_count, filled;
	struct error *err;

	if (n && !g->is_encoded)
		return error_create_in(g->allocator, ERROR_ARGUMENT, "the call graph is not encoded");
	err = reserve_node(g);
	if (!err)
		err = reserve_range(g);
	if (err)
		return err;
	g->nodes[n] = (struct callgraph_node){.is_root = is_root, .has_dummy = true, .contexts = 1};
	filled = g->range_start[n];
	g->ranges[filled] = (struct callgraph_range){0, n, CALLGRAPH_DUMMY};
	g->range_start[n + 1] = filled + 1;
	if (!g->is_encoded)
		g->is_encoded = g->is_gapless = true;
	g->node_count++;
	*ret = n;
	return NULL;
}

struct error *callgraph_extend_edge(struct callgraph *g, uint32_t caller, uint32_t callee, uint32_t site, bool is_bare,
				    uint32_t *ret)
{
	struct error *err = reserve_edge(g, caller, callee);

	if (err)
		return err;
	if (!g->is_encoded || !g->nodes[callee].has_dummy)
		return error_create_in(g->allocator, ERROR_ARGUMENT, "function %u cannot be entered by a push", callee);
	g->edges[g->edge_count] = (struct callgraph_edge){
		.caller = caller, .callee = callee, .site = site, .is_bare = is_bare, .kind = EDGE_NEW};
	*ret = g->edge_count++;
	return NULL;
}

/* ---- adopting a stored encoding ---- */

static inline int range_compare(const struct callgraph_range *l, const struct callgraph_range *r)
{
	if (l->first != r->first)
		return l->first < r->first ? -1 : 1;
	return l->edge < r->edge ? -1 : l->edge > r->edge;
}

SORT_DECLARE(ranges, struct callgraph_range, range_compare);

static struct error *check_node(const struct callgraph *g, uint32_t n)
{
	const struct callgraph_node *node = &g->nodes[n];

	if (node->contexts == 0)
		return error_create_in(g->allocator, ERROR_FORMAT, "function %u has no context", n);
	if (node->is_root && !node->has_dummy)
		return error_create_in(g->allocator, ERROR_FORMAT, "function %u is a root but has no id to start at",
				       n);
	return NULL;
}

static struct error *check_edge(const struct callgraph *g, uint32_t e)
{
	const struct callgraph_edge *edge = &g->edges[e];

	if (edge->kind != EDGE_ENCODED && edge->kind != EDGE_BACK && edge->kind != EDGE_CUT && edge->kind != EDGE_NEW)
		return error_create_in(g->allocator, ERROR_FORMAT, "call %u has the unknown kind %u", e,
				       (unsigned int)edge->kind);
	if (edge->kind != EDGE_ENCODED && !g->nodes[edge->callee].has_dummy)
		return error_create_in(g->allocator, ERROR_FORMAT,
				       "call %u is a push, but function %u has no id for it", e, edge->callee);
	return NULL;
}

/* Stores the ranges of node n in `ranges`, by rising first id, and checks that they are disjoint and in bounds. */
static struct error *adopt_node(struct callgraph *g, uint32_t n, const struct adjacency *in,
				struct callgraph_range *ranges, struct callgraph_range *scratch, uint32_t *ret_count)
{
	const struct callgraph_node *node = &g->nodes[n];
	uint32_t count = 0;
	uint64_t end = 0;

	for (uint32_t k = in->start[n]; k < in->start[n + 1]; k++) {
		const struct callgraph_edge *edge = &g->edges[in->edges[k]];

		if (edge->kind == EDGE_ENCODED)
			ranges[count++] = (struct callgraph_range){edge->addend, edge->caller, in->edges[k]};
	}
	if (node->has_dummy)
		ranges[count++] = (struct callgraph_range){node->restart, n, CALLGRAPH_DUMMY};
	ranges_sort(ranges, count, scratch);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t size = ranges[i].edge == CALLGRAPH_DUMMY ? 1 : g->nodes[ranges[i].caller].contexts;

		if (ranges[i].first < end)
			return error_create_in(g->allocator, ERROR_FORMAT, "two calls to function %u share id %llu", n,
					       (unsigned long long)ranges[i].first);
		g->is_gapless &= ranges[i].first == end;
		if (__builtin_add_overflow(ranges[i].first, size, &end) || end > node->contexts)
			return error_create_in(g->allocator, ERROR_FORMAT,
					       "a call to function %u leads past its %llu contexts", n,
					       (unsigned long long)node->contexts);
	}
	g->is_gapless &= end == node->contexts;
	*ret_count = count;
	return NULL;
}

/* Removes nodes without encoded callers until none is left (Kahn 1962); what remains is on or behind a cycle. */
static struct error *check_acyclic(const struct callgraph *g)
{
	struct adjacency out = {0};
	uint32_t *open = allocator_calloc(g->allocator, (size_t)g->node_count + 1, sizeof(*open));
	uint32_t *list = allocator_alloc(g->allocator, (size_t)g->node_count + 1, sizeof(*list));
	uint32_t listed = 0, taken = 0;
	struct error *err = open && list ? adjacency_by_caller(g, &out) : &error_no_memory;

	if (err)
		goto out;
	for (uint32_t e = 0; e < g->edge_count; e++)
		open[g->edges[e].callee] += g->edges[e].kind == EDGE_ENCODED;
	for (uint32_t n = 0; n < g->node_count; n++)
		if (!open[n])
			list[listed++] = n;
	while (taken < listed) {
		uint32_t n = list[taken++];

		for (uint32_t k = out.start[n]; k < out.start[n + 1]; k++) {
			const struct callgraph_edge *edge = &g->edges[out.edges[k]];

			if (edge->kind == EDGE_ENCODED && --open[edge->callee] == 0)
				list[listed++] = edge->callee;
		}
	}
	for (uint32_t n = 0; listed < g->node_count && !err; n++)
		if (open[n])
			err = error_create_in(g->allocator, ERROR_FORMAT,
					      "the encoded calls to function %u come from a cycle", n);
out:
	adjacency_deinit(&out);
	allocator_free(g->allocator, open);
	allocator_free(g->allocator, list);
	return err;
}

/* How many ranges a node has at most. */
static uint32_t most_ranges(const struct callgraph *g, const struct adjacency *in)
{
	uint32_t most = 0;

	for (uint32_t n = 0; n < g->node_count; n++)
		if (in->start[n + 1] - in->start[n] > most)
			most = in->start[n + 1] - in->start[n];
	return most + 1;
}

static struct error *adopt_nodes(struct callgraph *g, const struct adjacency *in)
{
	struct callgraph_range *scratch = allocator_alloc(g->allocator, most_ranges(g, in), sizeof(*scratch));
	struct error *err = scratch ? NULL : &error_no_memory;
	uint32_t filled = 0, count;

	g->is_gapless = true;
	for (uint32_t n = 0; n < g->node_count && !err; n++) {
		err = adopt_node(g, n, in, g->ranges + filled, scratch, &count);
		if (!err)
			g->range_start[n + 1] = filled += count;
	}
	allocator_free(g->allocator, scratch);
	return err;
}

static struct error *adopt_ranges(struct callgraph *g)
{
	struct adjacency in;
	struct error *err;

	g->range_start = allocator_calloc(g->allocator, (size_t)g->node_count + 1, sizeof(*g->range_start));
	g->ranges = allocator_alloc(g->allocator, (size_t)g->edge_count + g->node_count + 1, sizeof(*g->ranges));
	if (!g->range_start || !g->ranges)
		return &error_no_memory;
	g->range_start_capacity = g->node_count + 1;
	g->range_capacity = g->edge_count + g->node_count + 1;
	err = adjacency_by_callee(g, &in);
	if (err)
		return err;
	err = adopt_nodes(g, &in);
	adjacency_deinit(&in);
	return err;
}

struct error *callgraph_adopt(struct callgraph *g)
{
	struct error *err = NULL;

	callgraph_forget_encoding(g);
	for (uint32_t n = 0; n < g->node_count && !err; n++)
		err = check_node(g, n);
	for (uint32_t e = 0; e < g->edge_count && !err; e++)
		err = check_edge(g, e);
	if (!err)
		err = check_acyclic(g);
	if (!err)
		err = adopt_ranges(g);
	if (err)
		callgraph_forget_encoding(g);
	else
		g->is_encoded = true;
	return err;
}
