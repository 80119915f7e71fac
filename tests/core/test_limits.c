/*
 * test_limits.c - depth, size and range: chains and rings of a million calls, hubs, overflow; stored encodings that are refused.
 */
#include "check.h"

#include <stdlib.h>

#include "callcontext.h"

enum {
	MILLION = 1000000,
};

static void add_nodes(struct callgraph *g, uint32_t count)
{
	uint32_t ignored;

	callgraph_init(g, NULL);
	for (uint32_t n = 0; n < count; n++)
		if (!CHECK_OK(callgraph_add_node(g, n == 0, &ignored)))
			break;
}

static void call(struct callgraph *g, uint32_t caller, uint32_t callee, uint64_t weight)
{
	uint32_t ignored;

	CHECK_OK(callgraph_add_edge(g, caller, callee, 0, weight, &ignored));
}

/* A context that is one piece of a million calls. */
static void test_chain(void)
{
	struct callgraph_stats stats;
	struct callgraph g;
	uint32_t *edges = malloc(MILLION * sizeof(*edges));
	uint32_t count = 0, start = 1;

	add_nodes(&g, MILLION);
	for (uint32_t n = MILLION - 1; n > 0; n--)
		call(&g, n - 1, n, n);
	CHECK_OK(callgraph_encode(&g, NULL, &stats));
	CHECK_U64(stats.max_id, 0);
	CHECK_U64(stats.zero_edges, MILLION - 1);
	CHECK_U64(stats.ball_larus_max_id, 0);
	CHECK_OK(callgraph_decode(&g, MILLION - 1, 0, edges, &count, &start));
	CHECK_U64(count, MILLION - 1);
	CHECK_U64(start, 0);
	for (uint32_t i = 0; i < count; i++)
		if (!CHECK_U64(edges[i], MILLION - 2 - i))
			break;
	CHECK_OK(callgraph_adopt(&g));
	callgraph_deinit(&g);
	free(edges);
}

/* A cycle of a million calls is opened at its coldest one; a million times round it is one entry. */
static void test_ring(void)
{
	struct callgraph_stats stats;
	struct callgraph g;
	struct callcontext c;

	add_nodes(&g, MILLION);
	for (uint32_t n = 0; n < MILLION; n++)
		call(&g, n, n + 1 < MILLION ? n + 1 : 0, n == 700000 ? 1 : 2);
	CHECK_OK(callgraph_encode(&g, NULL, &stats));
	CHECK_U64(stats.back_edges, 1);
	CHECK(g.edges[700000].kind == EDGE_BACK);
	CHECK_OK(callcontext_init(&c, &g, 0));
	for (uint32_t i = 0; i < 3 * MILLION; i++)
		if (!CHECK_OK(callcontext_call(&c, i % MILLION)))
			break;
	CHECK_U64(c.stack.count, 2); /* the first has the id of a context from the root, the next two are equal */
	CHECK_U64(c.stack.items[1].run, 2);
	for (uint32_t i = 3 * MILLION; i-- > 0;)
		if (!CHECK_OK(callcontext_return(&c, i % MILLION)))
			break;
	CHECK_U64(c.stack.count, 0);
	callcontext_deinit(&c);
	callgraph_deinit(&g);
}

/* Two calls from each function to the next: numbers run out every 62 functions. */
static void test_diamonds(void)
{
	static const uint64_t max_ids[] = {0, UINT64_MAX, INT64_MAX, UINT32_MAX, 2, 1};
	struct callgraph g;

	add_nodes(&g, MILLION / 2);
	for (uint32_t n = 0; n + 1 < MILLION / 2; n++) {
		call(&g, n, n + 1, n % 100 == 99 ? 1 : 1000);
		call(&g, n, n + 1, n % 100 == 99 ? 1 : 10);
	}
	for (size_t i = 0; i < sizeof(max_ids) / sizeof(max_ids[0]); i++) {
		struct callgraph_options options = {.max_id = max_ids[i]};
		struct callgraph_stats stats;

		CHECK_OK(callgraph_encode(&g, &options, &stats));
		CHECK(stats.ball_larus_overflowed);
		CHECK_U64(stats.ball_larus_max_id, UINT64_MAX);
		CHECK(stats.max_id <= (max_ids[i] && max_ids[i] < INT64_MAX ? max_ids[i] : INT64_MAX));
		CHECK(stats.max_id >= 1);
		CHECK(stats.cut_nodes >= MILLION / 2 / 64);
		CHECK_OK(callgraph_adopt(&g));
	}
	callgraph_deinit(&g);
}

/* Without an overflow nothing is cut, at the very limit too; one more context and something is. */
static void test_exact_limit(void)
{
	struct callgraph_options options = {.max_id = 62};
	struct callgraph_stats stats;
	struct callgraph g;

	add_nodes(&g, 65);
	for (uint32_t n = 1; n < 64; n++) {
		call(&g, 0, n, 1);
		call(&g, n, 64, n);
	}
	CHECK_OK(callgraph_encode(&g, &options, &stats));
	CHECK_U64(stats.max_id, 62);
	CHECK_U64(stats.cut_edges, 0);
	options.max_id = 61;
	CHECK_OK(callgraph_encode(&g, &options, &stats));
	CHECK_U64(stats.max_id, 61);
	CHECK_U64(stats.cut_edges, 2); /* 61 callers and the dummy */
	CHECK_U64(stats.cut_nodes, 1);
	CHECK(g.edges[1].kind == EDGE_CUT && g.edges[3].kind == EDGE_CUT);
	CHECK_U64(stats.ball_larus_max_id, 62);
	callgraph_deinit(&g);
}

/* One function with half a million callers, and one that calls itself as often. */
static void test_hubs(void)
{
	struct callgraph_stats stats;
	struct callgraph g;

	add_nodes(&g, MILLION / 2 + 2);
	for (uint32_t n = 1; n <= MILLION / 2; n++) {
		call(&g, 0, n, n % 977);
		call(&g, n, MILLION / 2 + 1, n * UINT64_C(2654435761) % 1009);
	}
	for (uint32_t i = 0; i < MILLION / 2; i++)
		call(&g, MILLION / 2 + 1, MILLION / 2 + 1, i);
	CHECK_OK(callgraph_encode(&g, NULL, &stats));
	CHECK_U64(stats.back_edges, MILLION / 2);
	CHECK_U64(g.nodes[MILLION / 2 + 1].contexts, MILLION / 2 + 1);
	CHECK_U64(stats.max_id, MILLION / 2);
	callgraph_deinit(&g);
}

static void test_empty_and_errors(void)
{
	struct callgraph_stats stats = {.max_id = 7};
	struct callgraph g;
	uint32_t n = 9, e = 9, start = 9;

	callgraph_init(&g, NULL);
	CHECK_OK(callgraph_encode(&g, NULL, &stats));
	CHECK_U64(stats.max_id, 0);
	CHECK_OK(callgraph_adopt(&g));
	CHECK_ERROR(callgraph_decode(&g, 0, 0, &e, &n, &start), ERROR_FORMAT, "function 0 of 0");
	CHECK_OK(callgraph_add_node(&g, false, &n));
	CHECK(!g.is_encoded);
	CHECK_ERROR(callgraph_decode(&g, 0, 0, &e, &n, &start), ERROR_ARGUMENT, "not encoded");
	CHECK_ERROR(callgraph_add_edge(&g, 0, 1, 0, 0, &e), ERROR_ARGUMENT, "from function 0 to 1");
	CHECK_ERROR(callgraph_add_edge(&g, 1, 0, 0, 0, &e), ERROR_ARGUMENT, NULL);
	CHECK(e == 9 && n == 0 && start == 9);
	CHECK_OK(callgraph_encode(&g, NULL, NULL));
	CHECK(g.nodes[0].has_dummy && g.nodes[0].contexts == 1);
	CHECK_OK(callgraph_decode(&g, 0, 0, &e, &n, &start));
	CHECK(n == 0 && start == 0);
	callgraph_deinit(&g);
}

/* A -> B -> C, A -> C, C -> B back, as an encoder would store it. */
static void stored(struct callgraph *g)
{
	add_nodes(g, 3);
	call(g, 0, 1, 0);
	call(g, 1, 2, 0);
	call(g, 0, 2, 0);
	call(g, 2, 1, 0);
	g->nodes[0] = (struct callgraph_node){.is_root = true, .has_dummy = true, .contexts = 1};
	g->nodes[1] = (struct callgraph_node){.has_dummy = true, .restart = 1, .contexts = 2};
	g->nodes[2] = (struct callgraph_node){.contexts = 3};
	g->edges[2].addend = 2;
	g->edges[3].kind = EDGE_BACK;
}

static void refuse(struct callgraph *g, const char *message)
{
	CHECK_ERROR(callgraph_adopt(g), ERROR_FORMAT, message);
	CHECK(!g->is_encoded);
	callgraph_deinit(g);
}

static void test_refused(void)
{
	uint32_t edges[3], count = 0, start = 9;
	struct callgraph g;

	stored(&g);
	CHECK_OK(callgraph_adopt(&g));
	CHECK_U64(g.range_start[3], 5);
	CHECK(g.is_gapless);
	callgraph_deinit(&g);

	stored(&g);
	g.edges[2].addend = 1;
	refuse(&g, "two calls to function 2 share id 1");
	stored(&g);
	g.nodes[2].contexts = 4;
	g.edges[2].addend = 3;
	CHECK_OK(callgraph_adopt(&g));
	CHECK(!g.is_gapless);
	CHECK_ERROR(callgraph_decode(&g, 2, 2, edges, &count, &start), ERROR_FORMAT, "no context 2");
	CHECK_OK(callgraph_decode(&g, 2, 3, edges, &count, &start));
	CHECK(count == 1 && edges[0] == 2 && start == 0);
	callgraph_deinit(&g);
	stored(&g);
	g.edges[2].addend = 3;
	refuse(&g, "function 2 leads past its 3 contexts");
	stored(&g);
	g.edges[1].addend = UINT64_MAX;
	refuse(&g, "function 2 leads past");
	stored(&g);
	g.nodes[1].contexts = 0;
	refuse(&g, "function 1 has no context");
	stored(&g);
	g.nodes[1].has_dummy = false;
	refuse(&g, "call 3 is a push, but function 1");
	stored(&g);
	g.nodes[1].restart = 0;
	refuse(&g, "function 1 share id 0");
	stored(&g);
	g.nodes[1].restart = 2;
	refuse(&g, "function 1 leads past");
	stored(&g);
	g.nodes[0].has_dummy = false;
	refuse(&g, "function 0 is a root");
	stored(&g);
	g.edges[0].kind = (enum edge_kind)4;
	refuse(&g, "call 0 has the unknown kind 4");
	stored(&g);
	g.edges[0].kind = EDGE_CUT;
	g.nodes[1].has_dummy = false;
	refuse(&g, NULL);

	/* a cycle in which every range fits */
	stored(&g);
	g.nodes[1] = (struct callgraph_node){.contexts = 3};
	g.nodes[2] = (struct callgraph_node){.contexts = 3};
	g.edges[3].kind = EDGE_ENCODED;
	g.edges[0].kind = g.edges[2].kind = EDGE_ENCODED;
	g.edges[0].callee = g.edges[2].callee = 0;
	g.edges[0].caller = g.edges[2].caller = 1;
	refuse(&g, "come from a cycle");
	stored(&g);
	g.edges[0].callee = 0;
	refuse(&g, "function 0 come from a cycle");
}

int main(void)
{
	test_chain();
	test_ring();
	test_diamonds();
	test_exact_limit();
	test_hubs();
	test_empty_and_errors();
	test_refused();
	return check_status();
}
