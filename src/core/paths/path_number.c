/*
 * path_number.c - Ball-Larus numbers (Ball and Larus, MICRO'96, figure 5; PPP, POPL'07, figure 1) and their inverse.
 *
 * An imaginary node leads to all starts; so the starts get values as the out-edges of a node do. The values of the out-edges
 * of a node rise, each by at least 1, so regenerating a path is a binary search at each node. Where paths may be left, that is the
 * last way on from each node.
 */
#include "core/paths/path_number.h"

#include <stdlib.h>
#include <string.h>

static bool value_node(const struct cfg *g, uint32_t node, struct path_numbering *n)
{
	uint64_t sum = 0;

	if (cfg_node_ends(g, node)) {
		n->node_paths[node] = 1 + g->may_be_left;
		return true;
	}
	for (uint32_t e = g->first_edge[node]; e < g->first_edge[node + 1]; e++) {
		n->edge_values[e] = sum;
		/* each at most 2^44: no overflow before the comparison */
		sum += cfg_edge_ends(&g->edges[e]) ? 1 : n->node_paths[g->edges[e].to];
		if (sum > PATH_COUNT_MAX)
			return false;
	}
	n->node_paths[node] = sum + g->may_be_left;
	return true;
}

static bool value_starts(struct path_numbering *n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n->start_count; i++) {
		n->start_values[i] = sum;
		sum += n->node_paths[n->starts[i]];
		if (sum > PATH_COUNT_MAX)
			return false;
	}
	n->path_count = sum;
	return true;
}

/* Starts are the entry and the targets of cuts; a ITERATION edge has one to itself. is_start: zeroed scratch. */
static struct error *find_starts(const struct cfg *g, struct arena *arena, bool *is_start, struct path_numbering *n)
{
	uint32_t count = 0;

	is_start[0] = true;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		if (g->edges[e].cut == CFG_CUT_ITERATION)
			n->start_count++;
		else if (g->edges[e].cut != CFG_KEPT)
			is_start[g->edges[e].to] = true;
	}
	for (uint32_t i = 0; i < g->node_count; i++)
		n->start_count += is_start[i];
	n->starts = arena_calloc(arena, n->start_count, sizeof(*n->starts));
	n->start_values = arena_calloc(arena, n->start_count, sizeof(*n->start_values));
	n->start_iterations = arena_calloc(arena, n->start_count, sizeof(*n->start_iterations));
	if (!n->starts || !n->start_values || !n->start_iterations)
		return &error_no_memory;
	memset(n->start_iterations, 0xff, n->start_count * sizeof(*n->start_iterations)); /* NO_EDGE */
	for (uint32_t i = 0; i < g->node_count; i++)
		if (is_start[i])
			n->starts[count++] = i;
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].cut == CFG_CUT_ITERATION) {
			n->start_iterations[count] = e;
			n->starts[count++] = g->edges[e].to;
		}
	return NULL;
}

struct error *path_number(const struct cfg *g, struct arena *arena, struct path_numbering *ret)
{
	struct path_numbering n = {0};
	struct error *err = &error_no_memory;
	uint32_t *order = malloc(g->node_count * sizeof(*order));
	bool *is_start = calloc(g->node_count, sizeof(*is_start));
	bool fits = true;

	n.edge_values = arena_calloc(arena, g->edge_count, sizeof(*n.edge_values));
	n.node_paths = arena_calloc(arena, g->node_count, sizeof(*n.node_paths));
	if (!order || !is_start || !n.edge_values || !n.node_paths)
		goto out;
	err = cfg_order(g, order);
	if (!err)
		err = find_starts(g, arena, is_start, &n);
	if (err)
		goto out;
	for (uint32_t i = g->node_count; fits && i-- > 0;)
		fits = value_node(g, order[i], &n);
	if (fits && value_starts(&n))
		*ret = n;
	else
		err = error_create(ERROR_OVERFLOW, "a function of %u nodes has more than 2^%d paths: split it first",
				   g->node_count, PATH_COUNT_BITS);
out:
	free(order);
	free(is_start);
	return err;
}

uint32_t path_find_value(const uint64_t *values, uint32_t first, uint32_t end, uint64_t number)
{
	while (end - first > 1) {
		uint32_t middle = first + (end - first) / 2;

		if (values[middle] <= number)
			first = middle;
		else
			end = middle;
	}
	return first;
}

void path_regenerate(const struct cfg *g, const struct path_numbering *n, uint64_t number, struct path *path)
{
	uint32_t node;

	path->start = path_find_value(n->start_values, 0, n->start_count, number);
	path->edge_count = 0;
	path->end_edge = NO_EDGE;
	path->is_left = false;
	number -= n->start_values[path->start];
	node = n->starts[path->start];
	for (;;) {
		uint32_t e;

		path->is_left = g->may_be_left && number == n->node_paths[node] - 1;
		if (path->is_left || cfg_node_ends(g, node))
			break;
		e = path_find_value(n->edge_values, g->first_edge[node], g->first_edge[node + 1], number);

		if (cfg_edge_ends(&g->edges[e])) {
			path->end_edge = e;
			break;
		}
		number -= n->edge_values[e];
		path->edges[path->edge_count++] = e;
		node = g->edges[e].to;
	}
	path->end_node = node;
}

uint32_t path_nodes(const struct cfg *g, const struct path_numbering *n, const struct path *path, uint32_t *nodes)
{
	nodes[0] = n->starts[path->start];
	for (uint32_t i = 0; i < path->edge_count; i++)
		nodes[i + 1] = g->edges[path->edges[i]].to;
	return path->edge_count + 1;
}

struct error *path_number_of(const struct cfg *g, const struct path_numbering *n, const struct path *path,
			     uint64_t *ret)
{
	uint64_t sum;
	uint32_t node;

	if (path->start >= n->start_count)
		return error_create(ERROR_ARGUMENT, "path: start %u of %u", path->start, n->start_count);
	sum = n->start_values[path->start];
	node = n->starts[path->start];
	for (uint32_t i = 0; i < path->edge_count; i++) {
		uint32_t e = path->edges[i];

		if (e >= g->edge_count || g->edges[e].from != node || g->edges[e].cut != CFG_KEPT)
			return error_create(ERROR_ARGUMENT, "path: edge %u does not go on from node %u", e, node);
		sum += n->edge_values[e];
		node = g->edges[e].to;
	}
	if (path->end_node != node)
		return error_create(ERROR_ARGUMENT, "path: ends in node %u, not %u", node, path->end_node);
	if (path->is_left) {
		if (!g->may_be_left || path->end_edge != NO_EDGE)
			return error_create(ERROR_ARGUMENT, "path: cannot be left in node %u", node);
		*ret = sum + n->node_paths[node] - 1;
		return NULL;
	}
	if (path->end_edge == NO_EDGE ? !cfg_node_ends(g, node)
				      : path->end_edge >= g->edge_count || g->edges[path->end_edge].from != node ||
						!cfg_edge_ends(&g->edges[path->end_edge]))
		return error_create(ERROR_ARGUMENT, "path: does not end in node %u", node);
	if (path->end_edge != NO_EDGE)
		sum += n->edge_values[path->end_edge];
	*ret = sum;
	return NULL;
}
