/*
 * test_frequency.c - propagated frequencies: known answers, cycles, extremes.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "core/contexts/frequency.h"

enum {
	ONE = 1024,
};

static void build(struct callgraph *g, uint32_t nodes, const uint32_t (*ends)[2], uint32_t edges)
{
	uint32_t ignored;

	callgraph_init(g, NULL);
	for (uint32_t n = 0; n < nodes; n++)
		CHECK_OK(callgraph_add_node(g, n == 0, &ignored));
	for (uint32_t e = 0; e < edges; e++)
		CHECK_OK(callgraph_add_edge(g, ends[e][0], ends[e][1], e, 7, &ignored));
}

static void check_near(const struct callgraph *g, uint32_t edge, double want)
{
	double got = (double)g->edges[edge].weight / (double)ONE;

	if (!CHECK(fabs(got - want) <= 0.002 + want * 1e-4))
		fprintf(stderr, "edge %u: got %g, want %g\n", edge, got, want);
}

static void test_acyclic(void)
{
	/* 0 calls 1 ten times and 2 half the time; 1 and 2 call 3; 4 is never entered and calls 3 */
	static const uint32_t ends[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {4, 3}, {3, 5}, {3, 5}};
	static const double relative[] = {10, 0.5, 2, 4, 100, 1, 0.25};
	static const double base[] = {3, 0, 1, 0, 0, 0};
	static const double want[] = {30, 1.5, 60, 10, 0, 70, 17.5}, want_entries[] = {3, 30, 2.5, 70, 0, 87.5};
	double entries[6];
	struct callgraph g;

	build(&g, 6, ends, 7);
	CHECK_OK(frequency_propagate(&g, relative, base, entries));
	for (uint32_t e = 0; e < 7; e++)
		check_near(&g, e, want[e]);
	for (uint32_t n = 0; n < 6; n++)
		CHECK(fabs(entries[n] - want_entries[n]) <= want_entries[n] * 1e-4);
	callgraph_deinit(&g);
}

static void test_cycles(void)
{
	/* 1 recurses once in two entries: 2 entries for each from outside. 2 <-> 3 would diverge (2 x 2): damped to 0.9 each
	 * way, so 2 is entered 1 / (1 - 0.81) times, 3 0.9 times that, while edges keep their undamped rate. */
	static const uint32_t ends[][2] = {{0, 1}, {1, 1}, {0, 2}, {2, 3}, {3, 2}, {3, 4}};
	static const double relative[] = {5, 0.5, 1, 2, 2, 1};
	static const double base[] = {1, 0, 0, 0, 0};
	static const double want[] = {5, 5, 1, 2 / 0.19, 1.8 / 0.19, 0.9 / 0.19};
	struct callgraph g;

	build(&g, 5, ends, 6);
	CHECK_OK(frequency_propagate(&g, relative, base, NULL));
	for (uint32_t e = 0; e < 6; e++)
		check_near(&g, e, want[e]);
	callgraph_deinit(&g);
}

static void test_extremes(void)
{
	enum {
		LENGTH = 100000
	};
	struct callgraph g;
	double *relative = malloc(LENGTH * sizeof(*relative)), *base = calloc(LENGTH + 1, sizeof(*base));
	static const uint32_t ends[][2] = {{0, 1}, {1, 2}, {1, 3}, {2, 3}, {3, 1}};
	static const double odd[] = {NAN, -1, INFINITY, 1e-300, 1};
	static const double odd_base[] = {NAN, 1, -INFINITY, 0};
	uint32_t ignored;

	/* a chain of loops, each running a hundred times: saturates, in order */
	callgraph_init(&g, NULL);
	CHECK_OK(callgraph_add_node(&g, true, &ignored));
	for (uint32_t n = 0; n < LENGTH; n++) {
		relative[n] = 100;
		CHECK_OK(callgraph_add_node(&g, false, &ignored));
		CHECK_OK(callgraph_add_edge(&g, n, n + 1, n, 0, &ignored));
	}
	base[0] = 1e-3;
	CHECK_OK(frequency_propagate(&g, relative, base, NULL));
	for (uint32_t e = 0; e < LENGTH; e++)
		if (!CHECK(g.edges[e].weight >= (e ? g.edges[e - 1].weight : 1)))
			break;
	CHECK(g.edges[LENGTH - 1].weight <= UINT64_C(1) << 62);
	CHECK(g.edges[LENGTH - 1].weight > UINT64_C(1) << 61);
	callgraph_deinit(&g);
	free(relative);
	free(base);

	build(&g, 4, ends, 5);
	CHECK_OK(frequency_propagate(&g, odd, odd_base, NULL));
	CHECK_U64(g.edges[0].weight, 0);
	CHECK_U64(g.edges[1].weight, 0);
	CHECK(g.edges[2].weight > 0);
	CHECK_U64(g.edges[3].weight, 0);
	CHECK(g.edges[4].weight > 0);
	callgraph_deinit(&g);

	callgraph_init(&g, NULL);
	CHECK_OK(frequency_propagate(&g, NULL, NULL, NULL));
	callgraph_deinit(&g);
}

int main(void)
{
	test_acyclic();
	test_cycles();
	test_extremes();
	return check_status();
}
