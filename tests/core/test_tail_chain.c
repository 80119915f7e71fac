/*
 * test_tail_chain.c - random small graphs: all walks up to a length are made one by one, and what they have in common is what tail_chain_find
 * must say. test_tail_chain COUNT SEED by command.
 */
#include <stdlib.h>

#include "check.h"
#include "core/contexts/tail_chain.h"

enum {
	NODES_MAX = 5,
	EDGES_MAX = 7,
	LENGTH_MAX = 12, /* cycles of 5 nodes and a way around each are in it */
};

/* What all walks begin and end with so far. */
struct common {
	uint32_t first[LENGTH_MAX], last[LENGTH_MAX]; /* last[0] is the one before `to` */
	uint32_t first_count, last_count, shortest, walks;
};

struct oracle {
	const struct tail_graph *g;
	uint32_t to;
	uint32_t walk[LENGTH_MAX];
	struct common all;
};

static void add_walk(struct oracle *o, uint32_t len)
{
	struct common *c = &o->all;
	uint32_t i;

	if (!c->walks++) {
		c->first_count = c->last_count = c->shortest = len;
		for (i = 0; i < len; i++) {
			c->first[i] = o->walk[i];
			c->last[i] = o->walk[len - 1 - i];
		}
		return;
	}
	if (len < c->shortest)
		c->shortest = len;
	for (i = 0; i < len && i < c->first_count && c->first[i] == o->walk[i]; i++)
		;
	c->first_count = i;
	for (i = 0; i < len && i < c->last_count && c->last[i] == o->walk[len - 1 - i]; i++)
		;
	c->last_count = i;
}

/* walk[0 .. len) are before `node`. */
static void make_walks(struct oracle *o, uint32_t node, uint32_t len)
{
	bool is_done[NODES_MAX] = {false};

	if (node == o->to) {
		add_walk(o, len);
		return;
	}
	if (len == LENGTH_MAX)
		return;
	o->walk[len] = node;
	for (uint32_t i = 0; i < o->g->edge_count; i++)
		if (o->g->edges[i].from == node && !is_done[o->g->edges[i].to]) {
			is_done[o->g->edges[i].to] = true;
			make_walks(o, o->g->edges[i].to, len + 1);
		}
}

/* An edge is said if it is the only one of its two nodes, and the step's next node is known. */
static void check_edge(const struct tail_graph *g, const struct tail_step *step, uint32_t next)
{
	uint32_t count = 0, edge = UINT32_MAX;

	for (uint32_t i = 0; i < g->edge_count; i++)
		if (g->edges[i].from == step->node && g->edges[i].to == next) {
			count++;
			edge = i;
		}
	CHECK_U64(step->edge, next != UINT32_MAX && count == 1 ? edge : UINT32_MAX);
}

static void check_steps(const struct oracle *o, const struct tail_chain *chain)
{
	const struct common *c = &o->all;
	uint32_t last = c->last_count;

	if (c->first_count + last > c->shortest)
		last = c->shortest - c->first_count;
	CHECK_U64(chain->is_whole, c->walks == 1);
	CHECK_U64(chain->first_count, c->first_count);
	if (!CHECK_U64(chain->count, c->first_count + last))
		return;
	for (uint32_t i = 0; i < c->first_count; i++)
		CHECK_U64(chain->steps[i].node, c->first[i]);
	for (uint32_t i = 0; i < last; i++)
		CHECK_U64(chain->steps[chain->count - 1 - i].node, c->last[i]);
	for (uint32_t i = 0; i < chain->count; i++) {
		bool is_end = i + 1 == chain->count;

		if (i + 1 == chain->first_count && !chain->is_whole)
			check_edge(o->g, &chain->steps[i], UINT32_MAX);
		else
			check_edge(o->g, &chain->steps[i], is_end ? o->to : chain->steps[i + 1].node);
	}
}

/* No node is open. */
static void test_random(void)
{
	struct tail_edge edges[EDGES_MAX];
	bool is_open[NODES_MAX] = {false};
	struct tail_graph g = {.edges = edges, .is_open = is_open};
	struct oracle o = {.g = &g};
	struct tail_chain chain;
	struct arena arena;

	g.node_count = 2 + (uint32_t)random() % (NODES_MAX - 1);
	g.edge_count = (uint32_t)random() % (EDGES_MAX + 1);
	for (uint32_t i = 0; i < g.edge_count; i++)
		edges[i] = (struct tail_edge){(uint32_t)random() % g.node_count, (uint32_t)random() % g.node_count};
	o.to = (uint32_t)random() % (g.node_count - 1) + 1;
	arena_init(&arena);
	CHECK_OK(tail_chain_find(&g, 0, o.to, &arena, &chain));
	make_walks(&o, 0, 0);
	if (o.all.walks)
		check_steps(&o, &chain);
	else
		CHECK_U64(chain.count + chain.first_count + chain.is_whole, 0);
	arena_deinit(&arena);
}

static void expect(const struct tail_graph *g, uint32_t first_count, uint32_t count, bool is_whole)
{
	struct tail_chain chain;
	struct arena arena;

	arena_init(&arena);
	CHECK_OK(tail_chain_find(g, 0, g->node_count - 1, &arena, &chain));
	CHECK_U64(chain.first_count, first_count);
	CHECK_U64(chain.count, count);
	CHECK_U64(chain.is_whole, is_whole);
	for (uint32_t i = 0; i < count && i < first_count; i++)
		CHECK_U64(chain.steps[i].node, i);
	arena_deinit(&arena);
}

/* 0 > 1 > 2 > 3 > 4, and a tail call of one of them that is not known. */
static void test_open(void)
{
	static const struct tail_edge edges[] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
	bool is_open[5] = {false};
	struct tail_graph g = {5, 4, edges, is_open};

	expect(&g, 4, 4, true);
	is_open[4] = true; /* what it calls later */
	expect(&g, 4, 4, true);
	is_open[2] = true;
	expect(&g, 3, 3, false);
	is_open[0] = true;
	expect(&g, 1, 1, false);
	g.edge_count = 3; /* nothing says that it leads there */
	expect(&g, 0, 0, false);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
	unsigned int seed = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 1;

	srandom(seed);
	for (unsigned long i = 0; i < count && !check_failures; i++)
		test_random();
	if (check_failures)
		fprintf(stderr, "seed %u\n", seed);
	test_open();
	return check_status();
}
