/*
 * backedge.c - chooses back edges, strongly connected component by component.
 *
 * A back edge is pushed, which costs more than an addend, so their total weight should be small. Each component is copied into
 * a compact graph of its own, put in a line (feedback_arcs.c), and the edges that point backwards on it are back edges. Components
 * come callees first, so backwards they, and the lines within them, are a topological order of the rest.
 */
#include "core/contexts/backedge.h"

#include "core/contexts/feedback_arcs.h"
#include "core/contexts/scc.h"

enum {
	SIFT_BUDGET = 8000000, /* the default */
};

struct marking {
	struct callgraph *g;
	const struct adjacency *out;
	const struct adjacency *in;
	struct scc scc;
	unsigned int shift;
	uint64_t budget; /* left of it */
	uint32_t *order;
	uint32_t *place; /* of each node: index in its component, in the end in the order */
};

unsigned int backedge_weight_shift(const struct callgraph *g)
{
	uint64_t heaviest = 1;
	unsigned int bits, room;

	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].weight > heaviest)
			heaviest = g->edges[e].weight;
	bits = 64 - (unsigned int)__builtin_clzll(heaviest);
	room = 62 - (64 - (unsigned int)__builtin_clzll((uint64_t)g->edge_count + 1));
	return bits > room ? bits - room : 0;
}

/* At least 1, so that among equal weights the fewest edges are chosen. */
static uint64_t edge_cost(const struct marking *m, uint32_t e)
{
	return (m->g->edges[e].weight >> m->shift) + 1;
}

/* The member that is called most from outside the component; roots before others. */
static uint32_t hottest_entry(const struct marking *m, const uint32_t *members, uint32_t count)
{
	uint32_t component = m->scc.component[members[0]];
	uint64_t best_cost = 0;
	uint32_t best = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t cost = m->g->nodes[members[i]].is_root; /* less than any edge */

		for (uint32_t k = m->in->start[members[i]]; k < m->in->start[members[i] + 1]; k++) {
			uint32_t e = m->in->edges[k];

			if (m->scc.component[m->g->edges[e].caller] != component)
				cost += edge_cost(m, e) * 2;
		}
		if (cost > best_cost) {
			best = i;
			best_cost = cost;
		}
	}
	return best;
}

/* Fills one side of the component's graph: the links over which `side` lists edges. Sizes start with room for all of them. */
static void fill_links(const struct marking *m, const uint32_t *members, uint32_t count, const struct adjacency *side,
		       uint32_t *start, struct feedback_arcs_link *links)
{
	uint32_t component = m->scc.component[members[0]], filled = 0;

	for (uint32_t i = 0; i < count; i++) {
		start[i] = filled;
		for (uint32_t k = side->start[members[i]]; k < side->start[members[i] + 1]; k++) {
			const struct callgraph_edge *edge = &m->g->edges[side->edges[k]];
			uint32_t other = edge->caller == members[i] ? edge->callee : edge->caller;

			if (other != members[i] && m->scc.component[other] == component)
				links[filled++] =
					(struct feedback_arcs_link){edge_cost(m, side->edges[k]), m->place[other]};
		}
	}
	start[count] = filled;
}

static uint32_t degree_sum(const uint32_t *members, uint32_t count, const struct adjacency *side)
{
	uint32_t sum = 1;

	for (uint32_t i = 0; i < count; i++)
		sum += side->start[members[i] + 1] - side->start[members[i]];
	return sum;
}

/* Puts the members of a component with a cycle in order. */
static struct error *arrange_members(struct marking *m, const uint32_t *members, uint32_t count, uint32_t *order)
{
	uint32_t *starts = allocator_alloc(m->g->allocator, 2 * ((size_t)count + 1), sizeof(*starts));
	struct feedback_arcs_graph c = {
		.node_count = count,
		.first = hottest_entry(m, members, count),
		.allocator = m->g->allocator,
		.out_start = starts,
		.out = allocator_alloc(m->g->allocator, degree_sum(members, count, m->out), sizeof(*c.out)),
		.in = allocator_alloc(m->g->allocator, degree_sum(members, count, m->in), sizeof(*c.in)),
	};
	struct error *err = starts && c.out && c.in ? NULL : &error_no_memory;

	if (!err) {
		c.in_start = starts + count + 1;
		for (uint32_t i = 0; i < count; i++)
			m->place[members[i]] = i;
		fill_links(m, members, count, m->out, c.out_start, c.out);
		fill_links(m, members, count, m->in, c.in_start, c.in);
		err = feedback_arcs_line(&c, &m->budget, order);
		for (uint32_t i = 0; i < count && !err; i++)
			order[i] = members[order[i]];
	}
	allocator_free(m->g->allocator, starts);
	allocator_free(m->g->allocator, c.out);
	allocator_free(m->g->allocator, c.in);
	return err;
}

static struct error *arrange_all(struct marking *m)
{
	uint32_t filled = 0;
	struct error *err = NULL;

	for (uint32_t c = m->scc.count; !err && c-- > 0;) {
		const uint32_t *members = m->scc.members + m->scc.start[c];
		uint32_t count = m->scc.start[c + 1] - m->scc.start[c];

		if (count > 1)
			err = arrange_members(m, members, count, m->order + filled);
		else
			m->order[filled] = members[0];
		filled += count;
	}
	return err;
}

static void mark_edges(struct marking *m)
{
	for (uint32_t i = 0; i < m->g->node_count; i++)
		m->place[m->order[i]] = i;
	for (uint32_t e = 0; e < m->g->edge_count; e++) {
		struct callgraph_edge *edge = &m->g->edges[e];

		edge->kind = m->place[edge->caller] >= m->place[edge->callee] ? EDGE_BACK : EDGE_ENCODED;
		edge->addend = 0;
	}
}

struct error *backedge_mark(struct callgraph *g, const struct adjacency *out, const struct adjacency *in,
			    uint64_t sift_budget, uint32_t *order)
{
	struct marking m = {
		.g = g, .out = out, .in = in, .order = order, .budget = sift_budget ? sift_budget : SIFT_BUDGET};
	struct error *err;

	m.place = allocator_alloc(g->allocator, (size_t)g->node_count + 1, sizeof(*m.place));
	if (!m.place)
		return &error_no_memory;
	m.shift = backedge_weight_shift(g);
	err = scc_find(g, out, &m.scc);
	if (!err)
		err = arrange_all(&m);
	if (!err)
		mark_edges(&m);
	scc_deinit(&m.scc);
	allocator_free(g->allocator, m.place);
	return err;
}
