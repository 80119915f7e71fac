/*
 * test_path_number.c - cuts, numbers and placement: known answers, and properties of random graphs.
 *
 * usage: test_path_number [COUNT [SEED]]
 *
 * The walk over all paths runs what the placement says is run (set, add, count) and has to arrive at the number of the path.
 */
#include "check.h"

#include <stdlib.h>

#include "cfgs.h"
#include "core/path_number.h"
#include "core/placement.h"

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

/* ---- all paths ---- */

struct walker {
	const struct cfg *g;
	const struct path_numbering *n;
	const struct placement *p;
	struct path path; /* where it is */
	struct path again;
	uint64_t next; /* number of the next path that ends: they come in order */
	unsigned int failures;
};

/* What the instrumented code does. */
struct machine {
	bool has_register;
	uint64_t r;
};

static void machine_op(struct machine *m, struct place_op op)
{
	if (op.kind == PLACE_SET)
		*m = (struct machine){true, op.value};
	if (op.kind == PLACE_ADD) {
		CHECK(m->has_register);
		CHECK(op.value != 0);
		m->r += op.value;
	}
}

static void end_path(struct walker *w, struct machine m, struct place_end end)
{
	uint64_t number = w->n->path_count, counted;

	CHECK(m.has_register || !end.adds_register);
	counted = end.value + (end.adds_register ? m.r : 0);
	if (!CHECK_U64(counted, w->next))
		return;
	CHECK_OK(path_number_of(w->g, w->n, &w->path, &number));
	CHECK_U64(number, counted);
	path_regenerate(w->g, w->n, counted, &w->again);
	CHECK(w->again.start == w->path.start && w->again.edge_count == w->path.edge_count &&
	      w->again.end_node == w->path.end_node && w->again.end_edge == w->path.end_edge &&
	      !memcmp(w->again.edges, w->path.edges, w->path.edge_count * sizeof(uint32_t)));
	w->next++;
}

/* Recursive: for small graphs. */
static void walk_from(struct walker *w, uint32_t node, struct machine m)
{
	const struct cfg *g = w->g;

	/* Not every register that holds a value is needed, but the one that is has one. */
	CHECK(m.has_register || !w->p->has_register[node]);
	if (!w->p->has_register[node])
		m.has_register = false;
	w->path.end_node = node;
	w->path.end_edge = NO_EDGE;
	if (cfg_node_ends(g, node)) {
		end_path(w, m, w->p->node_ends[node]);
		return;
	}
	for (uint32_t e = g->first_edge[node]; e < g->first_edge[node + 1] && check_failures < 20; e++) {
		struct machine next = m;

		if (cfg_edge_ends(&g->edges[e])) {
			w->path.end_node = node;
			w->path.end_edge = e;
			end_path(w, m, w->p->edge_ends[e]);
			continue;
		}
		machine_op(&next, w->p->edges[e]);
		w->path.edges[w->path.edge_count++] = e;
		walk_from(w, g->edges[e].to, next);
		w->path.edge_count--;
	}
}

static void check_all_paths(const struct cfg *g, const struct path_numbering *n, const struct placement *p)
{
	struct walker w = {.g = g, .n = n, .p = p};

	w.path.edges = malloc(g->node_count * sizeof(uint32_t));
	w.again.edges = malloc(g->node_count * sizeof(uint32_t));
	for (uint32_t i = 0; i < n->start_count && check_failures < 20; i++) {
		struct machine m = {0};

		w.path.start = i;
		machine_op(&m, p->starts[i]);
		walk_from(&w, n->starts[i], m);
	}
	/* each number once, from 0 on: unique and minimal */
	CHECK_U64(w.next, n->path_count);
	free(w.path.edges);
	free(w.again.edges);
}

static void probe(uint64_t seed)
{
	unsigned int failures = check_failures;
	struct rng r = {seed};
	enum cfg_shape shape = (enum cfg_shape)rng_below(&r, CFG_SHAPES);
	unsigned int extras = (unsigned int)rng_below(&r, 4);
	uint32_t node_count = 1 + (uint32_t)rng_below(&r, 40), cut;
	struct path_numbering n;
	struct placement p;
	struct arena arena;
	uint64_t limit;
	struct cfg g;

	arena_init(&arena);
	g = cfg_generate(&arena, &r, shape, extras, node_count);
	limit = (uint64_t)g.node_count * 2 + rng_below(&r, 3000);
	CHECK_OK(cfg_cut_cycles(&g));
	CHECK_OK(cfg_check(&g));
	CHECK_OK(cfg_split(&g, limit, &cut));
	CHECK_OK(cfg_check(&g));
	if (CHECK_OK(path_number(&g, &arena, &n)) &&
	    CHECK_OK(placement_make(&g, &n, n.start_values, n.edge_values, &arena, &p))) {
		CHECK(n.path_count <= limit);
		check_all_paths(&g, &n, &p);
	}
	if (check_failures != failures)
		fprintf(stderr, "seed %llu: shape %d, extras %u, %u nodes, %u edges, limit %llu\n",
			(unsigned long long)seed, (int)shape, extras, g.node_count, g.edge_count,
			(unsigned long long)limit);
	arena_deinit(&arena);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 19961202;

	printf("%llu graphs from seed %llu on\n", (unsigned long long)count, (unsigned long long)seed);
	test_ball_larus();
	test_loop();
	for (uint64_t i = 0; i < count && check_failures < 20; i++)
		probe(seed + i);
	return check_status();
}
