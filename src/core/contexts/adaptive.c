/*
 * adaptive.c - a growing call graph in epochs: additions, weights, when to number anew, and numbering anew (sections 3 and 4 of the paper).
 *
 * The numbering is that of callgraph_encode: every function is a root whose dummy comes right behind its hottest edge. The next one
 * is made in a copy of the graph, which takes its place when it is done.
 */
#include "core/contexts/adaptive.h"

#include <string.h>

enum {
	NEW_EDGES = 16,
	NEW_EDGES_SHARE = 4, /* all numberings together take five times as long as the last one */
	CALLS = 2000,
	HOT_SHARE = 16,
	BUSY_SHARE = 16,
	OUTWEIGHS = 2, /* times: less would exchange edges that are about as hot again and again */
	EXPECTED_BITS = 16,
	SIFT_BUDGET = 500000, /* all threads wait for it */
};

void adaptive_init(struct adaptive *a, const struct allocator *allocator, uint32_t first_epoch)
{
	*a = (struct adaptive){
		.epoch = first_epoch,
		.thresholds = {.new_edges = NEW_EDGES,
			       .new_edges_share = NEW_EDGES_SHARE,
			       .calls = CALLS,
			       .hot_share = HOT_SHARE,
			       .busy_share = BUSY_SHARE},
	};
	callgraph_init(&a->graph, allocator);
}

void adaptive_deinit(struct adaptive *a)
{
	callgraph_deinit(&a->graph);
}

struct error *adaptive_add_function(struct adaptive *a, uint32_t *ret)
{
	return callgraph_extend_node(&a->graph, true, ret);
}

struct error *adaptive_add_edge(struct adaptive *a, uint32_t caller, uint32_t callee, uint32_t site, bool is_bare,
				uint32_t *ret)
{
	return callgraph_extend_edge(&a->graph, caller, callee, site, is_bare, ret);
}

/* ---- what is hot ---- */

static void add_saturated(uint64_t *sum, uint64_t calls)
{
	if (__builtin_add_overflow(*sum, calls, sum))
		*sum = UINT64_MAX;
}

/* Is this edge, which is not the one at 0 of its callee, worth by far more there? */
static bool is_misplaced(const struct callgraph *g, const struct callgraph_edge *edge)
{
	uint32_t first = g->ranges[g->range_start[edge->callee]].edge;

	return first != CALLGRAPH_DUMMY && callgraph_worth(edge->weight, edge->is_bare) / OUTWEIGHS >
						   callgraph_worth(g->edges[first].weight, g->edges[first].is_bare);
}

void adaptive_count(struct adaptive *a, uint32_t edge, uint64_t calls)
{
	struct callgraph_edge *e = &a->graph.edges[edge];
	bool is_new = edge >= a->numbered_edges;

	add_saturated(&e->weight, calls);
	add_saturated(&a->calls, calls);
	if (e->kind != EDGE_ENCODED)
		add_saturated(&a->pushed_calls, calls);
	if (!is_new && (e->kind == EDGE_ENCODED ? e->addend != 0 : e->kind == EDGE_CUT && e->is_bare) &&
	    is_misplaced(&a->graph, e))
		add_saturated(&a->misplaced_calls, calls);
	if (is_new)
		add_saturated(&a->new_calls, calls);
}

/* How many of 2^16 calls push by the weights of a numbered graph. */
static uint64_t expected_pushes(const struct callgraph *g)
{
	unsigned __int128 pushed = 0, all = 0;

	for (uint32_t e = 0; e < g->edge_count; e++) {
		all += g->edges[e].weight;
		pushed += g->edges[e].kind == EDGE_ENCODED ? 0 : g->edges[e].weight;
	}
	return all ? (uint64_t)((pushed << EXPECTED_BITS) / all) : 0;
}

/* Pushes that the numbering expected are not busy: if recursion is most of the program, a new epoch would not help. */
static bool is_stack_busy(const struct adaptive *a)
{
	unsigned __int128 expected = ((unsigned __int128)a->calls * a->expected_pushes) >> EXPECTED_BITS;

	return a->pushed_calls > expected + a->calls / a->thresholds.busy_share;
}

/* More edges are new than a share of those numbered. */
static bool has_new_edges(const struct adaptive *a)
{
	const struct adaptive_thresholds *t = &a->thresholds;

	return a->graph.edge_count - a->numbered_edges >
	       (uint64_t)t->new_edges + a->numbered_edges / t->new_edges_share;
}

enum adaptive_trigger adaptive_due(const struct adaptive *a)
{
	const struct adaptive_thresholds *t = &a->thresholds;

	if (has_new_edges(a))
		return ADAPTIVE_NEW_EDGES;
	if (a->calls < t->calls)
		return ADAPTIVE_NONE;
	if (a->misplaced_calls > a->calls / t->hot_share)
		return ADAPTIVE_HOT_CHANGED;
	return is_stack_busy(a) ? ADAPTIVE_STACK_BUSY : ADAPTIVE_NONE;
}

/* ---- epochs ---- */

/* The nodes and edges of g, not encoded; weights included. */
static struct error *copy_graph(const struct callgraph *g, struct callgraph *ret)
{
	callgraph_init(ret, g->allocator);
	ret->node_capacity = g->node_count + 1;
	ret->edge_capacity = g->edge_count + 1;
	ret->nodes = allocator_alloc(g->allocator, ret->node_capacity, sizeof(*ret->nodes));
	ret->edges = allocator_alloc(g->allocator, ret->edge_capacity, sizeof(*ret->edges));
	if (!ret->nodes || !ret->edges) {
		callgraph_deinit(ret);
		return &error_no_memory;
	}
	ret->node_count = g->node_count;
	ret->edge_count = g->edge_count;
	if (g->node_count)
		memcpy(ret->nodes, g->nodes, g->node_count * sizeof(*ret->nodes));
	if (g->edge_count)
		memcpy(ret->edges, g->edges, g->edge_count * sizeof(*ret->edges));
	return NULL;
}

struct error *adaptive_encode(struct adaptive *a, struct callgraph_stats *ret)
{
	const struct callgraph_options options = {
		.max_id = a->max_id, .sift_budget = SIFT_BUDGET, .roots_set_id = true};
	struct callgraph next;
	struct error *err;

	if (a->epoch == UINT32_MAX)
		return error_create_in(a->graph.allocator, ERROR_OVERFLOW, "epoch %u is the last one", a->epoch);
	err = copy_graph(&a->graph, &next);
	if (err)
		return err;
	err = callgraph_encode(&next, &options, ret);
	if (err) {
		callgraph_deinit(&next);
		return err;
	}
	callgraph_deinit(&a->graph);
	a->graph = next;
	a->epoch++;
	a->numbered_functions = next.node_count;
	a->numbered_edges = next.edge_count;
	a->calls = a->misplaced_calls = a->new_calls = a->pushed_calls = 0;
	a->expected_pushes = expected_pushes(&next);
	return NULL;
}
