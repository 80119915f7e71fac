/*
 * test_backedges.c - back edges are cold: on small graphs their weight is compared with the least there can be.
 *
 * The least is found by dynamic programming over sets of nodes: which node comes last among a set, and what its calls to the
 * others weigh. It is not always reached; over many graphs the sum must be within 3 % of it, and most must be exact.
 */
#include "check.h"

#include <stdlib.h>

#include "graphs.h"

enum {
	MOST_NODES = 10,
	GRAPHS = 400,
	SEED = 1993,
};

static uint64_t least_back_weight(const struct callgraph *g)
{
	uint64_t weight[MOST_NODES][MOST_NODES] = {0}, loops = 0, least;
	uint64_t *best = malloc((sizeof(*best)) << g->node_count);

	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct callgraph_edge *edge = &g->edges[e];

		if (edge->caller == edge->callee)
			loops += edge->weight;
		else
			weight[edge->caller][edge->callee] += edge->weight;
	}
	best[0] = 0;
	for (uint32_t set = 1; set < 1u << g->node_count; set++) {
		best[set] = UINT64_MAX;
		for (uint32_t last = 0; last < g->node_count; last++) {
			uint64_t sum;

			if (!(set >> last & 1))
				continue;
			sum = best[set & ~(1u << last)];
			for (uint32_t n = 0; n < g->node_count; n++)
				if (set >> n & 1)
					sum += weight[last][n];
			if (sum < best[set])
				best[set] = sum;
		}
	}
	least = best[(1u << g->node_count) - 1] + loops;
	free(best);
	return least;
}

static uint64_t back_weight(const struct callgraph *g)
{
	uint64_t sum = 0;

	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].kind == EDGE_BACK)
			sum += g->edges[e].weight;
	return sum;
}

static void test_random(void)
{
	double chosen = 0, least = 0;
	unsigned int exact = 0;

	for (uint64_t i = 0; i < GRAPHS; i++) {
		struct rng r = {SEED + i};
		uint32_t nodes = 3 + (uint32_t)rng_below(&r, MOST_NODES - 2);
		uint64_t got, want;
		struct callgraph g;

		callgraph_init(&g, NULL);
		CHECK_OK(graph_generate_weighted(&r, GRAPH_UNIFORM, GRAPH_WEIGHTS_EQUAL, nodes, nodes * 3, &g));
		for (uint32_t e = 0; e < g.edge_count; e++)
			g.edges[e].weight = 1 + (rng_next(&r) >> 44 >> rng_below(&r, 20));
		CHECK_OK(callgraph_encode(&g, NULL, NULL));
		got = back_weight(&g);
		want = least_back_weight(&g);
		if (!CHECK(got >= want))
			fprintf(stderr, "seed %llu\n", (unsigned long long)(i + SEED));
		chosen += (double)got;
		least += (double)want;
		exact += got == want;
		callgraph_deinit(&g);
	}
	printf("%d graphs from seed %d on: %.4f of the least weight, %u exact\n", GRAPHS, SEED, chosen / least, exact);
	CHECK(chosen <= least * 1.03);
	CHECK(exact >= GRAPHS * 3 / 4);
}

/* A recursive descent: main calls expr once, the hot cycle expr -> term -> factor is closed by the cold factor -> expr. */
static void test_recursive_descent(void)
{
	static const uint32_t ends[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {1, 1}, {3, 4}, {4, 3}};
	static const uint64_t weights[] = {10, 1000, 5000, 990, 3, 40, 40};
	static const enum edge_kind kinds[] = {EDGE_ENCODED, EDGE_ENCODED, EDGE_ENCODED, EDGE_BACK,
					       EDGE_BACK,    EDGE_ENCODED, EDGE_BACK};
	struct callgraph g;
	uint32_t ignored;

	callgraph_init(&g, NULL);
	for (uint32_t n = 0; n < 5; n++)
		CHECK_OK(callgraph_add_node(&g, n == 0, &ignored));
	for (uint32_t e = 0; e < 7; e++)
		CHECK_OK(callgraph_add_edge(&g, ends[e][0], ends[e][1], e, weights[e], &ignored));
	CHECK_OK(callgraph_encode(&g, NULL, NULL));
	for (uint32_t e = 0; e < 7; e++)
		CHECK_U64(g.edges[e].kind, kinds[e]);
	/* main -> expr has no code although pushes enter expr more often */
	CHECK_U64(g.edges[0].addend, 0);
	CHECK_U64(g.nodes[1].restart, 1);
	callgraph_deinit(&g);
}

int main(void)
{
	test_random();
	test_recursive_descent();
	return check_status();
}
