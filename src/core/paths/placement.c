/*
 * placement.c - increments on the chords of a spanning tree, constants instead of a register where there is one way.
 *
 *      1. The graph, made a circulation: starts lead from one outer node into it, ends back to it (the exit and the entry
 *         of Ball and Larus, with the edge between them contracted: it is always in the tree).
 *      2. A spanning tree of the largest frequency (Kruskal). The potential of a node is the sum of the values on the tree's
 *         way to it from the outer node. With value + potential(from) - potential(to) on each edge, tree edges have 0 and
 *         every path has the same sum as before: the potentials cancel out.
 *      3. In topological order: where all ways to a node have given the register the same value, it is a constant there, and
 *         where it stops being one the edges set it instead of adding.
 *
 * No recursion; O(E log E).
 */
#include "core/paths/placement.h"

#include <math.h>
#include <stdlib.h>

/* The cost of an addition, relative to one on a separate edge. At an end a constant is folded into the address of a
 * counter, but not into what the check of a pair is compared with; a start has to set the register anyway. */
static const double END_COST = 1;
static const double START_COST = 0.0625;

/* An edge of the circulation. */
struct link {
	double cost;
	uint64_t value;
	uint32_t from; /* node_count is the outer node */
	uint32_t to;
	uint64_t *increment;
};

struct placer {
	const struct cfg *g;
	const struct path_numbering *n;
	struct arena scratch;
	struct link *links;
	size_t link_count;
	uint64_t *start_increments;
	uint64_t *edge_increments;
	uint64_t *node_increments; /* of ends in nodes */
	uint64_t *left_increments; /* of paths left in nodes */
	double *node_frequency;
};

/* ---- 1. circulation ---- */

static double frequency_of(const struct cfg_edge *edge)
{
	return edge->frequency > 0 ? edge->frequency : 0;
}

static double cost_of(const struct cfg_edge *edge)
{
	if (edge->cut == CFG_CUT_ITERATION)
		return 0; /* nothing is kept there */
	if (edge->cut != CFG_KEPT)
		return END_COST * frequency_of(edge);
	return edge->is_fixed ? (double)INFINITY : frequency_of(edge);
}

static void add_link(struct placer *p, struct link link)
{
	p->links[p->link_count++] = link;
}

static struct error *placer_allocate(struct placer *p)
{
	const struct cfg *g = p->g;
	size_t most = (size_t)p->n->start_count + g->edge_count + 2 * (size_t)g->node_count;

	p->links = arena_calloc(&p->scratch, most, sizeof(*p->links));
	p->start_increments = arena_calloc(&p->scratch, p->n->start_count, sizeof(uint64_t));
	p->edge_increments = arena_calloc(&p->scratch, g->edge_count, sizeof(uint64_t));
	p->node_increments = arena_calloc(&p->scratch, g->node_count, sizeof(uint64_t));
	p->left_increments = arena_calloc(&p->scratch, g->node_count, sizeof(uint64_t));
	p->node_frequency = arena_calloc(&p->scratch, g->node_count, sizeof(double));
	if (!p->links || !p->start_increments || !p->edge_increments || !p->node_increments || !p->left_increments ||
	    !p->node_frequency)
		return &error_no_memory;
	return NULL;
}

/* cut_in: scratch, how often paths start at each node. */
static void add_links(struct placer *p, const uint64_t *start_values, const uint64_t *edge_values, double *cut_in)
{
	const struct cfg *g = p->g;
	uint32_t outer = g->node_count;

	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct cfg_edge *edge = &g->edges[e];

		p->node_frequency[edge->to] += frequency_of(edge);
		if (!edge->from) {
			p->node_frequency[0] += frequency_of(edge);
			cut_in[0] += frequency_of(edge);
		}
		if (edge->cut != CFG_KEPT && edge->cut != CFG_CUT_ITERATION)
			cut_in[edge->to] += frequency_of(edge);
		if (edge->cut == CFG_KEPT || cfg_edge_ends(edge))
			add_link(p, (struct link){cost_of(edge), edge_values[e], edge->from,
						  edge->cut == CFG_KEPT ? edge->to : outer, &p->edge_increments[e]});
	}
	for (uint32_t n = 0; n < g->node_count; n++)
		if (cfg_node_ends(g, n))
			add_link(p,
				 (struct link){END_COST * p->node_frequency[n], 0, n, outer, &p->node_increments[n]});
	/* The number of a path that is left there is made in each node, whatever is added to it. */
	for (uint32_t n = 0; g->may_be_left && n < g->node_count; n++)
		add_link(p, (struct link){0, p->n->node_paths[n] - 1, n, outer, &p->left_increments[n]});
	for (uint32_t i = 0; i < p->n->start_count; i++) {
		uint32_t round = p->n->start_iterations[i];
		double frequency = round == NO_EDGE ? cut_in[p->n->starts[i]] : frequency_of(&g->edges[round]);

		add_link(p, (struct link){START_COST * frequency, start_values[i], outer, p->n->starts[i],
					  &p->start_increments[i]});
	}
}

/* ---- 2. spanning tree ---- */

static int link_compare(const void *left, const void *right)
{
	const struct link *l = left, *r = right;

	if (l->cost < r->cost || l->cost > r->cost)
		return l->cost > r->cost ? -1 : 1;
	if (l->from != r->from)
		return l->from < r->from ? -1 : 1;
	if (l->to != r->to)
		return l->to < r->to ? -1 : 1;
	/* parallel: as in the graph, that is, by address in one of the arrays */
	return l->increment < r->increment ? -1 : l->increment > r->increment;
}

static uint32_t find_root(uint32_t *parent, uint32_t node)
{
	while (parent[node] != node) {
		parent[node] = parent[parent[node]];
		node = parent[node];
	}
	return node;
}

/* The tree's links come first in p->links; returns how many there are. */
static uint32_t choose_tree(struct placer *p, uint32_t *parent)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n <= p->g->node_count; n++)
		parent[n] = n;
	qsort(p->links, p->link_count, sizeof(*p->links), link_compare);
	for (size_t i = 0; i < p->link_count; i++) {
		struct link link = p->links[i];
		uint32_t from = find_root(parent, link.from), to = find_root(parent, link.to);

		if (from == to)
			continue;
		/* Whichever way: paths to the root are halved as they are walked. */
		parent[from] = to;
		p->links[i] = p->links[count];
		p->links[count++] = link;
	}
	return count;
}

/* Walks the tree from the outer node. first and near: the tree's links by node, in compressed rows. */
static void set_potentials(const struct placer *p, const uint32_t *first, const uint32_t *near, uint32_t *list,
			   bool *is_set, uint64_t *potential)
{
	uint32_t count = 0;

	is_set[p->g->node_count] = true;
	list[count++] = p->g->node_count;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = first[list[i]]; k < first[list[i] + 1]; k++) {
			const struct link *link = &p->links[near[k]];
			uint32_t other = link->from == list[i] ? link->to : link->from;

			if (is_set[other])
				continue;
			is_set[other] = true;
			potential[other] = link->from == list[i] ? potential[link->from] + link->value
								 : potential[link->to] - link->value;
			list[count++] = other;
		}
}

static struct error *move_to_chords(struct placer *p)
{
	size_t node_count = (size_t)p->g->node_count + 1;
	uint32_t *scratch = arena_calloc(&p->scratch, 3 * node_count, sizeof(*scratch));
	uint32_t *first = arena_calloc(&p->scratch, node_count + 1, sizeof(*first));
	uint64_t *potential = arena_calloc(&p->scratch, node_count, sizeof(*potential));
	bool *is_set = arena_calloc(&p->scratch, node_count, sizeof(*is_set));
	uint32_t *near, tree_count, sum = 0;

	if (!scratch || !first || !potential || !is_set)
		return &error_no_memory;
	tree_count = choose_tree(p, scratch);
	near = scratch + node_count; /* two ends of each of node_count - 1 links */
	for (uint32_t i = 0; i < tree_count; i++) {
		first[p->links[i].from]++;
		first[p->links[i].to]++;
	}
	for (size_t n = 0; n <= node_count; n++)
		first[n] = sum += n < node_count ? first[n] : 0;
	for (uint32_t i = tree_count; i-- > 0;) {
		near[--first[p->links[i].from]] = i;
		near[--first[p->links[i].to]] = i;
	}
	set_potentials(p, first, near, scratch, is_set, potential);
	for (size_t i = 0; i < p->link_count; i++) {
		const struct link *link = &p->links[i];

		*link->increment = link->value + potential[link->from] - potential[link->to];
	}
	return NULL;
}

/* ---- 3. constants ---- */

/* The register's known value on entering a node. */
struct known {
	enum {
		KNOWN_NOTHING = 0, /* no way to it has been seen yet */
		KNOWN_CONSTANT,
		KNOWN_VARIES,
	} state;
	uint64_t value;
};

static void known_meet(struct known *k, bool is_constant, uint64_t value)
{
	if (k->state == KNOWN_NOTHING && is_constant)
		*k = (struct known){KNOWN_CONSTANT, value};
	else if (!is_constant || k->state != KNOWN_CONSTANT || k->value != value)
		k->state = KNOWN_VARIES;
}

static void find_constants(const struct placer *p, const uint32_t *order, struct known *known)
{
	const struct cfg *g = p->g;

	for (uint32_t i = 0; i < p->n->start_count; i++)
		known_meet(&known[p->n->starts[i]], true, p->start_increments[i]);
	for (uint32_t i = 0; i < g->node_count; i++) {
		struct known from = known[order[i]];

		for (uint32_t e = g->first_edge[order[i]]; e < g->first_edge[order[i] + 1]; e++)
			if (g->edges[e].cut == CFG_KEPT)
				known_meet(&known[g->edges[e].to], from.state == KNOWN_CONSTANT,
					   from.value + p->edge_increments[e]);
	}
}

static struct place_end end_after(struct known k, uint64_t increment)
{
	bool is_constant = k.state == KNOWN_CONSTANT;

	return (struct place_end){!is_constant, is_constant ? k.value + increment : increment};
}

static struct place_op op_between(struct known from, struct known to, uint64_t increment)
{
	if (to.state == KNOWN_CONSTANT)
		return (struct place_op){PLACE_NOTHING, 0};
	if (from.state == KNOWN_CONSTANT)
		return (struct place_op){PLACE_SET, from.value + increment};
	return (struct place_op){increment ? PLACE_ADD : PLACE_NOTHING, increment};
}

static void set_ops(const struct placer *p, const struct known *known, struct placement *ret)
{
	const struct cfg *g = p->g;

	for (uint32_t i = 0; i < p->n->start_count; i++)
		if (known[p->n->starts[i]].state != KNOWN_CONSTANT)
			ret->starts[i] = (struct place_op){PLACE_SET, p->start_increments[i]};
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct cfg_edge *edge = &g->edges[e];

		if (edge->cut == CFG_KEPT)
			ret->edges[e] = op_between(known[edge->from], known[edge->to], p->edge_increments[e]);
		else if (cfg_edge_ends(edge))
			ret->edge_ends[e] = end_after(known[edge->from], p->edge_increments[e]);
	}
	for (uint32_t n = 0; n < g->node_count; n++) {
		ret->has_register[n] = known[n].state != KNOWN_CONSTANT;
		if (cfg_node_ends(g, n))
			ret->node_ends[n] = end_after(known[n], p->node_increments[n]);
		if (ret->lefts)
			ret->lefts[n] = end_after(known[n], p->left_increments[n]);
	}
}

/* ---- all of it ---- */

static struct error *place(struct placer *p, const uint64_t *start_values, const uint64_t *edge_values,
			   struct placement *ret)
{
	double *cut_in = arena_calloc(&p->scratch, p->g->node_count, sizeof(*cut_in));
	uint32_t *order = arena_calloc(&p->scratch, p->g->node_count, sizeof(*order));
	struct known *known = arena_calloc(&p->scratch, p->g->node_count, sizeof(*known));
	struct error *err = cut_in && order && known ? NULL : &error_no_memory;

	if (!err)
		err = placer_allocate(p);
	if (!err)
		err = cfg_order(p->g, order);
	if (err)
		return err;
	add_links(p, start_values, edge_values, cut_in);
	err = move_to_chords(p);
	if (err)
		return err;
	find_constants(p, order, known);
	set_ops(p, known, ret);
	return NULL;
}

struct error *placement_make(const struct cfg *g, const struct path_numbering *n, const uint64_t *start_values,
			     const uint64_t *edge_values, struct arena *arena, struct placement *ret)
{
	struct placer p = {.g = g, .n = n};
	struct placement made = {0};
	struct error *err = &error_no_memory;

	made.starts = arena_calloc(arena, n->start_count, sizeof(*made.starts));
	made.edges = arena_calloc(arena, g->edge_count, sizeof(*made.edges));
	made.edge_ends = arena_calloc(arena, g->edge_count, sizeof(*made.edge_ends));
	made.node_ends = arena_calloc(arena, g->node_count, sizeof(*made.node_ends));
	made.has_register = arena_calloc(arena, g->node_count, sizeof(*made.has_register));
	made.lefts = g->may_be_left ? arena_calloc(arena, g->node_count, sizeof(*made.lefts)) : NULL;
	arena_init(&p.scratch);
	if (made.starts && made.edges && made.edge_ends && made.node_ends && made.has_register &&
	    (made.lefts || !g->may_be_left))
		err = place(&p, start_values, edge_values, &made);
	arena_deinit(&p.scratch);
	if (!err)
		*ret = made;
	return err;
}
