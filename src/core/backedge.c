/*
 * backedge.c - chooses back edges: a light feedback edge set, component by component.
 *
 * A back edge is pushed, which costs more than an addend, so their total weight should be small. Minimising it is NP-hard.
 * The nodes of a strongly connected component are put in a line, the edges that point backwards on it are back edges:
 *
 *      1. two lines: the reverse postorder of a depth-first search from the hottest entry that follows hot edges first, and
 *         the greedy one of Eades, Lin and Smyth (1993), weighted; the lighter one is kept;
 *      2. sifting: every node moves to its best place between its neighbours, until nothing improves or the budget is
 *         used up.
 *
 * Everything is deterministic; ties go to the lower node or edge number. No recursion: each pass is O(E log E).
 */
#include "core/backedge.h"

#include <stdlib.h>

#include "core/scc.h"

enum {
	LABEL_SHIFT = 31,       /* lines are laid out with gaps of 2^31, which sifting fills */
	SIFT_PASSES = 16,       /* at most, per component */
	SIFT_BUDGET = 12000000, /* neighbours looked at, over all components */
	SMALL_SORT = 16,
};

struct neighbour {
	uint64_t key;
	uint64_t weight;
	uint32_t edge;
	bool is_caller; /* the neighbour calls the node */
};

struct arranger {
	struct callgraph *g;
	const struct adjacency *out;
	const struct adjacency *in;
	struct scc scc;
	unsigned int shift;
	uint64_t budget;

	/* the component at work */
	uint32_t component;
	uint32_t *members;
	uint32_t member_count;

	/* per node */
	uint64_t *label;      /* place on the line; equal labels only between nodes that are no neighbours */
	uint64_t *greedy;     /* the second line */
	int64_t *delta;       /* greedy: weight out minus weight in, among the nodes not yet placed */
	uint32_t *open_in;    /* greedy: edges from nodes not yet placed; search: visited */
	uint32_t *open_out;   /* greedy: edges to nodes not yet placed; search: next edge */
	uint32_t *list;       /* greedy: sources and sinks to place; search: path */
	uint32_t *heap;       /* greedy: nodes not yet placed, largest delta on top */
	uint32_t *heap_place; /* greedy: where a node is in the heap, UINT32_MAX once it is placed */
	uint32_t heap_len;
	struct neighbour *neighbours; /* room for all edges of one node */
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
static uint64_t edge_cost(const struct arranger *a, uint32_t e)
{
	return (a->g->edges[e].weight >> a->shift) + 1;
}

/* Not a self-loop, and both ends in the component at work. */
static bool is_inner(const struct arranger *a, uint32_t e)
{
	const struct callgraph_edge *edge = &a->g->edges[e];

	return edge->caller != edge->callee && a->scc.component[edge->caller] == a->component &&
	       a->scc.component[edge->callee] == a->component;
}

static int neighbour_compare(const void *left, const void *right)
{
	const struct neighbour *l = left, *r = right;

	if (l->key != r->key)
		return l->key < r->key ? -1 : 1;
	return l->edge < r->edge ? -1 : l->edge > r->edge;
}

static void neighbours_sort(struct neighbour *items, uint32_t count)
{
	if (count > SMALL_SORT) {
		qsort(items, count, sizeof(*items), neighbour_compare);
		return;
	}
	for (uint32_t i = 1; i < count; i++) {
		struct neighbour item = items[i];
		uint32_t at = i;

		for (; at > 0 && neighbour_compare(&item, &items[at - 1]) < 0; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* ---- line 1: depth-first search ---- */

/* The outgoing edges of node in the order the search follows them: hottest first. */
static void sort_outgoing(struct arranger *a, uint32_t node)
{
	uint32_t *edges = a->out->edges + a->out->start[node];
	uint32_t count = a->out->start[node + 1] - a->out->start[node];

	for (uint32_t i = 0; i < count; i++)
		a->neighbours[i] = (struct neighbour){.key = ~a->g->edges[edges[i]].weight, .edge = edges[i]};
	neighbours_sort(a->neighbours, count);
	for (uint32_t i = 0; i < count; i++)
		edges[i] = a->neighbours[i].edge;
}

/* The member that is called most from outside the component; roots before others. */
static uint32_t hottest_entry(const struct arranger *a)
{
	uint32_t best = a->members[0];
	uint64_t best_weight = 0;
	bool best_root = false, has_best = false;

	for (uint32_t i = 0; i < a->member_count; i++) {
		uint32_t node = a->members[i];
		bool is_root = a->g->nodes[node].is_root;
		uint64_t weight = 0;

		for (uint32_t k = a->in->start[node]; k < a->in->start[node + 1]; k++) {
			uint32_t e = a->in->edges[k];

			if (a->scc.component[a->g->edges[e].caller] != a->component)
				weight += edge_cost(a, e);
		}
		if (!has_best || weight > best_weight || (weight == best_weight && is_root > best_root) ||
		    (weight == best_weight && is_root == best_root && node < best)) {
			best = node;
			best_weight = weight;
			best_root = is_root;
			has_best = true;
		}
	}
	return best;
}

static void search_enter(struct arranger *a, uint32_t node, uint32_t *path_len)
{
	sort_outgoing(a, node);
	a->open_in[node] = 1;
	a->open_out[node] = a->out->start[node];
	a->list[(*path_len)++] = node;
}

static void arrange_by_search(struct arranger *a)
{
	uint64_t place = a->member_count;
	uint32_t path_len = 0;

	for (uint32_t i = 0; i < a->member_count; i++)
		a->open_in[a->members[i]] = 0;
	search_enter(a, hottest_entry(a), &path_len);
	while (path_len) {
		uint32_t node = a->list[path_len - 1];

		if (a->open_out[node] < a->out->start[node + 1]) {
			uint32_t e = a->out->edges[a->open_out[node]++];

			if (is_inner(a, e) && !a->open_in[a->g->edges[e].callee])
				search_enter(a, a->g->edges[e].callee, &path_len);
		} else {
			a->label[node] = place-- << LABEL_SHIFT;
			path_len--;
		}
	}
}

/* ---- line 2: greedy ---- */

static bool heap_before(const struct arranger *a, uint32_t left, uint32_t right)
{
	return a->delta[left] > a->delta[right] || (a->delta[left] == a->delta[right] && left < right);
}

static void heap_put(struct arranger *a, uint32_t at, uint32_t node)
{
	a->heap[at] = node;
	a->heap_place[node] = at;
}

/* Moves the node at `at` up or down to where it belongs. */
static void heap_restore(struct arranger *a, uint32_t at)
{
	uint32_t node = a->heap[at];

	while (at > 0 && heap_before(a, node, a->heap[(at - 1) / 2])) {
		heap_put(a, at, a->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		uint64_t child = (uint64_t)at * 2 + 1;

		if (child >= a->heap_len)
			break;
		if (child + 1 < a->heap_len && heap_before(a, a->heap[child + 1], a->heap[child]))
			child++;
		if (!heap_before(a, a->heap[child], node))
			break;
		heap_put(a, at, a->heap[child]);
		at = (uint32_t)child;
	}
	heap_put(a, at, node);
}

static void heap_remove(struct arranger *a, uint32_t node)
{
	uint32_t at = a->heap_place[node];
	uint32_t last = a->heap[--a->heap_len];

	a->heap_place[node] = UINT32_MAX;
	if (last == node)
		return;
	heap_put(a, at, last);
	heap_restore(a, at);
}

static void greedy_begin(struct arranger *a, uint32_t *list_len)
{
	a->heap_len = a->member_count;
	for (uint32_t i = 0; i < a->member_count; i++) {
		uint32_t node = a->members[i];

		a->delta[node] = 0;
		a->open_in[node] = a->open_out[node] = 0;
		heap_put(a, i, node);
		for (uint32_t k = a->out->start[node]; k < a->out->start[node + 1]; k++) {
			if (is_inner(a, a->out->edges[k])) {
				a->open_out[node]++;
				a->delta[node] += (int64_t)edge_cost(a, a->out->edges[k]);
			}
		}
		for (uint32_t k = a->in->start[node]; k < a->in->start[node + 1]; k++) {
			if (is_inner(a, a->in->edges[k])) {
				a->open_in[node]++;
				a->delta[node] -= (int64_t)edge_cost(a, a->in->edges[k]);
			}
		}
	}
	for (uint32_t i = a->member_count / 2 + 1; i-- > 0;)
		heap_restore(a, i);
	/* Strongly connected: there are neither sources nor sinks yet. */
	*list_len = 0;
}

/* Takes node off the graph; its neighbours may become sources or sinks. */
static void greedy_place(struct arranger *a, uint32_t node, uint32_t *list_len)
{
	heap_remove(a, node);
	for (uint32_t k = a->out->start[node]; k < a->out->start[node + 1]; k++) {
		uint32_t e = a->out->edges[k];
		uint32_t callee = a->g->edges[e].callee;

		if (!is_inner(a, e) || a->heap_place[callee] == UINT32_MAX)
			continue;
		a->delta[callee] += (int64_t)edge_cost(a, e);
		heap_restore(a, a->heap_place[callee]);
		/* listed once: when the first of its sides gets empty */
		if (--a->open_in[callee] == 0 && a->open_out[callee] != 0)
			a->list[(*list_len)++] = callee;
	}
	for (uint32_t k = a->in->start[node]; k < a->in->start[node + 1]; k++) {
		uint32_t e = a->in->edges[k];
		uint32_t caller = a->g->edges[e].caller;

		if (!is_inner(a, e) || a->heap_place[caller] == UINT32_MAX)
			continue;
		a->delta[caller] -= (int64_t)edge_cost(a, e);
		heap_restore(a, a->heap_place[caller]);
		if (--a->open_out[caller] == 0 && a->open_in[caller] != 0)
			a->list[(*list_len)++] = caller;
	}
}

static void arrange_greedily(struct arranger *a)
{
	uint64_t left = 1, right = a->member_count;
	uint32_t list_len;

	greedy_begin(a, &list_len);
	while (a->heap_len) {
		uint32_t node = list_len ? a->list[--list_len] : a->heap[0];

		if (a->heap_place[node] == UINT32_MAX)
			continue;
		if (a->open_out[node] == 0 && a->open_in[node] != 0)
			a->greedy[node] = right-- << LABEL_SHIFT;
		else
			a->greedy[node] = left++ << LABEL_SHIFT;
		greedy_place(a, node, &list_len);
	}
}

/* ---- improving a line ---- */

static uint64_t line_cost(const struct arranger *a, const uint64_t *label)
{
	uint64_t cost = 0;

	for (uint32_t i = 0; i < a->member_count; i++) {
		uint32_t node = a->members[i];

		for (uint32_t k = a->out->start[node]; k < a->out->start[node + 1]; k++) {
			uint32_t e = a->out->edges[k];

			if (is_inner(a, e) && label[node] > label[a->g->edges[e].callee])
				cost += edge_cost(a, e);
		}
	}
	return cost;
}

static uint32_t gather_neighbours(struct arranger *a, uint32_t node)
{
	uint32_t count = 0;

	for (uint32_t k = a->out->start[node]; k < a->out->start[node + 1]; k++) {
		uint32_t e = a->out->edges[k];

		if (is_inner(a, e))
			a->neighbours[count++] =
				(struct neighbour){a->label[a->g->edges[e].callee], edge_cost(a, e), e, false};
	}
	for (uint32_t k = a->in->start[node]; k < a->in->start[node + 1]; k++) {
		uint32_t e = a->in->edges[k];

		if (is_inner(a, e))
			a->neighbours[count++] =
				(struct neighbour){a->label[a->g->edges[e].caller], edge_cost(a, e), e, true};
	}
	neighbours_sort(a->neighbours, count);
	return count;
}

/* The label in the middle of the gap below neighbour i, 0 when the gap has no room. Labels stay in 1 .. 2^63. */
static uint64_t gap_label(const struct arranger *a, uint32_t i, uint32_t count)
{
	uint64_t below = i ? a->neighbours[i - 1].key : 0;
	uint64_t above = i < count ? a->neighbours[i].key : UINT64_C(1) << 63;

	return above - below >= 2 ? below + (above - below) / 2 : 0;
}

/* Moves node to where the edges between it and its neighbours cost least. True when that is better than where it is. */
static bool sift(struct arranger *a, uint32_t node)
{
	uint32_t count = gather_neighbours(a, node);
	uint64_t cost = 0, here = UINT64_MAX, best = UINT64_MAX, best_label = 0;

	/* Before all neighbours, the edges from callers point backwards. */
	for (uint32_t i = 0; i < count; i++)
		if (a->neighbours[i].is_caller)
			cost += a->neighbours[i].weight;
	for (uint32_t i = 0; i <= count; i++) {
		uint64_t label = gap_label(a, i, count);

		if (label && cost < best) {
			best = cost;
			best_label = label;
		}
		if (here == UINT64_MAX && (i == count || a->label[node] < a->neighbours[i].key))
			here = cost;
		if (i < count) {
			if (a->neighbours[i].is_caller)
				cost -= a->neighbours[i].weight;
			else
				cost += a->neighbours[i].weight;
		}
	}
	a->budget -= a->budget < count ? a->budget : count;
	if (best >= here)
		return false;
	a->label[node] = best_label;
	return true;
}

/* Sorts members by label and gives them evenly spaced labels again. */
static void relabel(struct arranger *a, struct neighbour *scratch)
{
	for (uint32_t i = 0; i < a->member_count; i++)
		scratch[i] = (struct neighbour){.key = a->label[a->members[i]], .edge = a->members[i]};
	qsort(scratch, a->member_count, sizeof(*scratch), neighbour_compare);
	for (uint32_t i = 0; i < a->member_count; i++) {
		a->members[i] = scratch[i].edge;
		a->label[scratch[i].edge] = ((uint64_t)i + 1) << LABEL_SHIFT;
	}
}

static struct error *arrange(struct arranger *a)
{
	struct neighbour *scratch = malloc(a->member_count * sizeof(*scratch));

	if (!scratch)
		return &error_no_memory;
	arrange_by_search(a);
	arrange_greedily(a);
	if (line_cost(a, a->greedy) < line_cost(a, a->label))
		for (uint32_t i = 0; i < a->member_count; i++)
			a->label[a->members[i]] = a->greedy[a->members[i]];
	relabel(a, scratch);
	for (uint32_t pass = 0; pass < SIFT_PASSES && a->budget; pass++) {
		bool improved = false;

		for (uint32_t i = 0; i < a->member_count && a->budget; i++)
			improved |= sift(a, a->members[i]);
		if (!improved)
			break;
		relabel(a, scratch);
	}
	free(scratch);
	return NULL;
}

/* ---- the whole graph ---- */

static struct error *arranger_init(struct arranger *a)
{
	size_t count = (size_t)a->g->node_count + 1;
	uint32_t degree = 0, most = 1;
	uint32_t *small;

	for (uint32_t n = 0; n < a->g->node_count; n++) {
		degree = a->out->start[n + 1] - a->out->start[n] + a->in->start[n + 1] - a->in->start[n];
		if (degree > most)
			most = degree;
	}
	a->label = calloc(count, sizeof(*a->label));
	a->greedy = malloc(count * sizeof(*a->greedy));
	a->delta = malloc(count * sizeof(*a->delta));
	a->open_in = small = malloc(count * 5 * sizeof(*small));
	a->neighbours = malloc(most * sizeof(*a->neighbours));
	if (!a->label || !a->greedy || !a->delta || !small || !a->neighbours)
		return &error_no_memory;
	a->open_out = small + count;
	a->list = small + 2 * count;
	a->heap = small + 3 * count;
	a->heap_place = small + 4 * count;
	a->shift = backedge_weight_shift(a->g);
	a->budget = SIFT_BUDGET;
	return NULL;
}

static void arranger_deinit(struct arranger *a)
{
	scc_deinit(&a->scc);
	free(a->label);
	free(a->greedy);
	free(a->delta);
	free(a->open_in);
	free(a->neighbours);
}

static void mark_edges(struct arranger *a)
{
	for (uint32_t e = 0; e < a->g->edge_count; e++) {
		struct callgraph_edge *edge = &a->g->edges[e];
		bool is_same = a->scc.component[edge->caller] == a->scc.component[edge->callee];

		edge->kind = is_same && a->label[edge->caller] >= a->label[edge->callee] ? EDGE_BACK : EDGE_ENCODED;
		edge->addend = 0;
	}
}

struct error *backedge_mark(struct callgraph *g, const struct adjacency *out, const struct adjacency *in,
			    uint32_t *order)
{
	struct arranger a = {.g = g, .out = out, .in = in};
	uint32_t filled = 0;
	struct error *err;

	err = arranger_init(&a);
	if (!err)
		err = scc_find(g, out, &a.scc);
	/* Components come callees first, so backwards they are in topological order. */
	for (uint32_t c = a.scc.count; !err && c-- > 0;) {
		a.component = c;
		a.members = a.scc.members + a.scc.start[c];
		a.member_count = a.scc.start[c + 1] - a.scc.start[c];
		if (a.member_count > 1)
			err = arrange(&a);
		for (uint32_t i = 0; i < a.member_count; i++)
			order[filled++] = a.members[i];
	}
	if (!err)
		mark_edges(&a);
	arranger_deinit(&a);
	return err;
}
