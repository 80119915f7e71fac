/*
 * frequency.c - propagates execution frequencies over a call graph, in the manner of Wu and Larus (MICRO 1994, section 5).
 *
 * Strongly connected components are taken callers first. Within one, entries f solve f = b + M f, b being what comes from
 * outside. M is damped until each column sums to at most DAMPING, then the sum over the component shrinks by that factor
 * with each round of substitution, and a few dozen rounds give more digits than an estimate deserves.
 */
#include "core/contexts/frequency.h"

#include <string.h>

#include "core/contexts/scc.h"

enum {
	MOST_ROUNDS = 64,  /* per component */
	LEAST_ROUNDS = 8,  /* per component, when the budget is used up */
	BUDGET = 8000000,  /* edges looked at, over all components */
	ONE = 1024,        /* weight of one execution */
	LARGEST_LOG2 = 62, /* of a weight */
};

static const double DAMPING = 0.9;
static const double LARGEST = 1e60; /* products of two stay finite */
static const double PRECISION = 1e-6;

struct propagation {
	struct callgraph *g;
	const double *relative;
	struct adjacency out;
	struct adjacency in;
	struct scc scc;
	double *entries; /* of each node */
	double *outside; /* entries that do not come from the component at work */
	double *damping; /* of each node: factor on its calls within its component */
	uint64_t looked; /* at edges, towards BUDGET */
};

static double clamp(double v)
{
	if (!(v > 0))
		return 0;
	return v < LARGEST ? v : LARGEST;
}

static bool is_inner(const struct propagation *p, uint32_t e)
{
	const struct callgraph_edge *edge = &p->g->edges[e];

	return p->scc.component[edge->caller] == p->scc.component[edge->callee];
}

static void begin_node(struct propagation *p, uint32_t n, double base)
{
	double sum = clamp(base), inner = 0;

	for (uint32_t k = p->in.start[n]; k < p->in.start[n + 1]; k++) {
		uint32_t e = p->in.edges[k];

		if (!is_inner(p, e))
			sum = clamp(sum + p->entries[p->g->edges[e].caller] * clamp(p->relative[e]));
	}
	for (uint32_t k = p->out.start[n]; k < p->out.start[n + 1]; k++)
		if (is_inner(p, p->out.edges[k]))
			inner += clamp(p->relative[p->out.edges[k]]);
	p->outside[n] = p->entries[n] = sum;
	p->damping[n] = inner > DAMPING ? DAMPING / inner : 1;
}

/* One round of Gauss-Seidel over the component; true when it still changes something. */
static bool substitute(struct propagation *p, const uint32_t *members, uint32_t count)
{
	bool is_changed = false;

	/* Tarjan's order has callees first. */
	for (uint32_t i = count; i-- > 0;) {
		uint32_t n = members[i];
		double sum = p->outside[n];

		for (uint32_t k = p->in.start[n]; k < p->in.start[n + 1]; k++) {
			uint32_t e = p->in.edges[k];
			uint32_t caller = p->g->edges[e].caller;

			if (is_inner(p, e))
				sum += p->entries[caller] * p->damping[caller] * clamp(p->relative[e]);
		}
		p->looked += p->in.start[n + 1] - p->in.start[n];
		sum = clamp(sum);
		is_changed |= sum > p->entries[n] * (1 + PRECISION);
		p->entries[n] = sum;
	}
	return is_changed;
}

static void solve_component(struct propagation *p, uint32_t c, const double *base)
{
	const uint32_t *members = p->scc.members + p->scc.start[c];
	uint32_t count = p->scc.start[c + 1] - p->scc.start[c];

	for (uint32_t i = 0; i < count; i++)
		begin_node(p, members[i], base[members[i]]);
	for (unsigned int round = 0; round < (p->looked < BUDGET ? MOST_ROUNDS : LEAST_ROUNDS); round++)
		if (!substitute(p, members, count))
			break;
}

static void set_weights(struct propagation *p)
{
	const double largest_weight = (double)(UINT64_C(1) << LARGEST_LOG2);
	double largest = 0, scale = (double)ONE;

	for (uint32_t e = 0; e < p->g->edge_count; e++) {
		double v = clamp(p->entries[p->g->edges[e].caller] * clamp(p->relative[e]));

		if (v > largest)
			largest = v;
	}
	if (largest * scale > largest_weight)
		scale = largest_weight / largest;
	for (uint32_t e = 0; e < p->g->edge_count; e++) {
		double v = clamp(p->entries[p->g->edges[e].caller] * clamp(p->relative[e]));
		uint64_t weight = (uint64_t)(v * scale);

		p->g->edges[e].weight = v > 0 && !weight ? 1 : weight;
	}
}

struct error *frequency_propagate(struct callgraph *g, const double *relative, const double *base, double *ret_entries)
{
	size_t count = (size_t)g->node_count + 1;
	struct propagation p = {.g = g, .relative = relative};
	struct error *err;

	p.entries = allocator_alloc(g->allocator, 3 * count, sizeof(double));
	if (!p.entries)
		return &error_no_memory;
	p.outside = p.entries + count;
	p.damping = p.entries + 2 * count;
	err = adjacency_by_caller(g, &p.out) ?: adjacency_by_callee(g, &p.in) ?: scc_find(g, &p.out, &p.scc);
	if (!err) {
		for (uint32_t c = p.scc.count; c-- > 0;)
			solve_component(&p, c, base);
		set_weights(&p);
		if (ret_entries)
			memcpy(ret_entries, p.entries, g->node_count * sizeof *ret_entries);
	}
	scc_deinit(&p.scc);
	adjacency_deinit(&p.out);
	adjacency_deinit(&p.in);
	allocator_free(g->allocator, p.entries);
	return err;
}
