/*
 * test_rounds.c - loops with a single way round: known answers, and walks through random graphs.
 *
 * usage: test_rounds [COUNT [SEED]]
 *
 * A walk runs what the placement says is run, and keeps the numbers of the paths that end, but not on ITERATION edges. At each
 * step all that was walked has to come back from these numbers and the register, but for how often rounds were repeated.
 */
#include "cfgs.h"
#include "core/paths/path_state.h"
#include "seeds.h"

/* ---- known answers ---- */

static void check_text(const char *text, const char *want)
{
	struct arena arena;
	struct cfg g, w;

	arena_init(&arena);
	g = cfg_from_text(&arena, text);
	w = cfg_from_text(&arena, want);
	CHECK_OK(cfg_cut_cycles(&g));
	CHECK_OK(cfg_cut_iterations(&g));
	CHECK_OK(cfg_check(&g));
	for (uint32_t e = 0; e < g.edge_count; e++)
		if (!CHECK_U64(g.edges[e].cut, w.edges[e].cut))
			fprintf(stderr, "%s: edge %u\n", text, e);
	arena_deinit(&arena);
}

static void test_shapes(void)
{
	check_text("0-1 1-1 1-2", "0/1 1@1 1-2");
	check_text("0-1 1-2 2-1 2-3", "0/1 1-2 2@1 2-3");
	/* exits anywhere, and two entries */
	check_text("0-1 0-2 1-2 2-3 2-5 3-4 3-5 4-2 4-5", "0-1 0/2 1/2 2-3 2-5 3-4 3-5 4@2 4-5");
	/* a branch in the loop; two back edges; an inner loop: only that has one way round */
	check_text("0-1 1-2 1-3 2-4 3-4 4-1", "0-1 1-2 1-3 2-4 3-4 4~1");
	check_text("0-1 1-1 1-2 2-1", "0-1 1~1 1-2 2~1");
	check_text("0-1 1-2 2-2 2-3 3-1 3-4", "0-1 1/2 2@2 2-3 3~1 3-4");
	/* a loop entered in the middle; no code can be put on an entry; a call that returns twice */
	check_text("0-1 0-2 1-2 2-1 2-3", "0-1 0-2 1-2 2~1 2-3");
	check_text("0=1 1-1 1-2", "0-1 1~1 1-2");
	check_text("0!1 1-1 1-2", "0!1 1~1 1-2");
	check_text("0-1 1-1 1-2 2*3", "0-1 1~1 1-2 2*3");
}

static void check_refused(const char *text, const char *want)
{
	struct arena arena;
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, text);
	CHECK_ERROR(cfg_check(&g), ERROR_FORMAT, want);
	arena_deinit(&arena);
}

/* What a file may say. */
static void test_check(void)
{
	check_refused("0-1 1@1 1-2", "edge 0 enters the loop of edge 1 uncut");
	check_refused("0/1 1-2 1-3 2-4 3-4 4@1", "edge 5 closes a loop of more ways than one");
	check_refused("0/1 1-2 1/2 2@1", "edge 3 closes a loop of more ways than one");
	check_refused("0/1 1@1 1-2 2@1", "enters the loop of edge");
	check_refused("0/1 1@1 1-2 2*3", "closes a loop of more ways than one");
	check_refused("0-1 0-2 1@2", "edge 2 closes a loop of more ways than one");
}

static void test_round_edges(void)
{
	uint32_t edges[4], count = 9;
	struct arena arena;
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, "0/1 1-2 1-3 2-4 2-3 4@1");
	CHECK_OK(cfg_round_edges(&g, 5, edges, &count));
	CHECK_U64(count, 2);
	CHECK_U64(edges[0], 1);
	CHECK_U64(edges[1], 3);
	g = cfg_from_text(&arena, "0/1 1@1");
	CHECK_OK(cfg_round_edges(&g, 1, edges, &count));
	CHECK_U64(count, 0);
	arena_deinit(&arena);
}

/* ---- walks ---- */

enum {
	STEPS = 150
};

struct walk {
	const struct cfg *g;
	const struct path_numbering *n;
	const struct placement *p;
	const struct path_state *states;
	uint32_t nodes[STEPS + 1]; /* all that were walked through */
	uint32_t count;
	uint64_t kept[STEPS];
	uint32_t kept_count;
	uint64_t reg;
	struct path path; /* scratch */
	uint32_t *round;  /* scratch */
	uint32_t matched; /* of nodes */
	uint32_t rounds;
};

static void run_op(struct walk *w, struct place_op op)
{
	if (op.kind == PLACE_SET)
		w->reg = op.value;
	if (op.kind == PLACE_ADD)
		w->reg += op.value;
}

static uint32_t start_at(const struct walk *w, uint32_t node, uint32_t round)
{
	uint32_t i = 0;

	while (w->n->starts[i] != node || w->n->start_iterations[i] != round)
		i++;
	return i;
}

static void take(struct walk *w, uint32_t e)
{
	const struct cfg_edge *edge = &w->g->edges[e];
	struct place_end end = cfg_edge_ends(edge) ? w->p->edge_ends[e] : w->p->node_ends[edge->from];

	w->nodes[w->count++] = edge->to;
	if (edge->cut == CFG_KEPT) {
		run_op(w, w->p->edges[e]);
		return;
	}
	if (edge->cut != CFG_CUT_ITERATION)
		w->kept[w->kept_count++] = end.value + (end.adds_register ? w->reg : 0);
	run_op(w, w->p->starts[start_at(w, edge->to, edge->cut == CFG_CUT_ITERATION ? e : NO_EDGE)]);
}

static bool is_walked(const struct walk *w, uint32_t at, uint32_t node)
{
	return at < w->count && w->nodes[at] == node;
}

/* A round stands there, and after it the loop's head. */
static bool has_round(const struct walk *w, uint32_t edge, uint32_t *ret_nodes)
{
	const struct cfg *g = w->g;
	uint32_t count = 0;
	bool is_there = is_walked(w, w->matched, g->edges[edge].to);

	CHECK_OK(cfg_round_edges(g, edge, w->round, &count));
	for (uint32_t i = 0; i < count; i++)
		is_there &= is_walked(w, w->matched + i + 1, g->edges[w->round[i]].to);
	*ret_nodes = count + 1;
	return is_there && is_walked(w, w->matched + count + 1, g->edges[edge].to);
}

/* w->path is what comes next in the walk, behind one round or more if it says so. */
static bool match(struct walk *w)
{
	uint32_t round = w->n->start_iterations[w->path.start], nodes;

	if (round != NO_EDGE) {
		if (!has_round(w, round, &nodes))
			return false;
		while (has_round(w, round, &nodes))
			w->matched += nodes;
		w->rounds++;
	}
	if (!is_walked(w, w->matched++, w->n->starts[w->path.start]))
		return false;
	for (uint32_t i = 0; i < w->path.edge_count; i++)
		if (!is_walked(w, w->matched++, w->g->edges[w->path.edges[i]].to))
			return false;
	return true;
}

static bool check_walk(struct walk *w)
{
	uint32_t node = w->nodes[w->count - 1];

	w->matched = 0;
	for (uint32_t i = 0; i < w->kept_count; i++) {
		path_regenerate(w->g, w->n, w->kept[i], &w->path);
		if (!CHECK(match(w)))
			return false;
	}
	if (!CHECK_OK(path_regenerate_partial(w->g, w->n, &w->states[node], node, w->reg, 64, &w->path)))
		return false;
	return CHECK(match(w)) && CHECK_U64(w->matched, w->count);
}

static uint64_t rounds_told;

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
	g = cfg_generate_any(&arena, &r, CFG_FIXED, 60);
	CHECK_OK(cfg_split(&g, rng_below(&r, 2) ? PATH_COUNT_MAX / 2 : (uint64_t)g.node_count * 2 + 400, &cut));
	CHECK_OK(cfg_cut_iterations(&g));
	CHECK_OK(cfg_check(&g));
	if (CHECK_OK(path_number(&g, &arena, &n)) &&
	    CHECK_OK(placement_make(&g, &n, n.start_values, n.edge_values, &arena, &p)) &&
	    CHECK_OK(path_states_make(&g, &n, &p, &arena, &states))) {
		struct walk w = {.g = &g, .n = &n, .p = &p, .states = states, .reg = rng_next(&r), .count = 1};

		w.path.edges = arena_calloc(&arena, g.node_count, sizeof(uint32_t));
		w.round = arena_calloc(&arena, g.node_count, sizeof(uint32_t));
		run_op(&w, p.starts[0]);
		while (check_walk(&w) && w.count <= STEPS) {
			uint32_t node = w.nodes[w.count - 1], first = g.first_edge[node];

			if (first == g.first_edge[node + 1])
				break;
			take(&w, first + (uint32_t)rng_below(&r, g.first_edge[node + 1] - first));
		}
		rounds_told += w.rounds;
	}
	arena_deinit(&arena);
	return g.edge_count;
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 1000, 20170401);

	test_shapes();
	test_check();
	test_round_edges();
	seeds_run(&seeds, probe);
	printf("%llu rounds told\n", (unsigned long long)rounds_told);
	CHECK(rounds_told > seeds.count);
	return check_status();
}
