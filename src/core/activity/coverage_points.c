/*
 * coverage_points.c - which points need memory: of each, a search from its node through nodes without points. It meets each edge once:
 * what a node without points is reached from is its next dominator that has some. And the way back: up the dominator tree.
 */
#include "core/activity/coverage_points.h"

#include <stdlib.h>
#include <string.h>

struct finder {
	const struct cfg *g;
	const struct coverage_points *o;
	bool is_first;
	uint32_t *last; /* [node]: its last point, OWN_POINT_NONE: it has none */
	uint32_t *seen; /* [node]: by which point's search, plus 1 */
	uint32_t *list;
};

/* No code of ours is on such an edge, and which of the node's calls it comes from is not seen. */
static bool has_fixed_edge(const struct cfg *g, uint32_t node)
{
	for (uint32_t e = g->first_edge[node]; e < g->first_edge[node + 1]; e++)
		if (g->edges[e].is_fixed)
			return true;
	return false;
}

static bool escapes_to(const struct finder *f, uint32_t node, uint32_t to)
{
	return to == node ? !f->is_first : !dominators_is(&f->o->dominators, node, to);
}

/* Control gets from the node, with no point on the way, to one that it does not dominate. */
static bool escapes(const struct finder *f, uint32_t node)
{
	const struct cfg *g = f->g;
	uint32_t count = 0;

	f->list[count++] = node;
	while (count) {
		uint32_t at = f->list[--count];

		for (uint32_t e = g->first_edge[at]; e < g->first_edge[at + 1]; e++) {
			uint32_t to = g->edges[e].to;

			if (escapes_to(f, node, to))
				return true;
			if (f->last[to] != OWN_POINT_NONE || f->seen[to] == node + 1)
				continue;
			f->seen[to] = node + 1;
			f->list[count++] = to;
		}
	}
	return false;
}

static void choose(struct finder *f, struct coverage_points *o)
{
	/* Where a call returns twice, control may come back behind it from any other one. */
	const bool needs_all = cfg_count_cuts(f->g, CFG_CUT_TWICE) > 0;

	for (uint32_t i = 0; i < o->count; i++)
		f->last[o->nodes[i]] = i;
	for (uint32_t i = 0; i < o->count; i++) {
		uint32_t node = o->nodes[i];
		bool is_last = f->last[node] == i;
		bool is_kept = needs_all || (is_last && (has_fixed_edge(f->g, node) || escapes(f, node)));

		o->places[i] = is_kept ? o->kept_count++ : OWN_POINT_NONE;
	}
}

struct error *coverage_points_find(const struct cfg *g, const uint32_t *nodes, uint32_t count, bool is_first,
				   struct arena *arena, struct coverage_points *ret)
{
	const size_t n = g->node_count;
	struct coverage_points o = {.nodes = nodes, .count = count, .node_count = g->node_count};
	struct finder f = {.g = g, .o = &o, .is_first = is_first};
	uint32_t *kept = arena_calloc(arena, 3 * n + count, sizeof *kept);
	uint32_t *scratch = calloc(3 * n, sizeof *scratch);
	uint8_t *is_edge = malloc((size_t)g->edge_count + 1);
	uint64_t steps = 0;
	struct error *err = kept && scratch && is_edge ? NULL : &error_no_memory;

	if (!err) {
		memset(is_edge, 1, g->edge_count);
		memset(scratch, 0xff, n * sizeof *scratch);
		o.dominators = (struct dominators){.idom = kept, .first = kept + n, .size = kept + 2 * n};
		o.places = kept + 3 * n;
		f.last = scratch;
		f.seen = scratch + n;
		f.list = scratch + 2 * n;
		err = dominators_find(g, is_edge, &o.dominators, &steps);
	}
	if (!err) {
		choose(&f, &o);
		*ret = o;
	}
	free(is_edge);
	free(scratch);
	return err;
}

/* ---- and back ---- */

struct expander {
	const struct coverage_points *o;
	bool *ran;         /* [node]: a point with memory that the node dominates says so */
	bool *in_doubt;    /* [node]: of one of them it is not known */
	uint32_t *above;   /* [node]: how many of those that may be the last point it dominates, but those in itself */
	uint32_t *up_to;   /* [point]: how many of them are in its node, and not before it */
	uint32_t possible; /* how many there are */
	bool may_be_none;
};

static void climb(const struct coverage_points *o, uint32_t node, bool *marks)
{
	for (; node != DOMINATORS_NONE && !marks[node]; node = o->dominators.idom[node])
		marks[node] = true;
}

static void take_memory(struct expander *x, const uint8_t *kept)
{
	const struct coverage_points *o = x->o;

	for (uint32_t i = 0; i < o->count; i++) {
		if (o->places[i] == OWN_POINT_NONE)
			continue;
		if (kept[o->places[i]] == POINT_USED)
			climb(o, o->nodes[i], x->ran);
		else if (kept[o->places[i]] == POINT_UNKNOWN)
			climb(o, o->nodes[i], x->in_doubt);
	}
	x->may_be_none &= !x->ran[0];
}

/* Control that has left a node has passed all its points: of several that may be the last, one is of another node than control. */
static bool is_contradicted(const struct coverage_points *o, const uint8_t *kept, uint32_t last, bool is_only)
{
	uint32_t i = last;

	while (!is_only && i + 1 < o->count && o->nodes[i + 1] == o->nodes[last])
		i++;
	return o->places[i] != OWN_POINT_NONE && kept[o->places[i]] == POINT_UNUSED;
}

static void take_last(struct expander *x, uint32_t last)
{
	const struct coverage_points *o = x->o;
	const uint32_t node = o->nodes[last];

	x->possible++;
	for (uint32_t i = last; o->nodes[i] == node; i--) {
		x->up_to[i]++;
		if (i == 0)
			break;
	}
	for (uint32_t n = o->dominators.idom[node]; n != DOMINATORS_NONE; n = o->dominators.idom[n])
		x->above[n]++;
}

static enum activity_point conclude(const struct expander *x, uint32_t point)
{
	const uint32_t node = x->o->nodes[point], behind = x->above[node] + x->up_to[point];

	if (x->ran[node])
		return POINT_USED;
	if (x->in_doubt[node] || x->possible + x->may_be_none == 0)
		return POINT_UNKNOWN;
	if (behind == x->possible + x->may_be_none)
		return POINT_USED;
	return behind ? POINT_UNKNOWN : POINT_UNUSED;
}

struct error *coverage_points_expand(const struct coverage_points *o, const uint8_t *kept, const uint32_t *last,
				     uint32_t last_count, bool may_be_none, uint8_t *used)
{
	struct expander x = {.o = o, .may_be_none = may_be_none};
	uint32_t *counts = calloc((size_t)o->node_count + o->count, sizeof *counts);
	bool *marks = calloc(2 * (size_t)o->node_count, sizeof *marks);

	if (counts && marks) {
		x.ran = marks;
		x.in_doubt = marks + o->node_count;
		x.above = counts;
		x.up_to = counts + o->node_count;
		take_memory(&x, kept);
		for (uint32_t i = 0; i < last_count; i++)
			if (!is_contradicted(o, kept, last[i], last_count == 1))
				take_last(&x, last[i]);
		for (uint32_t i = 0; i < o->count; i++)
			used[i] = o->places[i] != OWN_POINT_NONE ? kept[o->places[i]] : (uint8_t)conclude(&x, i);
	}
	free(marks);
	free(counts);
	return counts && marks ? NULL : &error_no_memory;
}
