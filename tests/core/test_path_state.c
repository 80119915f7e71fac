/*
 * test_path_state.c - unfinished paths from a node and its register: a known answer, and all those of random graphs.
 *
 * usage: test_path_state [COUNT [SEED]]
 *
 * A walk over all unfinished paths runs what the placement says is run, on a register of few bits, and each has to come
 * back from the node and the register alone. As many registers are accepted at each node as paths come to it: all others
 * are refused.
 */
#include "cfgs.h"
#include "core/paths/path_state.h"
#include "seeds.h"

/* ---- known answers ---- */

/* Ohmann and Liblit, figure 3: add_action. A to G are 0 to 6; the loop's header is B. */
static const char *const ADD_ACTION = "0-1 1-2 1-6 2-4 2-3 3-5 4-5 5-1";

static void check_partial(const struct cfg *g, const struct path_numbering *n, char node, uint64_t sum,
			  const char *want)
{
	uint32_t edges[7], nodes[8], count;
	struct path path = {.edges = edges, .end_node = 99};
	struct path_state state = {true, 0};
	char text[10] = "";
	struct error *err = path_regenerate_partial(g, n, &state, (uint32_t)(node - 'A'), sum, 8, &path);

	if (!want) {
		CHECK_ERROR(err, ERROR_FORMAT, "no path comes to node");
		CHECK_U64(path.end_node, 99);
		return;
	}
	if (!CHECK_OK(err))
		return;
	count = path_nodes(g, n, &path, nodes);
	for (uint32_t i = 0; i < count; i++)
		text[i] = (char)('A' + nodes[i]);
	CHECK_TEXT(text, want);
	CHECK_U64(path.end_node, (uint32_t)(node - 'A'));
	CHECK_U64(path.end_edge, NO_EDGE);
}

static void test_add_action(void)
{
	struct path_numbering n;
	struct arena arena;
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, ADD_ACTION);
	CHECK_OK(cfg_cut_cycles(&g));
	CHECK_OK(path_number(&g, &arena, &n));
	/* the paper's numbers: abcef abcdf abg bcef bcdf bg */
	CHECK_U64(n.path_count, 6);
	check_partial(&g, &n, 'A', 0, "A");
	check_partial(&g, &n, 'B', 0, "AB");
	check_partial(&g, &n, 'B', 3, "B");
	check_partial(&g, &n, 'C', 0, "ABC");
	check_partial(&g, &n, 'C', 3, "BC");
	check_partial(&g, &n, 'D', 1, "ABCD");
	check_partial(&g, &n, 'E', 3, "BCE");
	check_partial(&g, &n, 'F', 0, "ABCEF");
	check_partial(&g, &n, 'F', 4, "BCDF");
	check_partial(&g, &n, 'G', 2, "ABG");
	check_partial(&g, &n, 'G', 5, "BG");
	check_partial(&g, &n, 'A', 3, NULL);
	check_partial(&g, &n, 'B', 1, NULL); /* a path of that number comes through B, but with 0 there */
	check_partial(&g, &n, 'D', 0, NULL);
	check_partial(&g, &n, 'D', 3, NULL);
	check_partial(&g, &n, 'E', 1, NULL);
	check_partial(&g, &n, 'F', 5, NULL);
	check_partial(&g, &n, 'G', 6, NULL);
	check_partial(&g, &n, 'G', 255, NULL);
	arena_deinit(&arena);
}

/* The numbers of another graph's placement do not fit together. */
static void test_other_values(void)
{
	struct path_state *states = NULL;
	struct path_numbering n, packed;
	struct placement p;
	struct arena arena;
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, ADD_ACTION);
	CHECK_OK(cfg_cut_cycles(&g));
	CHECK_OK(path_number(&g, &arena, &n));
	CHECK_OK(path_number(&g, &arena, &packed));
	packed.edge_values[4] = 77;
	CHECK_OK(placement_make(&g, &n, packed.start_values, packed.edge_values, &arena, &p));
	CHECK_ERROR(path_states_make(&g, &n, &p, &arena, &states), ERROR_ARGUMENT, "two ways to node 5 differ");
	CHECK(!states);
	arena_deinit(&arena);
}

/* ---- all unfinished paths of a graph ---- */

struct walker {
	const struct cfg *g;
	const struct path_numbering *n;
	const struct placement *p;
	const struct path_state *states;
	unsigned bits;
	uint64_t noise; /* what registers hold that were not set */
	struct path path;
	struct path again;
	uint64_t *came; /* [node] paths that come to it */
};

static uint64_t narrow(const struct walker *w, uint64_t value)
{
	return w->bits < 64 ? value & ((UINT64_C(1) << w->bits) - 1) : value;
}

static uint64_t run_op(const struct walker *w, uint64_t reg, struct place_op op)
{
	return op.kind == PLACE_SET ? narrow(w, op.value) : op.kind == PLACE_ADD ? narrow(w, reg + op.value) : reg;
}

static void walk(struct walker *w, uint32_t node, uint64_t reg)
{
	const struct cfg *g = w->g;

	w->came[node]++;
	CHECK(w->states[node].has_register == w->p->has_register[node]);
	if (CHECK_OK(path_regenerate_partial(g, w->n, &w->states[node], node, reg, w->bits, &w->again)))
		CHECK(w->again.start == w->path.start && w->again.edge_count == w->path.edge_count &&
		      w->again.end_node == node && w->again.end_edge == NO_EDGE &&
		      !memcmp(w->again.edges, w->path.edges, w->path.edge_count * sizeof(uint32_t)));
	for (uint32_t e = g->first_edge[node]; e < g->first_edge[node + 1]; e++) {
		if (g->edges[e].cut != CFG_KEPT)
			continue;
		w->path.edges[w->path.edge_count++] = e;
		walk(w, g->edges[e].to, run_op(w, reg, w->p->edges[e]));
		w->path.edge_count--;
	}
}

/* How many registers are accepted at a node. Beyond the sums of paths a few are tried. */
static uint64_t count_accepted(struct walker *w, uint32_t node)
{
	uint64_t count = 0, sums = w->n->path_count;

	for (uint64_t i = 0; i < sums + 70; i++) {
		struct path_state state = w->states[node];
		uint64_t sum = i < sums ? i : i < sums + 6 ? i : narrow(w, ~UINT64_C(0) << (i - sums - 6));
		struct error *err;

		if (i >= sums && (sum < sums || sum != narrow(w, sum)))
			continue;
		if (!state.has_register)
			state.value = sum;
		err = path_regenerate_partial(w->g, w->n, &state, node, narrow(w, sum + state.value), w->bits,
					      &w->again);
		count += !err;
		CHECK(!err || sum >= sums || err->code == ERROR_FORMAT);
		CHECK(err || sum < sums);
		error_destroy(err);
	}
	return count;
}

static unsigned bits_for(struct rng *r, uint64_t path_count)
{
	unsigned least = 8;

	while (least < 64 && path_count - 1 >= UINT64_C(1) << least)
		least++;
	return rng_below(r, 2) ? least : least + (unsigned)rng_below(r, 65 - least);
}

static void check_all(struct walker *w)
{
	for (uint32_t i = 0; i < w->n->start_count; i++) {
		w->path.start = i;
		walk(w, w->n->starts[i], run_op(w, w->noise, w->p->starts[i]));
	}
	for (uint32_t node = 0; node < w->g->node_count; node++)
		CHECK_U64(count_accepted(w, node), w->came[node]);
}

static uint32_t probe(uint64_t seed)
{
	struct rng r = {seed};
	uint32_t cut;
	struct path_state *states;
	struct path_numbering n;
	struct placement p;
	struct arena arena;
	struct cfg g;

	arena_init(&arena);
	g = cfg_generate_any(&arena, &r, CFG_FIXED | CFG_JUMPS, 40);
	CHECK_OK(cfg_split(&g, (uint64_t)g.node_count * 2 + rng_below(&r, 400), &cut));
	if (rng_below(&r, 2))
		CHECK_OK(cfg_cut_iterations(&g));
	if (CHECK_OK(path_number(&g, &arena, &n)) &&
	    CHECK_OK(placement_make(&g, &n, n.start_values, n.edge_values, &arena, &p)) &&
	    CHECK_OK(path_states_make(&g, &n, &p, &arena, &states))) {
		struct walker w = {.g = &g, .n = &n, .p = &p, .states = states, .bits = bits_for(&r, n.path_count)};

		w.noise = narrow(&w, rng_next(&r));
		w.path.edges = arena_calloc(&arena, g.node_count, sizeof(uint32_t));
		w.again.edges = arena_calloc(&arena, g.node_count, sizeof(uint32_t));
		w.came = arena_calloc(&arena, g.node_count, sizeof(uint64_t));
		check_all(&w);
	}
	arena_deinit(&arena);
	return g.edge_count;
}

/* ---- large graphs ---- */

/* Up to 2^44 paths: walks, as code would run them, on registers of 44 to 64 bits. */
static void test_large(struct rng *r)
{
	struct path_state *states;
	struct path_numbering n;
	struct placement p;
	struct arena arena;
	uint32_t cut;
	struct cfg g;

	arena_init(&arena);
	g = cfg_generate(&arena, r, CFG_PROGRAM, CFG_FIXED, 3000);
	CHECK_OK(cfg_cut_cycles(&g));
	CHECK_OK(cfg_split(&g, PATH_COUNT_MAX, &cut));
	CHECK(cut > 0);
	if (CHECK_OK(path_number(&g, &arena, &n)) &&
	    CHECK_OK(placement_make(&g, &n, n.start_values, n.edge_values, &arena, &p)) &&
	    CHECK_OK(path_states_make(&g, &n, &p, &arena, &states))) {
		struct walker w = {.g = &g, .n = &n, .p = &p, .states = states};

		w.path.edges = arena_calloc(&arena, g.node_count, sizeof(uint32_t));
		w.again.edges = arena_calloc(&arena, g.node_count, sizeof(uint32_t));
		for (unsigned int i = 0; i < 1000 && !check_failures; i++) {
			uint32_t start = (uint32_t)rng_below(r, n.start_count), node = n.starts[start];
			uint64_t reg;

			w.bits = PATH_COUNT_BITS + (unsigned)rng_below(r, 65 - PATH_COUNT_BITS);
			reg = run_op(&w, narrow(&w, rng_next(r)), p.starts[start]);
			w.path.edge_count = 0;
			for (;;) {
				uint32_t first = g.first_edge[node], e;

				if (CHECK_OK(path_regenerate_partial(&g, &n, &states[node], node, reg, w.bits,
								     &w.again)))
					CHECK(w.again.start == start && w.again.edge_count == w.path.edge_count &&
					      !memcmp(w.again.edges, w.path.edges,
						      w.path.edge_count * sizeof(uint32_t)));
				if (cfg_node_ends(&g, node))
					break;
				e = first + (uint32_t)rng_below(r, g.first_edge[node + 1] - first);
				if (g.edges[e].cut != CFG_KEPT)
					break;
				w.path.edges[w.path.edge_count++] = e;
				reg = run_op(&w, reg, p.edges[e]);
				node = g.edges[e].to;
			}
		}
	}
	arena_deinit(&arena);
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 1000, 20170201);
	struct rng r = {seeds.first};

	test_add_action();
	test_other_values();
	test_large(&r);
	seeds_run(&seeds, probe);
	return check_status();
}
