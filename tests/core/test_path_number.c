/*
 * test_path_number.c - cuts, numbers and placement: known answers, and properties of random graphs.
 *
 * usage: test_path_number [COUNT [SEED]]
 *
 * The walk over all paths runs what the placement says is run (set, add, count) and has to arrive at the number of the path.
 */
#include <stdlib.h>

#include "cfgs.h"
#include "core/paths/path_number.h"
#include "core/paths/placement.h"
#include "path_walk.h"
#include "seeds.h"

/* ---- known answers ---- */

/* Ball and Larus, figure 1 (the numbers: table of figure 1(b)): A B C D E F are 0 to 5. */
static void test_ball_larus(void)
{
	static const char *const paths[] = {"ACDF", "ACDEF", "ABCDF", "ABCDEF", "ABDF", "ABDEF"};
	struct path_numbering n;
	struct arena arena;
	uint32_t edges[6];
	struct path path = {.edges = edges};
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, "0-2 0-1 1-2 1-3 2-3 3-5 3-4 4-5");
	CHECK_OK(cfg_check(&g));
	CHECK_OK(path_number(&g, &arena, &n));
	CHECK_U64(n.path_count, 6);
	for (uint64_t i = 0; i < n.path_count; i++) {
		char text[8] = "A";

		path_regenerate(&g, &n, i, &path);
		for (uint32_t k = 0; k < path.edge_count; k++)
			text[k + 1] = (char)('A' + g.edges[path.edges[k]].to);
		CHECK_TEXT(text, paths[i]);
	}
	arena_deinit(&arena);
}

/* The loop of cfg.h's picture. */
static void test_loop(void)
{
	struct path_numbering n;
	struct arena arena;
	uint32_t edges[4];
	struct path path = {.edges = edges};
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, "0-1 1-2 1-3 2-1");
	CHECK_ERROR(cfg_check(&g), ERROR_FORMAT, "3 of 4 nodes lie on or after a cycle");
	CHECK_OK(cfg_cut_cycles(&g));
	CHECK_OK(cfg_check(&g));
	CHECK(g.edges[3].cut == CFG_CUT_BACK);
	CHECK_OK(path_number(&g, &arena, &n));
	CHECK_U64(n.path_count, 4);
	CHECK_U64(n.start_count, 2);
	CHECK_U64(n.starts[1], 1);
	CHECK_U64(n.start_values[1], 2);
	path_regenerate(&g, &n, 2, &path);
	CHECK_U64(path.start, 1);
	CHECK_U64(path.edge_count, 1);
	CHECK_U64(path.end_node, 2);
	CHECK_U64(path.end_edge, 3);
	path_regenerate(&g, &n, 1, &path);
	CHECK_U64(path.start, 0);
	CHECK_U64(path.end_node, 3);
	CHECK_U64(path.end_edge, NO_EDGE);
	arena_deinit(&arena);
}

/* A cycle through an edge that can have no code: its node becomes a jump, and what it jumped to a start. */
static void test_fixed_back_edge(void)
{
	struct path_numbering n;
	struct arena arena;
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, "0-1 1-2 2-1 2=1 2-3");
	CHECK_OK(cfg_cut_cycles(&g));
	CHECK_OK(cfg_check(&g));
	for (uint32_t e = 2; e < 5; e++)
		CHECK(g.edges[e].cut == CFG_CUT_JUMP);
	CHECK(cfg_node_ends(&g, 2));
	CHECK_OK(path_number(&g, &arena, &n));
	CHECK_U64(n.start_count, 3);
	CHECK_U64(n.path_count, 3);
	arena_deinit(&arena);
}

/* The search does not follow cuts: a loop round a computed goto (1) or a setjmp (5) is cut there already. */
static void test_cuts_are_left(void)
{
	struct arena arena;
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, "0-1 1!2 1!3 2-1 3-1 1!4 4-5 5*6 6-4");
	CHECK_OK(cfg_check(&g));
	CHECK_OK(cfg_cut_cycles(&g));
	CHECK_U64(cfg_count_cuts(&g, CFG_CUT_BACK), 0);
	CHECK_U64(cfg_count_cuts(&g, CFG_CUT_JUMP), 3);
	CHECK_U64(cfg_count_cuts(&g, CFG_CUT_TWICE), 1);
	CHECK_U64(cfg_cuts_to(&g, 1), 0);
	CHECK_U64(cfg_cuts_to(&g, 4), 1 << CFG_CUT_JUMP);
	CHECK_U64(cfg_cuts_to(&g, 6), 1 << CFG_CUT_TWICE);
	arena_deinit(&arena);
}

static void check_refused(const char *text, const char *message)
{
	struct arena arena;
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, text);
	CHECK_ERROR(cfg_check(&g), ERROR_FORMAT, message);
	arena_deinit(&arena);
}

static void test_bad_graphs(void)
{
	struct arena arena;
	struct cfg g;

	check_refused("0-1 1-0", "leads from 1 to 0");
	check_refused("0-1 0!2", "1 of the 2 edges of node 0 are jumps");
	check_refused("0-1 0*2", "one of 2");
	check_refused("0-1 2-1", "only 2 of 3 nodes");
	check_refused("0-1 1-2 2-1", "2 of 3 nodes lie on or after a cycle");
	arena_init(&arena);
	g = cfg_from_text(&arena, "0-1 0~2 1-2");
	CHECK_OK(cfg_check(&g));
	g.edges[1].is_fixed = true;
	CHECK_ERROR(cfg_check(&g), ERROR_FORMAT, "edge 1, which can have no code");
	g.edges[1].cut = CFG_CUTS;
	CHECK_ERROR(cfg_check(&g), ERROR_FORMAT, "unknown cut");
	g.edges[1].cut = CFG_KEPT;
	g.edges[1].to = 3;
	CHECK_ERROR(cfg_check(&g), ERROR_FORMAT, "edge 1 of node 0 leads from 0 to 3 of 3");
	g.edges[1].to = 2;
	g.first_edge[1] = 4;
	CHECK_ERROR(cfg_check(&g), ERROR_FORMAT, "node 0 has edges 0 to 4 of 3");
	g.first_edge[1] = 1;
	CHECK_ERROR(cfg_check(&g), ERROR_FORMAT, "edge 1 of node 1");
	g.first_edge[3] = 2;
	CHECK_ERROR(cfg_check(&g), ERROR_FORMAT, "edges 0 to 2 of 3");
	g.node_count = 0;
	CHECK_ERROR(cfg_check(&g), ERROR_FORMAT, "0 nodes");
	arena_deinit(&arena);
}

static void test_bad_paths(void)
{
	struct path_numbering n;
	struct arena arena;
	uint32_t edges[4] = {0, 1};
	struct path path = {.edges = edges, .edge_count = 2, .end_node = 2, .end_edge = 3};
	uint64_t number = 77;
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, "0-1 1-2 1-3 2~1");
	CHECK_OK(path_number(&g, &arena, &n));
	CHECK_OK(path_number_of(&g, &n, &path, &number));
	CHECK_U64(number, 0);
	number = 77;
	path.end_edge = NO_EDGE;
	CHECK_ERROR(path_number_of(&g, &n, &path, &number), ERROR_ARGUMENT, "does not end in node 2");
	path.end_edge = 1;
	CHECK_ERROR(path_number_of(&g, &n, &path, &number), ERROR_ARGUMENT, "does not end in node 2");
	path.end_edge = 4;
	CHECK_ERROR(path_number_of(&g, &n, &path, &number), ERROR_ARGUMENT, "does not end in node 2");
	path.end_node = 3;
	CHECK_ERROR(path_number_of(&g, &n, &path, &number), ERROR_ARGUMENT, "ends in node 2, not 3");
	edges[1] = 3;
	CHECK_ERROR(path_number_of(&g, &n, &path, &number), ERROR_ARGUMENT, "edge 3 does not go on from node 1");
	edges[1] = 9;
	CHECK_ERROR(path_number_of(&g, &n, &path, &number), ERROR_ARGUMENT, "edge 9 does not");
	path.start = 2;
	CHECK_ERROR(path_number_of(&g, &n, &path, &number), ERROR_ARGUMENT, "start 2 of 2");
	CHECK_U64(number, 77);
	arena_deinit(&arena);
}

/* ---- placement ---- */

/* A cold side: the hot one has no code at all, and what is counted is a constant or in the register. */
static void test_hot_edges_are_free(void)
{
	struct path_numbering n;
	struct placement p;
	struct arena arena;
	struct cfg g;

	arena_init(&arena);
	/* two ifs in a row, without else */
	g = cfg_from_text(&arena, "0-1 0-2 1-2 2-3 2-4 3-4");
	for (uint32_t e = 0; e < g.edge_count; e++)
		g.edges[e].frequency = e == 1 || e == 4 ? 99 : 1;
	CHECK_OK(path_number(&g, &arena, &n));
	CHECK_OK(placement_make(&g, &n, n.start_values, n.edge_values, &arena, &p));
	CHECK(p.starts[0].kind == PLACE_NOTHING);
	CHECK(p.edges[0].kind == PLACE_NOTHING);
	CHECK(p.edges[1].kind == PLACE_SET);
	CHECK(p.edges[2].kind == PLACE_SET);
	CHECK(p.edges[4].kind == PLACE_NOTHING);
	CHECK((p.edges[3].kind == PLACE_ADD) + (p.edges[5].kind == PLACE_ADD) == 1);
	CHECK(p.node_ends[4].adds_register);
	CHECK(!p.has_register[0] && !p.has_register[1] && p.has_register[2] && p.has_register[4]);
	arena_deinit(&arena);
}

/* An edge that can have no code has none, however cold it is. */
static void test_fixed_edge_is_free(void)
{
	struct path_numbering n;
	struct placement p;
	struct arena arena;
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, "0-1 0-2 1-2 2-3 2=4 3-4");
	for (uint32_t e = 0; e < g.edge_count; e++)
		g.edges[e].frequency = g.edges[e].is_fixed ? 0.01 : 99;
	CHECK_OK(path_number(&g, &arena, &n));
	CHECK_OK(placement_make(&g, &n, n.start_values, n.edge_values, &arena, &p));
	CHECK(p.edges[4].kind == PLACE_NOTHING);
	CHECK((p.edges[3].kind == PLACE_ADD) + (p.edges[5].kind == PLACE_ADD) == 1);
	arena_deinit(&arena);
}

/* Branches that do not join: constants only. */
static void test_tree_has_no_register(void)
{
	struct path_numbering n;
	struct placement p;
	struct arena arena;
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, "0-1 0-2 1-3 1-4 2-5 2-6");
	CHECK_OK(path_number(&g, &arena, &n));
	CHECK_OK(placement_make(&g, &n, n.start_values, n.edge_values, &arena, &p));
	CHECK(p.starts[0].kind == PLACE_NOTHING);
	for (uint32_t e = 0; e < g.edge_count; e++)
		CHECK(p.edges[e].kind == PLACE_NOTHING);
	for (uint32_t i = 3; i < 7; i++) {
		CHECK(!p.node_ends[i].adds_register);
		CHECK_U64(p.node_ends[i].value, i - 3);
	}
	arena_deinit(&arena);
}

/* A call returns again while a path is under way: each way to each node is a path too, the last of those from there. */
static void test_left(void)
{
	struct path_numbering n;
	struct placement p;
	struct arena arena;
	struct cfg g;
	uint32_t edges[4];
	struct path path = {.edges = edges};
	uint64_t number;

	arena_init(&arena);
	g = cfg_from_text(&arena, "0-1 1-2 1-3 2-3");
	g.edges[0].cut = CFG_CUT_TWICE;
	g.may_be_left = true;
	CHECK_OK(cfg_check(&g));
	CHECK_OK(path_number(&g, &arena, &n));
	/* 0, 0 left | 1 2 3, 1 2 3 left, 1 2 left, 1 3, 1 3 left, 1 left */
	CHECK_U64(n.path_count, 8);
	path_regenerate(&g, &n, 4, &path);
	CHECK(path.is_left && path.end_node == 2 && path.edge_count == 1 && path.start == 1);
	CHECK_OK(path_number_of(&g, &n, &path, &number));
	CHECK_U64(number, 4);
	path_regenerate(&g, &n, 5, &path);
	CHECK(!path.is_left && path.end_node == 3 && path.edge_count == 1);
	path_regenerate(&g, &n, 1, &path);
	CHECK(path.is_left && path.end_node == 0 && path.start == 0);
	path_regenerate(&g, &n, 7, &path);
	CHECK(path.is_left && path.end_node == 1 && !path.edge_count);
	CHECK_OK(placement_make(&g, &n, n.start_values, n.edge_values, &arena, &p));
	CHECK(!p.lefts[0].adds_register && p.lefts[0].value == 1);
	CHECK(!p.lefts[2].adds_register && p.lefts[2].value == 4);
	g.may_be_left = false;
	CHECK_ERROR(path_number_of(&g, &n, &path, &number), ERROR_ARGUMENT, "cannot be left in node 1");
	arena_deinit(&arena);
}

/* ---- large graphs ---- */

/* Random walks from the starts: each has a number, below path_count, that regenerates it. */
static void check_walks(const struct cfg *g, const struct path_numbering *n, struct rng *r, unsigned int count)
{
	struct path path = {.edges = malloc(g->node_count * sizeof(uint32_t))};
	struct path again = {.edges = malloc(g->node_count * sizeof(uint32_t))};

	for (unsigned int i = 0; i < count; i++) {
		uint64_t number = n->path_count;
		uint32_t node;

		path.start = (uint32_t)rng_below(r, n->start_count);
		path.edge_count = 0;
		path.end_edge = NO_EDGE;
		node = n->starts[path.start];
		while (!cfg_node_ends(g, node) && path.end_edge == NO_EDGE) {
			uint32_t first = g->first_edge[node];
			uint32_t e = first + (uint32_t)rng_below(r, g->first_edge[node + 1] - first);

			if (cfg_edge_ends(&g->edges[e])) {
				path.end_edge = e;
			} else {
				path.edges[path.edge_count++] = e;
				node = g->edges[e].to;
			}
		}
		path.end_node = node;
		if (!CHECK_OK(path_number_of(g, n, &path, &number)) || !CHECK(number < n->path_count))
			break;
		path_regenerate(g, n, number, &again);
		CHECK(again.start == path.start && again.end_edge == path.end_edge && again.end_node == node &&
		      again.edge_count == path.edge_count &&
		      !memcmp(again.edges, path.edges, path.edge_count * sizeof(uint32_t)));
	}
	free(path.edges);
	free(again.edges);
}

static void check_split(struct cfg *g, uint64_t limit, struct rng *r, uint32_t *cut)
{
	struct path_numbering n;
	struct placement p;
	struct arena arena;

	arena_init(&arena);
	CHECK_OK(cfg_split(g, limit, cut));
	CHECK_OK(cfg_check(g));
	if (CHECK_OK(path_number(g, &arena, &n)) &&
	    CHECK_OK(placement_make(g, &n, n.start_values, n.edge_values, &arena, &p))) {
		CHECK(n.path_count <= limit);
		check_walks(g, &n, r, 50);
	}
	arena_deinit(&arena);
}

/* Chains of branches with 2^70, 2^1000, 3^5000 paths; sides as hot as each other, or all but one cold. */
static void test_split(struct rng *r)
{
	static const uint32_t lengths[] = {70, 1000, 5000};
	struct path_numbering n;
	struct arena arena;
	uint32_t cut;
	struct cfg g;

	arena_init(&arena);
	g = cfg_diamonds(&arena, PATH_COUNT_BITS, 2);
	CHECK_OK(path_number(&g, &arena, &n));
	CHECK_U64(n.path_count, PATH_COUNT_MAX);
	check_split(&g, PATH_COUNT_MAX, r, &cut);
	CHECK_U64(cut, 0);
	g = cfg_diamonds(&arena, PATH_COUNT_BITS + 1, 2);
	CHECK_ERROR(path_number(&g, &arena, &n), ERROR_OVERFLOW, "more than 2^44 paths");
	for (unsigned int i = 0; i < 3; i++) {
		for (unsigned int is_cold = 0; is_cold < 2; is_cold++) {
			g = cfg_diamonds(&arena, lengths[i], i == 2 ? 3 : 2);
			for (uint32_t e = 0; is_cold && e < g.edge_count; e++)
				g.edges[e].frequency = e + 1 < g.first_edge[g.edges[e].from + 1] ? 0.001 : 1;
			check_split(&g, PATH_COUNT_MAX, r, &cut);
			CHECK(cut > 0 && cut < (is_cold ? 2 * lengths[i] : lengths[i] / 5 + 5));
			for (uint32_t e = 0; is_cold && e < g.edge_count; e++)
				CHECK(g.edges[e].cut == CFG_KEPT || g.edges[e].frequency < 1);
		}
	}
	/* where no edge can have code, nodes become jumps */
	g = cfg_diamonds(&arena, 70, 2);
	for (uint32_t e = 0; e < g.edge_count; e++)
		g.edges[e].is_fixed = true;
	check_split(&g, PATH_COUNT_MAX, r, &cut);
	CHECK(cut > 0);
	arena_deinit(&arena);
}

/* Only edges into heads of loops are cut, and all of them; below the limit none. */
static void test_split_loops(struct rng *r)
{
	for (unsigned int i = 0; i < 30; i++) {
		struct path_numbering n;
		struct arena arena;
		uint32_t cut, want = 0;
		struct cfg g;
		bool *is_head;

		arena_init(&arena);
		g = cfg_generate(&arena, r, CFG_PROGRAM, CFG_FIXED, 50 + i);
		is_head = arena_calloc(&arena, g.node_count, sizeof(*is_head));
		CHECK_OK(cfg_cut_cycles(&g));
		CHECK_OK(path_number(&g, &arena, &n));
		for (uint32_t e = 0; e < g.edge_count; e++)
			if (g.edges[e].cut == CFG_CUT_BACK)
				is_head[g.edges[e].to] = true;
		for (uint32_t e = 0; e < g.edge_count; e++)
			want += g.edges[e].cut == CFG_KEPT && is_head[g.edges[e].to] && !g.edges[e].is_fixed;
		CHECK_OK(cfg_split_loops(&g, n.path_count, &cut));
		CHECK_U64(cut, 0);
		CHECK_OK(cfg_split_loops(&g, n.path_count - 1, &cut));
		CHECK_U64(cut, want);
		for (uint32_t e = 0; e < g.edge_count; e++)
			CHECK(g.edges[e].cut != CFG_CUT_SPLIT || (is_head[g.edges[e].to] && !g.edges[e].is_fixed));
		for (uint32_t e = 0; e < g.edge_count; e++)
			CHECK(g.edges[e].cut != CFG_KEPT || !is_head[g.edges[e].to] || g.edges[e].is_fixed);
		CHECK_OK(cfg_check(&g));
		if (CHECK_OK(path_number(&g, &arena, &n)))
			check_walks(&g, &n, r, 50);
		arena_deinit(&arena);
	}
}

static void test_many_cases(struct rng *r)
{
	char text[40 * 6] = "";
	struct arena arena;
	uint32_t cut;
	struct cfg g;

	arena_init(&arena);
	for (unsigned int i = 0; i < 40; i++)
		strcat(text, "0-1 ");
	g = cfg_from_text(&arena, text);
	check_split(&g, 4, r, &cut);
	CHECK_U64(cut, 40);
	CHECK(g.edges[0].cut == CFG_CUT_JUMP);
	arena_deinit(&arena);
}

/* As deep as it is long: nothing may recurse. */
static void test_deep(struct rng *r)
{
	struct arena arena;
	uint32_t cut;
	struct cfg g;

	arena_init(&arena);
	g = cfg_diamonds(&arena, 100000, 1);
	CHECK_OK(cfg_cut_cycles(&g));
	check_split(&g, PATH_COUNT_MAX, r, &cut);
	CHECK_U64(cut, 0);
	g = cfg_generate(&arena, r, CFG_PROGRAM, CFG_NO_EXTRAS, 100000);
	CHECK_OK(cfg_cut_cycles(&g));
	check_split(&g, PATH_COUNT_MAX, r, &cut);
	CHECK(cut > 0);
	arena_deinit(&arena);
}

/* ---- all paths ---- */

struct numbers {
	const struct cfg *g;
	const struct path_numbering *n;
	struct path again;
	uint64_t next; /* number of the next path that ends: they come in order */
};

static void check_number(void *data, const struct path *path, uint64_t counted)
{
	struct numbers *w = data;
	uint64_t number = w->n->path_count;

	if (!CHECK_U64(counted, w->next))
		return;
	CHECK_OK(path_number_of(w->g, w->n, path, &number));
	CHECK_U64(number, counted);
	path_regenerate(w->g, w->n, counted, &w->again);
	CHECK(w->again.start == path->start && w->again.edge_count == path->edge_count &&
	      w->again.end_node == path->end_node && w->again.end_edge == path->end_edge &&
	      w->again.is_left == path->is_left &&
	      !memcmp(w->again.edges, path->edges, path->edge_count * sizeof(uint32_t)));
	w->next++;
}

static void check_all_paths(const struct cfg *g, const struct path_numbering *n, const struct placement *p)
{
	struct numbers w = {.g = g, .n = n};

	w.again.edges = malloc(g->node_count * sizeof(uint32_t));
	CHECK_TEXT(path_walk_all(g, n, p, check_number, &w), "");
	/* each number once, from 0 on: unique and minimal */
	CHECK_U64(w.next, n->path_count);
	free(w.again.edges);
}

static uint32_t probe(uint64_t seed)
{
	struct rng r = {seed};
	uint32_t cut;
	struct path_numbering n;
	struct placement p;
	struct arena arena;
	uint64_t limit;
	struct cfg g;

	arena_init(&arena);
	g = cfg_generate_any(&arena, &r, CFG_FIXED | CFG_JUMPS, 40);
	g.may_be_left = rng_below(&r, 4) == 0;
	limit = (uint64_t)g.node_count * (2 + g.may_be_left) + rng_below(&r, 3000);
	CHECK_OK(cfg_check(&g));
	CHECK_OK(cfg_split(&g, limit, &cut));
	CHECK_OK(cfg_check(&g));
	if (CHECK_OK(path_number(&g, &arena, &n)) &&
	    CHECK_OK(placement_make(&g, &n, n.start_values, n.edge_values, &arena, &p))) {
		CHECK(n.path_count <= limit);
		check_all_paths(&g, &n, &p);
	}
	arena_deinit(&arena);
	return g.edge_count;
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 3000, 19961202);
	struct rng r = {seeds.first};

	test_ball_larus();
	test_loop();
	test_fixed_back_edge();
	test_cuts_are_left();
	test_left();
	test_bad_graphs();
	test_bad_paths();
	test_hot_edges_are_free();
	test_fixed_edge_is_free();
	test_tree_has_no_register();
	test_split(&r);
	test_split_loops(&r);
	test_many_cases(&r);
	test_deep(&r);
	seeds_run(&seeds, probe);
	return check_status();
}
