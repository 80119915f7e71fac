/*
 * test_own_points.c - which coverage points need memory: known answers, and walks through random graphs.
 *
 * usage: test_own_points [COUNT [SEED]]
 *
 * A walk stops at each place between points. What was reached has to come back from the memory of the points that have it, and
 * from the points that can be the last ones there, as a search backwards through the graph finds them.
 */
#include "cfgs.h"
#include "core/activity/coverage_points.h"
#include "seeds.h"

enum {
	STEPS = 80,
	POINTS_MAX = 3, /* of a node */
};

static unsigned long long places, points_told, points_kept;

/* ---- known answers ---- */

/* points: the node of each; want: 'm' where it needs memory, '-' where not. */
static void check_kept(const char *text, const char *points, bool is_first, const char *want)
{
	struct arena arena;
	struct coverage_points o;
	uint32_t nodes[16], count = 0;
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, text);
	for (; points[count]; count++)
		nodes[count] = (uint32_t)(points[count] - '0');
	CHECK_OK(coverage_points_find(&g, nodes, count, is_first, &arena, &o));
	for (uint32_t i = 0; i < count; i++)
		if (!CHECK((o.places[i] != OWN_POINT_NONE) == (want[i] == 'm')))
			fprintf(stderr, "%s: point %u\n", text, i);
	arena_deinit(&arena);
}

static void test_shapes(void)
{
	/* one behind the other; a call that does not come back */
	check_kept("0-1", "0001", false, "----");
	check_kept("0-1 0-2", "001", false, "---");
	/* an if, and behind it; an if with both sides */
	check_kept("0-1 0-2 1-2", "01", false, "-m");
	check_kept("0-1 0-2 1-2", "012", false, "-m-");
	check_kept("0-1 0-2 1-3 2-3", "012", false, "-mm");
	/* a point behind says it; one that need not follow does not */
	check_kept("0-1 0-3 1-2 2-3", "12", false, "-m");
	check_kept("0-1 0-4 1-2 1-3 2-3 3-4", "12", false, "mm");
	/* loops: calls are reached in an earlier round, blocks in this one */
	check_kept("0-1 1-1 1-2", "011", false, "--m");
	check_kept("0-1 1-1 1-2", "012", true, "---");
	check_kept("0-1 1-2 2-1 2-3", "12", false, "-m");
	check_kept("0-1 1-2 1-3 2-1", "0123", true, "--m-");
	/* where no code can be put on an edge; a call that returns twice */
	check_kept("0-1 0=2", "0012", false, "-m--");
	check_kept("0-1 1*2", "00112", false, "mmmmm");
}

static void test_damage(void)
{
	static const uint32_t nodes[] = {0, 1, 2, 3};
	struct arena arena;
	struct coverage_points o;
	uint8_t kept[1] = {POINT_UNKNOWN}, used[4];
	const uint32_t at_3 = 3, behind_1[] = {1, 3};
	struct cfg g;

	arena_init(&arena);
	g = cfg_from_text(&arena, "0-1 0-4 1-2 1-3 2-3");
	CHECK_OK(coverage_points_find(&g, nodes, 4, false, &arena, &o));
	CHECK_U64(o.kept_count, 1);
	CHECK_OK(coverage_points_expand(&o, kept, &at_3, 1, false, used));
	CHECK(used[0] == POINT_UNKNOWN && used[1] == POINT_UNKNOWN && used[2] == POINT_UNKNOWN &&
	      used[3] == POINT_USED);
	kept[0] = POINT_UNUSED;
	CHECK_OK(coverage_points_expand(&o, kept, behind_1, 2, false, used));
	CHECK(used[0] == POINT_USED && used[1] == POINT_USED && used[2] == POINT_UNUSED && used[3] == POINT_UNKNOWN);
	CHECK_OK(coverage_points_expand(&o, kept, NULL, 0, false, used));
	CHECK(used[0] == POINT_UNKNOWN);
	CHECK_OK(coverage_points_expand(&o, kept, NULL, 0, true, used));
	CHECK(used[0] == POINT_UNUSED);
	arena_deinit(&arena);
}

/* ---- random graphs ---- */

struct walk {
	const struct cfg *g;
	struct coverage_points o;
	uint32_t *first; /* [node + 1]: its points */
	bool *reached;   /* [point] */
	bool *is_seen;   /* [node]: of the search */
	uint32_t *list;
	uint32_t *last;
	uint32_t last_count;
	uint8_t *kept, *used;
	bool may_be_none;
};

static void add_last(struct walk *w, uint32_t point)
{
	for (uint32_t i = 0; i < w->last_count; i++)
		if (w->last[i] == point)
			return;
	w->last[w->last_count++] = point;
}

/* What may be passed last in a node that `edge` leaves: where it leaves a fixed one, which of the calls it left is not seen. */
static bool look(struct walk *w, const struct cfg_edge *edge)
{
	const uint32_t first = w->first[edge->from], end = w->first[edge->from + 1];

	if (first == end)
		return false;
	for (uint32_t i = edge->is_fixed ? first : end - 1; i < end; i++)
		add_last(w, i);
	return true;
}

/* At a node with the first `passed` of its points behind. */
static void search_back(struct walk *w, uint32_t node, uint32_t passed)
{
	uint32_t count = 0;

	w->last_count = 0;
	w->may_be_none = false;
	if (passed) {
		add_last(w, w->first[node] + passed - 1);
		return;
	}
	for (uint32_t n = 0; n < w->g->node_count; n++)
		w->is_seen[n] = false;
	w->list[count++] = node;
	while (count) {
		uint32_t at = w->list[--count];

		w->may_be_none |= at == 0;
		for (uint32_t e = 0; e < w->g->edge_count; e++) {
			const struct cfg_edge *edge = &w->g->edges[e];

			if (edge->to != at || look(w, edge) || w->is_seen[edge->from])
				continue;
			w->is_seen[edge->from] = true;
			w->list[count++] = edge->from;
		}
	}
}

static void check_place(struct walk *w, uint32_t node, uint32_t passed)
{
	const struct coverage_points *o = &w->o;

	for (uint32_t i = 0; i < o->count; i++)
		if (o->places[i] != OWN_POINT_NONE)
			w->kept[o->places[i]] = w->reached[i] ? POINT_USED : POINT_UNUSED;
	places++;
	points_told += o->count - o->kept_count;
	points_kept += o->kept_count;
	search_back(w, node, passed);
	CHECK_OK(coverage_points_expand(o, w->kept, w->last, w->last_count, w->may_be_none, w->used));
	for (uint32_t i = 0; i < o->count; i++)
		CHECK_U64(w->used[i], w->reached[i] ? POINT_USED : POINT_UNUSED);
}

/* Behind a call that returns twice control may come back from anywhere. */
static uint32_t next_node(const struct cfg *g, struct rng *r, uint32_t node, const bool *was_in)
{
	const uint32_t first = g->first_edge[node], end = g->first_edge[node + 1];

	if (rng_below(r, 8) == 0)
		for (uint32_t e = 0; e < g->edge_count; e++)
			if (g->edges[e].cut == CFG_CUT_TWICE && was_in[g->edges[e].from])
				return g->edges[e].to;
	return first == end ? UINT32_MAX : g->edges[first + rng_below(r, end - first)].to;
}

static void walk(struct walk *w, struct arena *arena, struct rng *r, bool is_first)
{
	bool *was_in = arena_calloc(arena, w->g->node_count, sizeof *was_in);
	uint32_t node = 0;

	for (uint32_t step = 0; step < STEPS && node != UINT32_MAX && !check_failures; step++) {
		was_in[node] = true;
		for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++) {
			/* Blocks are reached with their first instruction: there is no place in them before it. */
			if (!is_first)
				check_place(w, node, i - w->first[node]);
			w->reached[i] = true;
		}
		check_place(w, node, w->first[node + 1] - w->first[node]);
		node = next_node(w->g, r, node, was_in);
	}
}

static uint32_t probe(uint64_t seed)
{
	struct rng r = {seed};
	struct arena arena;
	struct walk w = {0};
	enum cfg_shape shape = (enum cfg_shape)rng_below(&r, CFG_SHAPES);
	const bool is_first = rng_below(&r, 2);
	struct cfg g;
	uint32_t *nodes, count = 0;

	arena_init(&arena);
	g = cfg_generate(&arena, &r, shape, (unsigned int)rng_below(&r, 4), 1 + (uint32_t)rng_below(&r, 24));
	CHECK_OK(cfg_cut_cycles(&g));
	w.g = &g;
	nodes = arena_calloc(&arena, (size_t)POINTS_MAX * g.node_count, sizeof *nodes);
	w.first = arena_calloc(&arena, g.node_count + 1, sizeof *w.first);
	for (uint32_t n = 0; n < g.node_count; n++) {
		uint32_t here = is_first ? 1 : (uint32_t)rng_below(&r, POINTS_MAX + 1);

		for (; here; here--)
			nodes[count++] = n;
		w.first[n + 1] = count;
	}
	CHECK_OK(coverage_points_find(&g, nodes, count, is_first, &arena, &w.o));
	w.reached = arena_calloc(&arena, count + 1, sizeof *w.reached);
	w.is_seen = arena_calloc(&arena, g.node_count, sizeof *w.is_seen);
	w.list = arena_calloc(&arena, g.node_count, sizeof *w.list);
	w.last = arena_calloc(&arena, count + 1, sizeof *w.last);
	w.kept = arena_calloc(&arena, count + 1, 1);
	w.used = arena_calloc(&arena, count + 1, 1);
	walk(&w, &arena, &r, is_first);
	arena_deinit(&arena);
	return g.node_count;
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 20000, 1);

	test_shapes();
	test_damage();
	seeds_run(&seeds, probe);
	printf("%llu places, %llu points with memory, %llu told without\n", places, points_kept, points_told);
	CHECK(points_told > places);
	return check_status();
}
