/*
 * test_ppp_random.c - preferential path profiling on random graphs and random choices of interesting paths.
 *
 * usage: test_ppp_random [COUNT [SEED]]
 *
 * Numbers differ and are as many as they have to be when all paths are interesting; the packed register, added up along every
 * path of the graph as placed, is found in the table for the interesting paths and for no other.
 */
#include <stdlib.h>

#include "cfgs.h"
#include "core/paths/placement.h"
#include "core/paths/ppp.h"
#include "core/paths/ppp_order.h"
#include "path_walk.h"
#include "seeds.h"

enum {
	MOST_PATHS = 4000,
};

struct probe {
	struct rng r;
	struct arena arena;
	struct cfg g;
	struct path_numbering n;
	uint64_t interesting[MOST_PATHS]; /* rising */
	uint32_t count;
};

static void choose(struct probe *p, uint64_t one_in)
{
	p->count = 0;
	for (uint64_t i = 0; i < p->n.path_count; i++)
		if (!rng_below(&p->r, one_in))
			p->interesting[p->count++] = i;
}

static int64_t sum_of(const struct probe *p, const struct ppp_numbering *numbering, uint64_t number)
{
	uint32_t edges[256];
	struct path path = {.edges = edges};
	int64_t sum;

	CHECK(p->g.node_count <= 256);
	path_regenerate(&p->g, &p->n, number, &path);
	sum = numbering->start_weights[path.start];
	for (uint32_t k = 0; k < path.edge_count; k++)
		sum += numbering->edge_weights[edges[k]];
	return sum + (path.end_edge == NO_EDGE ? 0 : numbering->edge_weights[path.end_edge]);
}

/* All sums differ, and the interval is from the smallest to the largest. */
static void check_numbering(const struct probe *p, const struct ppp_numbering *numbering)
{
	uint8_t *is_used = calloc(numbering->interval + 1, 1);
	bool is_lowest = false, is_highest = false;

	for (uint32_t i = 0; i < p->count; i++) {
		uint64_t index = (uint64_t)(sum_of(p, numbering, p->interesting[i]) - numbering->lowest);

		if (!CHECK(index < numbering->interval))
			break;
		CHECK(!is_used[index]);
		is_used[index] = 1;
		is_lowest |= !index;
		is_highest |= index == numbering->interval - 1;
	}
	CHECK(!p->count || (is_lowest && is_highest));
	CHECK(numbering->alpha == (p->count ? (double)numbering->interval / p->count : 0));
	CHECK(numbering->interval <= p->n.path_count);
	if (p->count == p->n.path_count || p->count == 1)
		CHECK(numbering->interval == p->count);
	free(is_used);
}

/*
 * What Theorem 1 is about, and can be about (see test_weights_that_look_ahead in test_ppp.c): with the nodes after it as they
 * are, no smaller weight on an edge keeps the intervals of each prefix apart (Lemma 5) and from 0 on, in the same order of
 * edges.
 *
 * By brute force over pairs of paths: one that takes the edge and one that leaves the same prefix by an earlier edge.
 */
static void check_weights_are_least(const struct probe *p, const struct ppp_numbering *numbering)
{
	static uint32_t links[200][256];
	static uint32_t lengths[200];
	static int64_t slack[4096]; /* of each edge: how much smaller its weight could be */

	if (p->count > 200 || p->g.edge_count > 4096 || p->g.node_count > 254)
		return;
	for (uint32_t e = 0; e < p->g.edge_count; e++)
		slack[e] = INT64_MAX;
	for (uint32_t i = 0; i < p->count; i++) {
		struct path path = {.edges = links[i]};
		int64_t sum;

		path_regenerate(&p->g, &p->n, p->interesting[i], &path);
		if (path.end_edge != NO_EDGE)
			links[i][path.edge_count++] = path.end_edge;
		lengths[i] = path.edge_count;
		sum = 0;
		for (uint32_t l = lengths[i]; l-- > 0;) {
			sum += numbering->edge_weights[links[i][l]];
			if (sum < slack[links[i][l]])
				slack[links[i][l]] = sum;
		}
		for (uint32_t k = 0; k < i; k++) {
			int64_t difference = 0;
			uint32_t same = 0;

			while (same < lengths[i] && same < lengths[k] && links[i][same] == links[k][same])
				same++;
			if (same == lengths[i] || same == lengths[k] ||
			    p->g.edges[links[i][same]].from != p->g.edges[links[k][same]].from)
				continue; /* from different starts */
			for (uint32_t l = same; l < lengths[i]; l++)
				difference += numbering->edge_weights[links[i][l]];
			for (uint32_t l = same; l < lengths[k]; l++)
				difference -= numbering->edge_weights[links[k][l]];
			if (difference - 1 < slack[links[i][same]])
				slack[links[i][same]] = difference - 1;
		}
	}
	for (uint32_t e = 0; e < p->g.edge_count; e++)
		CHECK(slack[e] == 0 || slack[e] == INT64_MAX);
}

struct lookup {
	const struct probe *p;
	const struct ppp_table *t;
	uint64_t number; /* of the path that ends next */
	uint32_t next;   /* in interesting */
};

static void check_packed(void *data, const struct path *path, uint64_t packed)
{
	struct lookup *l = data;
	unsigned int bits = l->t->bits;
	bool is_interesting = l->next < l->p->count && l->p->interesting[l->next] == l->number;
	bool is_found = l->t->checks[bits ? packed >> (64 - bits) : 0] == packed;

	(void)path;
	CHECK_U64(ppp_path_of(packed, bits), l->number);
	CHECK(packed != 0);
	CHECK(is_found == is_interesting);
	l->next += is_interesting;
	l->number++;
}

static void check_table(struct probe *p, const struct ppp_numbering *numbering)
{
	struct ppp_table t;
	struct lookup l = {p, &t, 0, 0};
	struct placement placement;
	uint64_t filled = 0;

	if (!CHECK_OK(ppp_pack(&p->g, &p->n, numbering, p->interesting, p->count, 32, &p->arena, &t)))
		return;
	CHECK(UINT64_C(1) << t.bits >= p->count);
	CHECK(!t.bits || UINT64_C(1) << t.bits < 2 * numbering->interval);
	for (uint64_t i = 0; i < UINT64_C(1) << t.bits; i++)
		filled += t.checks[i] != 0;
	CHECK_U64(filled, p->count);
	CHECK_OK(placement_make(&p->g, &p->n, t.start_values, t.edge_values, &p->arena, &placement));
	CHECK_TEXT(path_walk_all(&p->g, &p->n, &placement, check_packed, &l), "");
	CHECK_U64(l.number, p->n.path_count);
	CHECK_U64(l.next, p->count);
	if (t.bits) {
		struct ppp_table untouched = {.bits = 77};

		CHECK_ERROR(ppp_pack(&p->g, &p->n, numbering, p->interesting, p->count, t.bits - 1, &p->arena,
				     &untouched),
			    ERROR_OVERFLOW, "interesting paths need a table of more than");
		CHECK_U64(untouched.bits, 77);
	}
}

static void shuffle(struct probe *p, uint64_t *shuffled)
{
	memcpy(shuffled, p->interesting, p->count * sizeof(*shuffled));
	for (uint32_t i = p->count; i > 1; i--) {
		uint32_t k = (uint32_t)rng_below(&p->r, i);
		uint64_t swap = shuffled[k];

		shuffled[k] = shuffled[i - 1];
		shuffled[i - 1] = swap;
	}
}

static void check_choice(struct probe *p)
{
	static uint64_t shuffled[MOST_PATHS];
	struct ppp_numbering numbering, again;
	uint64_t least = UINT64_MAX;

	for (unsigned int order = 0; order < PPP_ORDERS; order++) {
		CHECK_OK(ppp_number_in_orders(&p->g, &p->n, p->interesting, p->count, (enum ppp_order)order,
					      (enum ppp_order)order, &p->arena, &numbering));
		check_numbering(p, &numbering);
		if (order == PPP_GIVEN)
			check_weights_are_least(p, &numbering);
		least = numbering.interval < least ? numbering.interval : least;
	}
	CHECK_OK(ppp_number(&p->g, &p->n, p->interesting, p->count, &p->arena, &numbering));
	check_numbering(p, &numbering);
	CHECK_U64(numbering.interval, least);
	check_table(p, &numbering);
	/* the order in which paths are given does not matter */
	shuffle(p, shuffled);
	CHECK_OK(ppp_number(&p->g, &p->n, shuffled, p->count, &p->arena, &again));
	CHECK(!memcmp(again.edge_weights, numbering.edge_weights, p->g.edge_count * sizeof(int64_t)));
}

static uint32_t probe(uint64_t seed)
{
	static struct probe p;
	uint32_t cut;

	p.r.state = seed;
	arena_init(&p.arena);
	p.g = cfg_generate_any(&p.arena, &p.r, CFG_FIXED | CFG_JUMPS, 40);
	CHECK_OK(cfg_split(&p.g, MOST_PATHS, &cut));
	if (CHECK_OK(path_number(&p.g, &p.arena, &p.n))) {
		choose(&p, 1);
		check_choice(&p);
		choose(&p, 1 + rng_below(&p.r, 4));
		check_choice(&p);
		choose(&p, 1 + rng_below(&p.r, p.n.path_count));
		check_choice(&p);
	}
	arena_deinit(&p.arena);
	return p.g.edge_count;
}

/* Wrong input, and too many paths for the bits that are left. */
static void test_refused(void)
{
	static const uint64_t twice[] = {3, 1, 3}, large[] = {1, 1024};
	struct ppp_numbering numbering = {.lowest = 77};
	static const uint64_t few[] = {0, 1, 2, 3, 4};
	struct ppp_table t;
	struct path_numbering n;
	struct arena arena;
	struct cfg g;

	arena_init(&arena);
	g = cfg_diamonds(&arena, 10, 2);
	CHECK_OK(path_number(&g, &arena, &n));
	CHECK_ERROR(ppp_number(&g, &n, twice, 3, &arena, &numbering), ERROR_ARGUMENT, "path 3 is given twice");
	CHECK_ERROR(ppp_number(&g, &n, large, 2, &arena, &numbering), ERROR_ARGUMENT, "1024");
	CHECK(numbering.lowest == 77);
	g = cfg_diamonds(&arena, PATH_COUNT_BITS, 2);
	CHECK_OK(path_number(&g, &arena, &n));
	CHECK_OK(ppp_number(&g, &n, few, 5, &arena, &numbering));
	CHECK_OK(ppp_pack(&g, &n, &numbering, few, 5, 16, &arena, &t));
	CHECK_U64(t.bits, 3);
	CHECK_ERROR(ppp_pack(&g, &n, &numbering, few, 5, 2, &arena, &t), ERROR_OVERFLOW, "more than 2^2 entries");
	/* sums that differ in bit 20 only: 43 bits are left, for 2^44 paths */
	CHECK_OK(ppp_number(&g, &n, few, 2, &arena, &numbering));
	for (uint32_t e = 0; e < g.edge_count; e++)
		numbering.edge_weights[e] <<= 20;
	numbering.interval = (UINT64_C(1) << 20) + 1;
	CHECK_ERROR(ppp_pack(&g, &n, &numbering, few, 2, 30, &arena, &t), ERROR_OVERFLOW,
		    "do not fit 43 bits beside a table of 2^21 entries");
	arena_deinit(&arena);
}

/* So many paths that filling holes is given up: what the other orders found stands. */
static void test_large(void)
{
	enum {
		COUNT = 10000
	};
	struct ppp_numbering fit, numbering;
	struct rng r = {COUNT};
	struct path_numbering n;
	struct ppp_table t;
	struct arena arena;
	uint64_t *numbers;
	struct cfg g;

	arena_init(&arena);
	g = cfg_diamonds(&arena, 30, 2);
	numbers = arena_calloc(&arena, COUNT, sizeof(*numbers));
	CHECK_OK(path_number(&g, &arena, &n));
	for (uint64_t i = 0; i < COUNT; i++)
		numbers[i] = n.path_count / COUNT * i + rng_below(&r, n.path_count / COUNT);
	CHECK_OK(ppp_number_in_orders(&g, &n, numbers, COUNT, PPP_FIT_WIDE, PPP_FIT_WIDE, &arena, &fit));
	CHECK_U64(fit.interval, 0);
	CHECK_OK(ppp_number(&g, &n, numbers, COUNT, &arena, &numbering));
	CHECK(numbering.interval >= COUNT && numbering.interval < n.path_count);
	/* its bits tell all sums apart, so they differ */
	CHECK_OK(ppp_pack(&g, &n, &numbering, numbers, COUNT, 30, &arena, &t));
	arena_deinit(&arena);
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 600, 20070117);

	test_refused();
	test_large();
	seeds_run(&seeds, probe);
	return check_status();
}
