/*
 * dominators.c - Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph" (TOPLAS 1979), the
 * simple version: O(E log N), path compression without balancing. No recursion.
 *
 * Works on numbers of the depth-first search, not on nodes: a parent's is smaller than its child's.
 */
#include "core/paths/dominators.h"

#include <stdlib.h>
#include <string.h>

struct finder {
	const struct cfg *g;
	const uint8_t *is_edge;
	uint32_t count;   /* nodes reached */
	uint32_t *node;   /* by number */
	uint32_t *number; /* by node; NONE: not reached */
	uint32_t *parent;
	uint32_t *semi;
	uint32_t *idom;
	uint32_t *ancestor; /* in the forest of what has been linked; NONE: a root */
	uint32_t *label;    /* on the way to the root, what has the least semi */
	uint32_t *bucket;   /* list: first of those whose semidominator it is */
	uint32_t *next;
	uint32_t *list;
	uint32_t *first_in;
	uint32_t *in;
	uint64_t steps;
};

static const uint32_t NONE = DOMINATORS_NONE;

/* list: the way from the entry; bucket: the next edge of each node, for now. */
static void search(struct finder *f)
{
	const struct cfg *g = f->g;
	uint32_t depth = 1;

	f->number[0] = 0;
	f->node[0] = 0;
	f->count = 1;
	f->list[0] = 0;
	f->bucket[0] = g->first_edge[0];
	while (depth) {
		uint32_t at = f->list[depth - 1], e = f->bucket[at]++, to;

		f->steps++;
		if (e >= g->first_edge[at + 1]) {
			depth--;
			continue;
		}
		to = g->edges[e].to;
		if (!f->is_edge[e] || f->number[to] != NONE)
			continue;
		f->number[to] = f->count;
		f->node[f->count] = to;
		f->parent[f->count++] = f->number[at];
		f->list[depth++] = to;
		f->bucket[to] = g->first_edge[to];
	}
}

/* Predecessors, as numbers, in compressed rows. */
static void find_in(struct finder *f)
{
	const struct cfg *g = f->g;
	uint32_t sum = 0;

	for (uint32_t e = 0; e < g->edge_count; e++)
		if (f->is_edge[e] && f->number[g->edges[e].from] != NONE)
			f->first_in[f->number[g->edges[e].to]]++;
	for (uint32_t i = 0; i <= f->count; i++)
		f->first_in[i] = sum += i < f->count ? f->first_in[i] : 0;
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (f->is_edge[e] && f->number[g->edges[e].from] != NONE)
			f->in[--f->first_in[f->number[g->edges[e].to]]] = f->number[g->edges[e].from];
	f->steps += 2 * (uint64_t)g->edge_count + f->count;
}

/* The one with the least semidominator between v and the root of its tree, without the root. */
static uint32_t evaluate(struct finder *f, uint32_t v)
{
	uint32_t depth = 0;

	if (f->ancestor[v] == NONE)
		return v;
	for (uint32_t at = v; f->ancestor[f->ancestor[at]] != NONE; at = f->ancestor[at])
		f->list[depth++] = at;
	f->steps += depth + 1;
	while (depth--) {
		uint32_t at = f->list[depth], above = f->ancestor[at];

		if (f->semi[f->label[above]] < f->semi[f->label[at]])
			f->label[at] = f->label[above];
		f->ancestor[at] = f->ancestor[above];
	}
	return f->label[v];
}

static void find_idoms(struct finder *f)
{
	for (uint32_t i = 0; i < f->count; i++) {
		f->semi[i] = f->label[i] = i;
		f->ancestor[i] = f->bucket[i] = NONE;
	}
	for (uint32_t i = f->count; i-- > 1;) {
		uint32_t parent = f->parent[i];

		for (uint32_t k = f->first_in[i]; k < f->first_in[i + 1]; k++) {
			uint32_t semi = f->semi[evaluate(f, f->in[k])];

			if (semi < f->semi[i])
				f->semi[i] = semi;
		}
		f->next[i] = f->bucket[f->semi[i]];
		f->bucket[f->semi[i]] = i;
		f->ancestor[i] = parent;
		for (uint32_t v = f->bucket[parent]; v != NONE; v = f->next[v]) {
			uint32_t u = evaluate(f, v);

			f->idom[v] = f->semi[u] < f->semi[v] ? u : parent;
		}
		f->bucket[parent] = NONE;
		f->steps += 2;
	}
	for (uint32_t i = 1; i < f->count; i++)
		if (f->idom[i] != f->semi[i])
			f->idom[i] = f->idom[f->idom[i]];
}

/* Sizes of subtrees, from below; then each takes its part of its parent's numbers, from above. */
static void number_tree(const struct finder *f, const struct dominators *ret)
{
	for (uint32_t n = 0; n < f->g->node_count; n++) {
		ret->idom[n] = ret->first[n] = NONE;
		ret->size[n] = f->number[n] != NONE;
	}
	for (uint32_t i = f->count; i-- > 1;) {
		ret->idom[f->node[i]] = f->node[f->idom[i]];
		ret->size[f->node[f->idom[i]]] += ret->size[f->node[i]];
	}
	ret->first[0] = 0;
	f->next[0] = 1;
	for (uint32_t i = 1; i < f->count; i++) {
		ret->first[f->node[i]] = f->next[f->idom[i]];
		f->next[f->idom[i]] += ret->size[f->node[i]];
		f->next[i] = ret->first[f->node[i]] + 1;
	}
}

struct error *dominators_find(const struct cfg *g, const uint8_t *is_edge, const struct dominators *ret,
			      uint64_t *steps)
{
	struct finder f = {.g = g, .is_edge = is_edge};
	uint32_t **const arrays[] = {&f.node,     &f.number, &f.parent, &f.semi, &f.idom,
				     &f.ancestor, &f.label,  &f.bucket, &f.next, &f.list};
	size_t n = g->node_count, count = sizeof(arrays) / sizeof(*arrays);
	uint32_t *block = calloc(count * n + (n + 1) + g->edge_count, sizeof(*block));

	if (!block)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++)
		*arrays[i] = block + i * n;
	f.first_in = block + count * n;
	f.in = f.first_in + n + 1;
	memset(f.number, 0xff, n * sizeof(*f.number));
	search(&f);
	find_in(&f);
	find_idoms(&f);
	number_tree(&f, ret);
	*steps += f.steps;
	free(block);
	return NULL;
}
