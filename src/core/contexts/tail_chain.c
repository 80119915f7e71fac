/*
 * tail_chain.c - nodes on a walk are those that `from` reaches and that reach `to`. From `from` on the walks are the same as long as a node
 * has one next node among them; before `to` as long as a node has one before it. In the shortest walk both must have room.
 */
#include "core/contexts/tail_chain.h"

#include <stddef.h>

enum {
	NONE = UINT32_MAX,
	START = UINT32_MAX - 1, /* what comes before `from` */
	MANY = UINT32_MAX - 2,
};

struct search {
	const struct tail_graph *g;
	uint32_t from, to;
	uint32_t *reached; /* of each node: how many edges it is away from `from`, and 1; 0: no walk reaches it */
	bool *reaches;     /* of each node: a walk from it reaches `to` */
	uint32_t shortest; /* walk, in edges */
	bool has_open;     /* a node before `to` is */
};

/* Walks end at `to`: no edge leads on from there. Breadth first. */
static void mark_reached(struct search *s)
{
	bool is_new = true;

	s->reached[s->from] = 1;
	for (uint32_t distance = 1; is_new; distance++) {
		is_new = false;
		for (uint32_t i = 0; i < s->g->edge_count; i++) {
			const struct tail_edge *e = &s->g->edges[i];

			if (s->reached[e->from] != distance || e->from == s->to || s->reached[e->to])
				continue;
			s->reached[e->to] = distance + 1;
			is_new = true;
		}
	}
}

static void mark_reaching(struct search *s)
{
	bool is_new = true;

	s->reaches[s->to] = true;
	while (is_new) {
		is_new = false;
		for (uint32_t i = 0; i < s->g->edge_count; i++) {
			const struct tail_edge *e = &s->g->edges[i];

			is_new |= s->reaches[e->to] && !s->reaches[e->from];
			s->reaches[e->from] |= s->reaches[e->to];
		}
	}
}

static bool is_used(const struct search *s, const struct tail_edge *e)
{
	return e->from != s->to && s->reached[e->from] && s->reaches[e->to];
}

/* a, and one more that is b. */
static uint32_t join(uint32_t a, uint32_t b)
{
	return a == NONE || a == b ? b : MANY;
}

/* The one node that comes behind it on every walk, else MANY. */
static uint32_t next_of(const struct search *s, uint32_t node)
{
	uint32_t ret = s->g->is_open[node] ? MANY : NONE;

	for (uint32_t i = 0; i < s->g->edge_count; i++)
		if (s->g->edges[i].from == node && is_used(s, &s->g->edges[i]))
			ret = join(ret, s->g->edges[i].to);
	return ret;
}

static uint32_t before(const struct search *s, uint32_t node)
{
	uint32_t ret = node == s->from ? START : NONE;

	for (uint32_t i = 0; i < s->g->edge_count; i++)
		if (s->g->edges[i].to == node && is_used(s, &s->g->edges[i]))
			ret = join(ret, s->g->edges[i].from);
	return ret;
}

static struct tail_step step_between(const struct tail_graph *g, uint32_t from, uint32_t to)
{
	struct tail_step ret = {from, NONE};

	for (uint32_t i = 0; i < g->edge_count; i++)
		if (g->edges[i].from == from && g->edges[i].to == to)
			ret.edge = join(ret.edge, i);
	if (ret.edge == MANY)
		ret.edge = NONE;
	return ret;
}

/* What all walks begin with. */
static void find_first(const struct search *s, struct tail_chain *chain)
{
	uint32_t node = s->from, next = next_of(s, node);

	while (next < MANY && next != s->to) {
		chain->steps[chain->count++] = step_between(s->g, node, next);
		node = next;
		next = next_of(s, node);
	}
	chain->steps[chain->count++] = step_between(s->g, node, next);
	chain->first_count = chain->count;
	chain->is_whole = next == s->to;
}

/* What all walks end with, as far as the shortest has room for it. */
static void find_last(const struct search *s, struct tail_chain *chain)
{
	struct tail_step *steps = chain->steps + chain->first_count;
	uint32_t next = s->to, node = before(s, next), count = 0;

	while (node < MANY && chain->first_count + count < s->shortest) {
		steps[count++] = step_between(s->g, node, next);
		next = node;
		node = before(s, next);
	}
	chain->count += count;
	for (uint32_t i = 0; i + 1 < count; i++) {
		struct tail_step swap = steps[--count];

		steps[count] = steps[i];
		steps[i] = swap;
	}
}

struct error *tail_chain_find(const struct tail_graph *g, uint32_t from, uint32_t to, struct arena *arena,
			      struct tail_chain *ret)
{
	struct search s = {.g = g, .from = from, .to = to};

	s.reached = arena_calloc(arena, g->node_count, sizeof *s.reached);
	s.reaches = arena_calloc(arena, g->node_count, sizeof *s.reaches);
	*ret = (struct tail_chain){.steps = arena_calloc(arena, 2 * (size_t)g->node_count + 1, sizeof *ret->steps)};
	if (!ret->steps || !s.reached || !s.reaches)
		return &error_no_memory;
	mark_reached(&s);
	mark_reaching(&s);
	if (from == to || !s.reached[to])
		return NULL;
	s.shortest = s.reached[to] - 1;
	for (uint32_t i = 0; i < g->node_count; i++)
		s.has_open |= i != to && s.reached[i] && g->is_open[i];
	find_first(&s, ret);
	if (!ret->is_whole && !s.has_open)
		find_last(&s, ret);
	return NULL;
}
