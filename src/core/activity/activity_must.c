/*
 * activity_must.c - what must have run: dominators.
 *
 * Each activation's walk lies in the graph of what may have run; so what dominates a node there is on the walk of
 * every activation that came to the node, and control went on from it. A walk that a longjmp set back to behind a
 * setjmp had come by that setjmp before; so without the part that was given up it is a walk from the entry again.
 *
 * An edge was taken when it is the only one by which control can have come to a node that ran for the first time (an
 * edge from a node that the node itself dominates comes later), or the only one by which it can have gone on from a
 * node that it did go on from.
 */
#include "core/activity/activity_must.h"

static const uint32_t NONE = UINT32_MAX;
static const uint32_t MANY = UINT32_MAX - 1;

void must_climb(const struct must *m, uint32_t node, void (*passed)(void *data, uint32_t node), void *data)
{
	m->nodes[node] = ACTIVITY_YES;
	for (uint32_t at = m->dominators.idom[node]; at != DOMINATORS_NONE && !m->passed[at];
	     at = m->dominators.idom[at]) {
		m->nodes[at] = ACTIVITY_YES;
		m->passed[at] = true;
		passed(data, at);
	}
}

uint32_t must_common(const struct must *m, const uint8_t *flags, uint8_t mask)
{
	uint32_t common = DOMINATORS_NONE;

	for (uint32_t n = 0; n < m->g->node_count; n++) {
		if ((flags[n] & mask) != mask || !m->dominators.size[n])
			continue;
		if (common == DOMINATORS_NONE)
			common = n;
		while (!dominators_is(&m->dominators, common, n))
			common = m->dominators.idom[common];
	}
	return common;
}

static void count_edge(uint32_t *only, uint32_t node, uint32_t e)
{
	only[node] = only[node] == NONE ? e : MANY;
}

static void clear(const struct must *m, uint32_t *only)
{
	for (uint32_t n = 0; n < m->g->node_count; n++)
		only[n] = NONE;
}

static void mark_only(const struct must *m, const uint32_t *only)
{
	for (uint32_t n = 0; n < m->g->node_count; n++)
		if (only[n] < MANY)
			m->edges[only[n]] = ACTIVITY_YES;
}

void must_edges(const struct must *m, uint32_t *only, uint64_t *steps)
{
	const struct cfg *g = m->g;

	clear(m, only);
	for (uint32_t e = 0; e < g->edge_count; e++) {
		uint32_t from = g->edges[e].from, to = g->edges[e].to;

		if (m->edges[e] != ACTIVITY_NO && m->nodes[to] == ACTIVITY_YES &&
		    !dominators_is(&m->dominators, to, from))
			count_edge(only, to, e);
	}
	mark_only(m, only);
	clear(m, only);
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (m->edges[e] != ACTIVITY_NO && m->passed[g->edges[e].from])
			count_edge(only, g->edges[e].from, e);
	mark_only(m, only);
	*steps += 2 * (uint64_t)g->edge_count + 4 * (uint64_t)g->node_count;
}
