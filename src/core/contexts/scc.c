/*
 * scc.c - Tarjan's algorithm with an explicit stack, so that a chain of a million calls is no problem. Linear.
 */
#include "core/contexts/scc.h"

#include <string.h>

enum {
	UNVISITED = 0, /* discovery numbers start at 1 */
};

struct tarjan {
	const struct callgraph *g;
	const struct adjacency *out;
	struct scc *scc;
	uint32_t *number; /* discovery number of each node */
	uint32_t *low;    /* smallest discovery number known to be reachable within the component */
	uint32_t *next;   /* next outgoing edge to look at: the frame of the recursion that is not there */
	uint32_t *path;   /* nodes from the start of the search to the present one */
	uint32_t *open;   /* visited nodes whose component is not complete */
	uint32_t path_len;
	uint32_t open_len;
	uint32_t visited;
};

static void visit(struct tarjan *t, uint32_t node)
{
	t->number[node] = t->low[node] = ++t->visited;
	t->next[node] = t->out->start[node];
	t->path[t->path_len++] = node;
	t->open[t->open_len++] = node;
}

/* node is the first found of its component, the rest of which lies above it on the open stack. */
static void close_component(struct tarjan *t, uint32_t node)
{
	struct scc *scc = t->scc;
	uint32_t filled = scc->start[scc->count];
	uint32_t member;

	do {
		member = t->open[--t->open_len];
		scc->component[member] = scc->count;
		scc->members[filled++] = member;
	} while (member != node);
	scc->start[++scc->count] = filled;
}

static void search_from(struct tarjan *t, uint32_t first)
{
	visit(t, first);
	while (t->path_len) {
		uint32_t node = t->path[t->path_len - 1];
		uint32_t callee, caller;

		if (t->next[node] < t->out->start[node + 1]) {
			callee = t->g->edges[t->out->edges[t->next[node]++]].callee;
			if (t->number[callee] == UNVISITED)
				visit(t, callee);
			else if (t->scc->component[callee] == UINT32_MAX && t->number[callee] < t->low[node])
				t->low[node] = t->number[callee];
			continue;
		}
		t->path_len--;
		if (t->low[node] == t->number[node])
			close_component(t, node);
		if (!t->path_len)
			break;
		caller = t->path[t->path_len - 1];
		if (t->low[node] < t->low[caller])
			t->low[caller] = t->low[node];
	}
}

struct error *scc_find(const struct callgraph *g, const struct adjacency *out, struct scc *ret)
{
	size_t count = (size_t)g->node_count + 1;
	struct scc scc = {
		.component = allocator_alloc(g->allocator, count, sizeof(uint32_t)),
		.members = allocator_alloc(g->allocator, count, sizeof(uint32_t)),
		.start = allocator_calloc(g->allocator, count, sizeof(uint32_t)),
		.allocator = g->allocator,
	};
	uint32_t *scratch = allocator_calloc(g->allocator, count, 5 * sizeof(uint32_t));
	struct tarjan t = {.g = g, .out = out, .scc = &scc};

	if (!scc.component || !scc.members || !scc.start || !scratch) {
		allocator_free(g->allocator, scratch);
		scc_deinit(&scc);
		return &error_no_memory;
	}
	memset(scc.component, 0xff, count * sizeof(uint32_t));
	t.number = scratch;
	t.low = scratch + count;
	t.next = scratch + 2 * count;
	t.path = scratch + 3 * count;
	t.open = scratch + 4 * count;
	for (uint32_t n = 0; n < g->node_count; n++)
		if (t.number[n] == UNVISITED)
			search_from(&t, n);
	allocator_free(g->allocator, scratch);
	*ret = scc;
	return NULL;
}

void scc_deinit(struct scc *scc)
{
	allocator_free(scc->allocator, scc->component);
	allocator_free(scc->allocator, scc->members);
	allocator_free(scc->allocator, scc->start);
	*scc = (struct scc){0};
}
