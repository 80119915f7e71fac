/*
 * feedback_arcs.c - a light feedback edge set: the edges that point backwards on a line of nodes.
 *
 * Minimising their cost is NP-hard. Here
 *
 *      1. two lines are made: the reverse postorder of a depth-first search that follows costly edges first, and the greedy
 *         one of Eades, Lin and Smyth (1993), weighted; the cheaper one is kept;
 *      2. it is sifted: every node moves to its best place between its neighbours, until nothing improves or the budget is
 *         used up.
 *
 * Deterministic; ties go to the lower number. No recursion. Each pass is O(E log E).
 */
#include "core/contexts/feedback_arcs.h"

#include <stdbool.h>
#include <string.h>

#include "base/sort.h"

enum {
	LABEL_SHIFT = 31, /* lines are laid out with gaps of 2^31, which sifting fills */
	SIFT_PASSES = 16, /* at most */
};

struct neighbour {
	uint64_t label;
	uint64_t cost;
	uint32_t number; /* to make the order total */
	bool is_caller;  /* the neighbour calls the node */
};

struct feedback_arcs {
	const struct feedback_arcs_graph *g;
	uint64_t *budget;
	uint32_t *line;

	/* per node */
	uint64_t *label;      /* place on the line; equal labels only between nodes that are no neighbours */
	uint64_t *greedy;     /* the second line */
	int64_t *delta;       /* greedy: cost out minus cost in, among the nodes not yet placed */
	uint32_t *open_in;    /* greedy: edges from nodes not yet placed; search: visited */
	uint32_t *open_out;   /* greedy: edges to nodes not yet placed; search: next link */
	uint32_t *list;       /* greedy: sources and sinks to place; search: path */
	uint32_t *heap;       /* greedy: nodes not yet placed, largest delta on top */
	uint32_t *heap_place; /* greedy: where a node is in the heap, UINT32_MAX once it is placed */
	uint32_t heap_len;
	struct neighbour *neighbours; /* room for all links of one node, or one a node */
	struct neighbour *scratch;    /* as much, for sorting them */
};

static inline int neighbour_compare(const struct neighbour *l, const struct neighbour *r)
{
	if (l->label != r->label)
		return l->label < r->label ? -1 : 1;
	return l->number < r->number ? -1 : l->number > r->number;
}

SORT_DECLARE(neighbours, struct neighbour, neighbour_compare);

/* ---- line 1: depth-first search ---- */

/* The outgoing links of node in the order the search follows them: costly first, else as they were. A scratch neighbour keeps
 * the inverted cost as its label and the node as its cost. */
static void sort_outgoing(struct feedback_arcs *a, uint32_t node)
{
	struct feedback_arcs_link *links = a->g->out + a->g->out_start[node];
	uint32_t count = a->g->out_start[node + 1] - a->g->out_start[node];

	for (uint32_t i = 0; i < count; i++)
		a->neighbours[i] = (struct neighbour){~links[i].cost, links[i].node, i, false};
	neighbours_sort(a->neighbours, count, a->scratch);
	for (uint32_t i = 0; i < count; i++)
		links[i] = (struct feedback_arcs_link){~a->neighbours[i].label, (uint32_t)a->neighbours[i].cost};
}

static void search_enter(struct feedback_arcs *a, uint32_t node, uint32_t *path_len)
{
	sort_outgoing(a, node);
	a->open_in[node] = 1;
	a->open_out[node] = a->g->out_start[node];
	a->list[(*path_len)++] = node;
}

static void arrange_by_search(struct feedback_arcs *a)
{
	uint64_t place = a->g->node_count;
	uint32_t path_len = 0;

	memset(a->open_in, 0, a->g->node_count * sizeof(*a->open_in));
	search_enter(a, a->g->first, &path_len);
	while (path_len) {
		uint32_t node = a->list[path_len - 1];

		if (a->open_out[node] < a->g->out_start[node + 1]) {
			uint32_t callee = a->g->out[a->open_out[node]++].node;

			if (!a->open_in[callee])
				search_enter(a, callee, &path_len);
		} else {
			a->label[node] = place-- << LABEL_SHIFT;
			path_len--;
		}
	}
}

/* ---- line 2: greedy ---- */

static bool heap_before(const struct feedback_arcs *a, uint32_t left, uint32_t right)
{
	return a->delta[left] > a->delta[right] || (a->delta[left] == a->delta[right] && left < right);
}

static void heap_put(struct feedback_arcs *a, uint32_t at, uint32_t node)
{
	a->heap[at] = node;
	a->heap_place[node] = at;
}

/* Moves the node at `at` up or down to where it belongs. */
static void heap_restore(struct feedback_arcs *a, uint32_t at)
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

static void heap_remove(struct feedback_arcs *a, uint32_t node)
{
	uint32_t at = a->heap_place[node];
	uint32_t last = a->heap[--a->heap_len];

	a->heap_place[node] = UINT32_MAX;
	if (last == node)
		return;
	heap_put(a, at, last);
	heap_restore(a, at);
}

static void greedy_begin(struct feedback_arcs *a)
{
	const struct feedback_arcs_graph *g = a->g;

	a->heap_len = g->node_count;
	for (uint32_t n = 0; n < g->node_count; n++) {
		a->delta[n] = 0;
		for (uint32_t k = g->out_start[n]; k < g->out_start[n + 1]; k++)
			a->delta[n] += (int64_t)g->out[k].cost;
		for (uint32_t k = g->in_start[n]; k < g->in_start[n + 1]; k++)
			a->delta[n] -= (int64_t)g->in[k].cost;
		a->open_out[n] = g->out_start[n + 1] - g->out_start[n];
		a->open_in[n] = g->in_start[n + 1] - g->in_start[n];
		heap_put(a, n, n);
	}
	for (uint32_t i = g->node_count / 2 + 1; i-- > 0;)
		heap_restore(a, i);
}

/* Takes node off the graph; its neighbours may become sources or sinks. */
static void greedy_place(struct feedback_arcs *a, uint32_t node, uint32_t *list_len)
{
	const struct feedback_arcs_graph *g = a->g;

	heap_remove(a, node);
	for (uint32_t k = g->out_start[node]; k < g->out_start[node + 1]; k++) {
		uint32_t callee = g->out[k].node;

		if (a->heap_place[callee] == UINT32_MAX)
			continue;
		a->delta[callee] += (int64_t)g->out[k].cost;
		heap_restore(a, a->heap_place[callee]);
		/* listed once: when the first of its sides gets empty */
		if (--a->open_in[callee] == 0 && a->open_out[callee] != 0)
			a->list[(*list_len)++] = callee;
	}
	for (uint32_t k = g->in_start[node]; k < g->in_start[node + 1]; k++) {
		uint32_t caller = g->in[k].node;

		if (a->heap_place[caller] == UINT32_MAX)
			continue;
		a->delta[caller] -= (int64_t)g->in[k].cost;
		heap_restore(a, a->heap_place[caller]);
		if (--a->open_out[caller] == 0 && a->open_in[caller] != 0)
			a->list[(*list_len)++] = caller;
	}
}

/* Sinks go to the right end, sources to the left; when there is neither, what is most like a source goes to the left. */
static void arrange_greedily(struct feedback_arcs *a)
{
	uint64_t left = 1, right = a->g->node_count;
	uint32_t list_len = 0; /* strongly connected: there are neither sources nor sinks yet */

	greedy_begin(a);
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

static uint64_t line_cost(const struct feedback_arcs_graph *g, const uint64_t *label)
{
	uint64_t cost = 0;

	for (uint32_t n = 0; n < g->node_count; n++)
		for (uint32_t k = g->out_start[n]; k < g->out_start[n + 1]; k++)
			if (label[n] > label[g->out[k].node])
				cost += g->out[k].cost;
	return cost;
}

static uint32_t gather_neighbours(struct feedback_arcs *a, uint32_t node)
{
	const struct feedback_arcs_graph *g = a->g;
	uint32_t count = 0;

	for (uint32_t k = g->out_start[node]; k < g->out_start[node + 1]; k++, count++)
		a->neighbours[count] = (struct neighbour){a->label[g->out[k].node], g->out[k].cost, count, false};
	for (uint32_t k = g->in_start[node]; k < g->in_start[node + 1]; k++, count++)
		a->neighbours[count] = (struct neighbour){a->label[g->in[k].node], g->in[k].cost, count, true};
	neighbours_sort(a->neighbours, count, a->scratch);
	return count;
}

/* The label in the middle of the gap below neighbour i, 0 when the gap has no room. Labels stay in 1 .. 2^63. */
static uint64_t gap_label(const struct feedback_arcs *a, uint32_t i, uint32_t count)
{
	uint64_t below = i ? a->neighbours[i - 1].label : 0;
	uint64_t above = i < count ? a->neighbours[i].label : UINT64_C(1) << 63;

	return above - below >= 2 ? below + (above - below) / 2 : 0;
}

/* Moves node to where the edges between it and its neighbours cost least. True when that is better than where it is. */
static bool sift(struct feedback_arcs *a, uint32_t node)
{
	uint32_t count = gather_neighbours(a, node);
	uint64_t cost = 0, here = UINT64_MAX, best = UINT64_MAX, best_label = 0;

	/* Before all neighbours, the edges from callers point backwards. */
	for (uint32_t i = 0; i < count; i++)
		if (a->neighbours[i].is_caller)
			cost += a->neighbours[i].cost;
	for (uint32_t i = 0; i <= count; i++) {
		uint64_t label = gap_label(a, i, count);

		if (label && cost < best) {
			best = cost;
			best_label = label;
		}
		if (here == UINT64_MAX && (i == count || a->label[node] < a->neighbours[i].label))
			here = cost;
		if (i < count) {
			if (a->neighbours[i].is_caller)
				cost -= a->neighbours[i].cost;
			else
				cost += a->neighbours[i].cost;
		}
	}
	*a->budget -= *a->budget < count ? *a->budget : count;
	if (best >= here)
		return false;
	a->label[node] = best_label;
	return true;
}

/* Sorts the line by label and gives the nodes evenly spaced labels again. */
static void relabel(struct feedback_arcs *a)
{
	for (uint32_t n = 0; n < a->g->node_count; n++)
		a->neighbours[n] = (struct neighbour){.label = a->label[n], .number = n};
	neighbours_sort(a->neighbours, a->g->node_count, a->scratch);
	for (uint32_t i = 0; i < a->g->node_count; i++) {
		a->line[i] = a->neighbours[i].number;
		a->label[a->line[i]] = ((uint64_t)i + 1) << LABEL_SHIFT;
	}
}

static void improve(struct feedback_arcs *a)
{
	relabel(a);
	for (uint32_t pass = 0; pass < SIFT_PASSES && *a->budget; pass++) {
		bool is_improved = false;

		for (uint32_t i = 0; i < a->g->node_count && *a->budget; i++)
			is_improved |= sift(a, a->line[i]);
		if (!is_improved)
			break;
		relabel(a);
	}
}

struct error *feedback_arcs_line(const struct feedback_arcs_graph *g, uint64_t *budget, uint32_t *line)
{
	struct feedback_arcs a = {.g = g, .budget = budget, .line = line};
	size_t count = g->node_count;
	uint32_t most = g->node_count;
	uint64_t *wide = allocator_alloc(g->allocator, count * 3, sizeof(*wide));
	uint32_t *narrow = allocator_alloc(g->allocator, count * 5, sizeof(*narrow));

	for (uint32_t n = 0; n < g->node_count; n++) {
		uint32_t degree = g->out_start[n + 1] - g->out_start[n] + g->in_start[n + 1] - g->in_start[n];

		if (degree > most)
			most = degree;
	}
	a.neighbours = allocator_alloc(g->allocator, (size_t)most * 2, sizeof(*a.neighbours));
	if (!wide || !narrow || !a.neighbours) {
		allocator_free(g->allocator, wide);
		allocator_free(g->allocator, narrow);
		allocator_free(g->allocator, a.neighbours);
		return &error_no_memory;
	}
	a.scratch = a.neighbours + most;
	a.label = wide;
	a.greedy = wide + count;
	a.delta = (int64_t *)(wide + 2 * count);
	a.open_in = narrow;
	a.open_out = narrow + count;
	a.list = narrow + 2 * count;
	a.heap = narrow + 3 * count;
	a.heap_place = narrow + 4 * count;
	arrange_by_search(&a);
	arrange_greedily(&a);
	if (line_cost(g, a.greedy) < line_cost(g, a.label))
		memcpy(a.label, a.greedy, count * sizeof(*a.label));
	improve(&a);
	allocator_free(g->allocator, wide);
	allocator_free(g->allocator, narrow);
	allocator_free(g->allocator, a.neighbours);
	return NULL;
}
