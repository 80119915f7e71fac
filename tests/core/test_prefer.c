/*
 * test_prefer.c - known answers: the figures and the example of Vaswani, Nori and Chilimbi, "Preferential Path Profiling"
 * (POPL 2007), edges in the paper's order.
 *
 * Its nodes are letters in the text of a graph: s and t the first and the last.
 */
#include "check.h"

#include <stdlib.h>

#include "cfgs.h"
#include "core/placement.h"
#include "core/prefer.h"
#include "core/prefer_order.h"

enum {
	MOST_PATHS = 64,
};

struct figure {
	struct arena arena;
	const char *letters; /* of nodes */
	struct cfg g;
	struct path_numbering n;
	uint64_t interesting[MOST_PATHS];
	uint32_t count;
};

static uint32_t node_of(const struct figure *f, char letter)
{
	const char *at = strchr(f->letters, letter);

	CHECK(at && letter);
	return at ? (uint32_t)(at - f->letters) : 0;
}

static uint32_t edge_of(const struct figure *f, char from, char to)
{
	uint32_t node = node_of(f, from);

	for (uint32_t e = f->g.first_edge[node]; e < f->g.first_edge[node + 1]; e++)
		if (f->g.edges[e].to == node_of(f, to))
			return e;
	fprintf(stderr, "no edge %c%c\n", from, to);
	CHECK(false);
	return 0;
}

/* The Ball-Larus number of "sacdt". */
static uint64_t number_of(const struct figure *f, const char *text)
{
	uint32_t edges[MOST_PATHS];
	struct path path = {.edges = edges, .end_edge = NO_EDGE};
	uint64_t number = 0;

	for (; text[1]; text++)
		edges[path.edge_count++] = edge_of(f, text[0], text[1]);
	path.end_node = node_of(f, *text);
	CHECK_OK(path_number_of(&f->g, &f->n, &path, &number));
	return number;
}

/* graph: edges "sa sb ab", grouped; paths: "sacdt sact", or NULL for all. */
static void figure_build(struct figure *f, const char *letters, const char *graph, const char *paths)
{
	char text[1024] = "", one[16];

	arena_init(&f->arena);
	f->letters = letters;
	f->count = 0;
	for (; *graph; graph += strspn(graph, " ")) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u-%u ", node_of(f, graph[0]),
			 node_of(f, graph[1]));
		graph += 2;
	}
	f->g = cfg_from_text(&f->arena, text);
	CHECK_OK(cfg_check(&f->g));
	CHECK_OK(path_number(&f->g, &f->arena, &f->n));
	for (uint64_t i = 0; !paths && i < f->n.path_count; i++)
		f->interesting[f->count++] = i;
	while (paths && *paths) {
		size_t len = strcspn(paths, " ");

		snprintf(one, sizeof(one), "%.*s", (int)len, paths);
		f->interesting[f->count++] = number_of(f, one);
		paths += len + strspn(paths + len, " ");
	}
}

static void figure_number(struct figure *f, struct prefer_numbering *p)
{
	CHECK_OK(prefer_number_in_order(&f->g, &f->n, f->interesting, f->count, PREFER_GIVEN, &f->arena, p));
}

static int64_t weight_of(const struct figure *f, const struct prefer_numbering *p, const char *edge)
{
	return p->edge_weights[edge_of(f, edge[0], edge[1])];
}

static int64_t sum_of(const struct figure *f, const struct prefer_numbering *p, const char *path)
{
	int64_t sum = p->start_weights[0];

	for (; path[1]; path++)
		sum += weight_of(f, p, path);
	return sum;
}

/* Figures 3 and 13 have the same graph, but for the order of the edges out of a: text and tables tell. */
static const char letters_3[] = "sabcdt", graph_3[] = "sa sb ac ab bc cd ct dt", graph_13[] = "sa sb ab ac bc cd ct dt";

/* Section 2.3: "the Ball-Larus identifiers for the paths sacdt, sact, sbct are 0, 1 and 5"; figure 3(c): sbcdt has 4. */
static void test_ball_larus(void)
{
	static const char *const paths[] = {"sacdt", "sact", "sabcdt", "sabct", "sbcdt", "sbct"};
	struct figure f;

	figure_build(&f, letters_3, graph_3, NULL);
	CHECK_U64(f.n.path_count, 6);
	for (uint32_t i = 0; i < 6; i++)
		CHECK_U64(number_of(&f, paths[i]), i);
	arena_deinit(&f.arena);
}

/* Figure 3(c) and section 3.2, step by step. */
static void test_example(void)
{
	struct prefer_numbering p;
	struct figure f;

	figure_build(&f, letters_3, graph_3, "sacdt sact sbct");
	figure_number(&f, &p);
	CHECK(weight_of(&f, &p, "dt") == 0);  /* step 2 */
	CHECK(weight_of(&f, &p, "cd") == 0);  /* step 3 */
	CHECK(weight_of(&f, &p, "ct") == 1);  /* step 3 */
	CHECK(weight_of(&f, &p, "bc") == -1); /* step 4 */
	CHECK(weight_of(&f, &p, "ac") == 0);  /* step 5 */
	CHECK(weight_of(&f, &p, "sa") == 0);  /* step 6 */
	CHECK(weight_of(&f, &p, "sb") == 2);  /* step 6 */
	CHECK(sum_of(&f, &p, "sacdt") == 0);
	CHECK(sum_of(&f, &p, "sact") == 1);
	CHECK(sum_of(&f, &p, "sbct") == 2);
	CHECK_U64(p.interval, 3);
	CHECK(p.lowest == 0);
	CHECK(p.alpha == 1);
	/* "the uninteresting paths sabct and sbcdt alias with the interesting paths sacdt and sact" */
	CHECK(sum_of(&f, &p, "sabct") == sum_of(&f, &p, "sacdt"));
	CHECK(sum_of(&f, &p, "sbcdt") == sum_of(&f, &p, "sact"));
	arena_deinit(&f.arena);
}

int main(void)
{
	test_ball_larus();
	test_example();
	return check_status();
}
