/*
 * cfg_single_loops.c - loops with a single way round.
 *
 * From the source of a back edge the way is followed backwards: as long as each node has one in-edge, and that is kept, there is
 * no other way to the back edge. It ends at the loop's head. Each node lies on one way at most, so this is linear.
 */
#include "core/paths/cfg_single_loops.h"

#include <stdlib.h>

#define NOT_ONE UINT32_MAX /* edges */

/* For each node: its in-edge if that is the only one and is kept, else NOT_ONE. */
static uint32_t *only_ways(const struct cfg *g)
{
	uint32_t *only = malloc(g->node_count * sizeof(*only));
	bool *has_in = calloc(g->node_count, sizeof(*has_in));

	if (!only || !has_in) {
		free(only);
		free(has_in);
		return NULL;
	}
	for (uint32_t n = 0; n < g->node_count; n++)
		only[n] = NOT_ONE;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		uint32_t to = g->edges[e].to;

		only[to] = !has_in[to] && g->edges[e].cut == CFG_KEPT ? e : NOT_ONE;
		has_in[to] = true;
	}
	free(has_in);
	return only;
}

/* Whether the only way to the back edge's source comes from its target. */
static bool has_one_way(const struct cfg *g, const uint32_t *only, uint32_t back)
{
	uint32_t node = g->edges[back].from;

	while (node != g->edges[back].to && only[node] != NOT_ONE)
		node = g->edges[only[node]].from;
	return node == g->edges[back].to;
}

static void cut_entries(struct cfg *g, const bool *is_head)
{
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].cut == CFG_KEPT && is_head[g->edges[e].to])
			g->edges[e].cut = CFG_CUT_SPLIT;
}

struct error *cfg_cut_iterations(struct cfg *g)
{
	uint32_t *only = only_ways(g);
	uint32_t *backs = calloc(g->node_count, sizeof(*backs));
	bool *is_barred = calloc(g->node_count, sizeof(*is_barred)); /* entered where no code can be put */
	bool *is_head = calloc(g->node_count, sizeof(*is_head));
	struct error *err = only && backs && is_barred && is_head ? NULL : &error_no_memory;

	for (uint32_t e = 0; !err && e < g->edge_count; e++) {
		const struct cfg_edge *edge = &g->edges[e];

		backs[edge->to] += edge->cut == CFG_CUT_BACK;
		is_barred[edge->to] |= edge->is_fixed || (edge->cut != CFG_KEPT && !cfg_edge_ends(edge));
	}
	if (cfg_count_cuts(g, CFG_CUT_TWICE))
		goto out;
	for (uint32_t e = 0; !err && e < g->edge_count; e++) {
		struct cfg_edge *edge = &g->edges[e];

		if (edge->cut != CFG_CUT_BACK || backs[edge->to] > 1 || is_barred[edge->to] || !has_one_way(g, only, e))
			continue;
		edge->cut = CFG_CUT_ITERATION;
		is_head[edge->to] = true;
	}
	if (!err)
		cut_entries(g, is_head);
out:
	free(only);
	free(backs);
	free(is_barred);
	free(is_head);
	return err;
}

struct error *cfg_check_iterations(const struct cfg *g)
{
	struct error *err = NULL;
	uint32_t *only = only_ways(g);
	uint32_t *round_to = malloc(g->node_count * sizeof(*round_to)); /* the node's ITERATION edge, or NOT_ONE */
	bool is_barred = cfg_count_cuts(g, CFG_CUT_TWICE) > 0;

	if (!only || !round_to)
		err = &error_no_memory;
	for (uint32_t n = 0; !err && n < g->node_count; n++)
		round_to[n] = NOT_ONE;
	for (uint32_t e = 0; !err && e < g->edge_count; e++) {
		if (g->edges[e].cut != CFG_CUT_ITERATION)
			continue;
		if (is_barred || !has_one_way(g, only, e))
			err = error_create(ERROR_FORMAT, "control flow: edge %u closes a loop of more ways than one",
					   e);
		round_to[g->edges[e].to] = e;
	}
	for (uint32_t e = 0; !err && e < g->edge_count; e++) {
		uint32_t round = round_to[g->edges[e].to];

		if (round != NOT_ONE && round != e && g->edges[e].cut != CFG_CUT_SPLIT)
			err = error_create(ERROR_FORMAT, "control flow: edge %u enters the loop of edge %u uncut", e,
					   round);
	}
	free(only);
	free(round_to);
	return err;
}

struct error *cfg_round_edges(const struct cfg *g, uint32_t edge, uint32_t *edges, uint32_t *ret_count)
{
	uint32_t *only = only_ways(g);
	uint32_t node = g->edges[edge].from, count = 0;

	if (!only)
		return &error_no_memory;
	for (; node != g->edges[edge].to && only[node] != NOT_ONE; node = g->edges[only[node]].from)
		count++;
	*ret_count = count;
	for (node = g->edges[edge].from; count; node = g->edges[only[node]].from)
		edges[--count] = only[node];
	free(only);
	return NULL;
}
