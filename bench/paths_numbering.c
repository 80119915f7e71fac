/*
 * paths_numbering.c - how fast paths are numbered, and how compact preferential path profiling's numbers are.
 *
 * usage: bench-paths-numbering [EDGES [FUNCTIONS]]
 *
 * First the time per edge of each step on large graphs, in processor time, best of RUNS. Then FUNCTIONS random functions, in
 * each the paths that random walks took: their alpha (interval / interesting paths), for each order of edges and for the best,
 * and how many bits packing needs beyond log2 of the number of paths ("none": both numbers do not fit 64 bits).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cfgs.h"
#include "core/paths/placement.h"
#include "core/paths/ppp.h"
#include "core/paths/ppp_order.h"

enum {
	RUNS = 5,
	SEED = 1,
	TABLE_BITS = 16,
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(struct error *err)
{
	if (!err)
		return;
	fprintf(stderr, "bench-paths-numbering: %s\n", err->message);
	exit(1);
}

/* ---- interesting paths ---- */

/* One run: the Ball-Larus number of a path from a random start, each branch as likely as its frequency says. */
static uint64_t walk(const struct cfg *g, const struct path_numbering *n, struct rng *r)
{
	uint32_t start = (uint32_t)rng_below(r, n->start_count), node = n->starts[start];
	uint64_t number = n->start_values[start];

	while (!cfg_node_ends(g, node)) {
		double total = 0, at;
		uint32_t e;

		for (e = g->first_edge[node]; e < g->first_edge[node + 1]; e++)
			total += g->edges[e].frequency;
		at = total * (double)rng_below(r, 1 << 20) / (1 << 20);
		for (e = g->first_edge[node]; e + 1 < g->first_edge[node + 1] && at >= g->edges[e].frequency; e++)
			at -= g->edges[e].frequency;
		number += n->edge_values[e];
		if (cfg_edge_ends(&g->edges[e]))
			break;
		node = g->edges[e].to;
	}
	return number;
}

static int number_compare(const void *left, const void *right)
{
	uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;

	return l < r ? -1 : l > r;
}

/* The different paths of `walks` runs, rising; returns how many. */
static uint32_t take_paths(const struct cfg *g, const struct path_numbering *n, struct rng *r, uint32_t walks,
			   uint64_t *numbers)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < walks; i++)
		numbers[i] = walk(g, n, r);
	qsort(numbers, walks, sizeof(*numbers), number_compare);
	for (uint32_t i = 0; i < walks; i++)
		if (!i || numbers[i] != numbers[i - 1])
			numbers[count++] = numbers[i];
	return count;
}

/* ---- time ---- */

static void measure_time(const char *name, enum cfg_shape shape, uint32_t edges)
{
	enum {
		CUT,
		SPLIT,
		NUMBER,
		PLACE,
		TAKE, /* the interesting paths: not shown */
		PREFER,
		STEPS
	};
	double best[STEPS] = {0};
	uint32_t cut = 0, count = 0, edge_count = 0, node_count = 0;

	for (int run = 0; run < RUNS; run++) {
		double at[STEPS + 1];
		struct ppp_numbering preferred;
		struct path_numbering n;
		struct rng r = {SEED};
		struct placement p;
		struct arena arena;
		uint64_t *numbers;
		struct cfg g;

		arena_init(&arena);
		g = cfg_generate(&arena, &r, shape, CFG_NO_EXTRAS, edges * 7 / 10);
		edge_count = g.edge_count;
		node_count = g.node_count;
		at[CUT] = now_s();
		check(cfg_cut_cycles(&g));
		at[SPLIT] = now_s();
		check(cfg_split(&g, PATH_COUNT_MAX, &cut));
		at[NUMBER] = now_s();
		check(path_number(&g, &arena, &n));
		at[PLACE] = now_s();
		check(placement_make(&g, &n, n.start_values, n.edge_values, &arena, &p));
		at[TAKE] = now_s();
		numbers = arena_calloc(&arena, 1000, sizeof(*numbers));
		count = take_paths(&g, &n, &r, 1000, numbers);
		at[PREFER] = now_s();
		check(ppp_number(&g, &n, numbers, count, &arena, &preferred));
		at[STEPS] = now_s();
		for (int i = 0; i < STEPS; i++) {
			double s = at[i + 1] - at[i];

			if (!run || s < best[i])
				best[i] = s;
		}
		arena_deinit(&arena);
	}
	printf("%-9s %7u %7u %6u %8.0f %8.0f %8.0f %8.0f %8.0f (%u paths)\n", name, node_count, edge_count, cut,
	       best[CUT] / edge_count * 1e9, best[SPLIT] / edge_count * 1e9, best[NUMBER] / edge_count * 1e9,
	       best[PLACE] / edge_count * 1e9, best[PREFER] / edge_count * 1e9, count);
}

/* ---- alpha ---- */

struct sizes {
	const char *name;
	uint32_t least, most; /* interesting paths */
	uint32_t functions;
	uint32_t tight;                /* alpha is 1 */
	uint32_t good[PPP_ORDERS + 1]; /* alpha below 1.5, for each order and for the best */
	uint32_t bits[5];              /* packing needs so many bits more than log2(paths), rounded up; no packing */
	double worst;
	double slowest_s; /* numbering of one function */
};

static struct sizes sizes[] = {
	{.name = "1-10", .least = 1, .most = 10},         {.name = "11-30", .least = 11, .most = 30},
	{.name = "31-100", .least = 31, .most = 100},     {.name = "101-300", .least = 101, .most = 300},
	{.name = "301-1000", .least = 301, .most = 1000}, {.name = "1001-", .least = 1001, .most = UINT32_MAX},
};

static void measure_function(struct sizes *s, const struct cfg *g, const struct path_numbering *n,
			     const uint64_t *numbers, uint32_t count, struct arena *arena)
{
	struct ppp_numbering p;
	struct ppp_table t;
	struct error *err;
	unsigned int extra = 0;
	double begin;

	for (unsigned int order = 0; order < PPP_ORDERS; order++) {
		check(ppp_number_in_orders(g, n, numbers, count, (enum ppp_order)order, (enum ppp_order)order, arena,
					   &p));
		s->good[order] += p.alpha < 1.5;
	}
	begin = now_s();
	check(ppp_number(g, n, numbers, count, arena, &p));
	begin = now_s() - begin;
	s->slowest_s = begin > s->slowest_s ? begin : s->slowest_s;
	s->good[PPP_ORDERS] += p.alpha < 1.5;
	s->tight += p.interval == count;
	s->functions++;
	if (p.alpha > s->worst)
		s->worst = p.alpha;
	err = ppp_pack(g, n, &p, numbers, count, TABLE_BITS, arena, &t);
	if (err) {
		error_destroy(err);
		s->bits[4]++;
		return;
	}
	while (UINT64_C(1) << (t.bits - extra) >= 2 * (uint64_t)count && t.bits > extra)
		extra++;
	s->bits[extra < 3 ? extra : 3]++;
}

static void measure_alpha(uint32_t functions)
{
	static uint64_t numbers[1 << 14];
	struct rng r = {SEED};

	for (uint32_t i = 0; i < functions; i++) {
		struct path_numbering n;
		struct arena arena;
		uint32_t count, cut;
		struct cfg g;

		arena_init(&arena);
		g = cfg_generate(&arena, &r, CFG_PROGRAM, CFG_NO_EXTRAS,
				 5 + (uint32_t)rng_below(&r, UINT64_C(8) << rng_below(&r, 9)));
		check(cfg_cut_cycles(&g));
		check(cfg_split(&g, PATH_COUNT_MAX, &cut));
		check(path_number(&g, &arena, &n));
		count = take_paths(&g, &n, &r, 1 + (uint32_t)rng_below(&r, UINT64_C(2) << rng_below(&r, 14)), numbers);
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
			if (count >= sizes[k].least && count <= sizes[k].most)
				measure_function(&sizes[k], &g, &n, numbers, count, &arena);
		arena_deinit(&arena);
	}
}

int main(int argc, char **argv)
{
	static const char *const orders[] = {"given", "revers", "wide",   "narrow", "many",
					     "few",   "each",   "fitwid", "fitmny", "best"};
	uint32_t edges = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
	uint32_t functions = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 2000;

	if (edges < 10) {
		fprintf(stderr, "usage: bench-paths-numbering [EDGES [FUNCTIONS]]\n");
		return 2;
	}
	printf("ns per edge nodes   edges  split   cycles    split   number    place   prefer\n");
	measure_time("program", CFG_PROGRAM, edges);
	measure_time("cyclic", CFG_CYCLIC, edges);
	measure_time("acyclic", CFG_DAG, edges);
	measure_alpha(functions);
	printf("\npaths  functions alpha=1  worst | %% of functions with alpha < 1.5, order");
	printf("%*s| %% with bits beyond log2: 0 1 2 more none | slowest ms\n", 24, "");
	printf("%39s", "");
	for (unsigned int i = 0; i <= PPP_ORDERS; i++)
		printf("%7s", orders[i]);
	printf("\n");
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		const struct sizes *s = &sizes[k];

		if (!s->functions)
			continue;
		printf("%-9s %6u %6.1f%% %7.2f       ", s->name, s->functions, 100.0 * s->tight / s->functions,
		       s->worst);
		for (unsigned int i = 0; i <= PPP_ORDERS; i++)
			printf("%6.1f%%", 100.0 * s->good[i] / s->functions);
		printf("  |");
		for (int i = 0; i < 5; i++)
			printf("%6.1f%%", 100.0 * s->bits[i] / s->functions);
		printf(" %8.1f\n", s->slowest_s * 1e3);
	}
	return 0;
}
