/*
 * test_nomemory.c - every allocation of the core fails once: the answer is ERROR_NO_MEMORY, nothing leaks (under ASan), and the
 * graph can be used again.
 *
 * Call graphs get an allocator that fails. For the rest the linker sends malloc, calloc and realloc of everything linked in here to
 * the wrappers below; they fail always while something is done with a call graph.
 */
#include "check.h"

#include <stdlib.h>

#include "cfgs.h"
#include "callcontext.h"
#include "core/activity/activity.h"
#include "core/contexts/adaptive.h"
#include "core/contexts/frequency.h"
#include "core/contexts/hybrid.h"
#include "core/paths/path_state.h"
#include "core/paths/placement.h"
#include "core/paths/ppp.h"
#include "graphs.h"

/* How many allocations still succeed; only this thread reads and writes it. */
static uint64_t allowed = UINT64_MAX;

void *__real_malloc(size_t size_bytes);
void *__real_calloc(size_t count, size_t size_bytes);
void *__real_realloc(void *block, size_t size_bytes);
void *__wrap_malloc(size_t size_bytes);
void *__wrap_calloc(size_t count, size_t size_bytes);
void *__wrap_realloc(void *block, size_t size_bytes);

/* Something is done with a call graph: only its allocator may have memory. */
static int is_graph_at_work;

static int is_allowed(void)
{
	if (allowed == UINT64_MAX)
		return 1;
	if (!allowed)
		return 0;
	allowed--;
	return 1;
}

void *__wrap_malloc(size_t size_bytes)
{
	return !is_graph_at_work && is_allowed() ? __real_malloc(size_bytes) : NULL;
}

void *__wrap_calloc(size_t count, size_t size_bytes)
{
	return !is_graph_at_work && is_allowed() ? __real_calloc(count, size_bytes) : NULL;
}

void *__wrap_realloc(void *block, size_t size_bytes)
{
	return !is_graph_at_work && is_allowed() ? __real_realloc(block, size_bytes) : NULL;
}

static void *alloc(void *state, size_t size_bytes)
{
	(void)state;
	return is_allowed() ? __real_malloc(size_bytes) : NULL;
}

static void *resize(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
	(void)state;
	(void)old_bytes;
	return is_allowed() ? __real_realloc(block, new_bytes) : NULL;
}

static void release(void *state, void *block)
{
	(void)state;
	free(block);
}

static const struct allocator allocator = {alloc, resize, release, NULL};

enum {
	NODES = 60,
	EDGES = 300,
	SEED = 11,
};

static struct error *build(struct callgraph *g)
{
	struct rng r = {SEED};

	return graph_generate_weighted(&r, GRAPH_RING, GRAPH_WEIGHTS_SMALL, NODES, EDGES, g);
}

static struct error *do_build(struct callgraph *g)
{
	callgraph_deinit(g);
	return build(g);
}

static struct error *do_encode(struct callgraph *g)
{
	return callgraph_encode(g, NULL, NULL);
}

/* Renumbers a graph, and takes the result as a stored one. */
static struct error *do_hybrid(struct callgraph *g)
{
	static const uint32_t offsets[EDGES];
	static const bool is_placed[NODES];
	const struct hybrid_frames frames = {offsets, is_placed, NULL};
	struct hybrid h = {0};
	struct error *err = callgraph_encode(g, NULL, NULL);

	if (!err)
		err = hybrid_encode(g, &frames, &h);
	hybrid_deinit(&h);
	if (!err)
		err = hybrid_adopt(g, &frames, &h);
	hybrid_deinit(&h);
	return err;
}

static struct error *do_propagate(struct callgraph *g)
{
	static const double relative[EDGES] = {1, 2, 3}, base[NODES] = {1};

	return frequency_propagate(g, relative, base, NULL);
}

/* 20 times round the ring, and the decoding of that. */
static struct error *do_walk(struct callgraph *g)
{
	struct callgraph_edges edges = {.allocator = g->allocator};
	struct callcontext_view view;
	struct callcontext c;
	uint32_t start;
	struct error *err = callcontext_init(&c, g, 0);

	if (err)
		return err;
	for (uint32_t i = 0; i < 20 * NODES && !err; i++)
		err = callcontext_call(&c, i % NODES);
	view = (struct callcontext_view){c.stack.items, c.stack.count, c.node, c.id};
	if (!err)
		err = callcontext_decode(g, &view, SIZE_MAX, &edges, &start);
	CHECK(err || edges.count == 20 * NODES);
	callgraph_edges_deinit(&edges);
	callcontext_deinit(&c);
	return err;
}

/* ---- a graph that grows ---- */

static struct adaptive grown; /* the ring, found call by call; some of it in the present epoch */

/* Adds the nodes and edges that are missing; what did not fit is as if it had not been tried. */
static struct error *do_grow(struct callgraph *g)
{
	struct error *err = NULL;
	uint32_t n, e;

	(void)g;
	while (grown.graph.node_count < NODES && !err) {
		err = adaptive_add_function(&grown, &n);
		CHECK(err || (n == grown.graph.node_count - 1 && grown.graph.is_encoded));
	}
	while (grown.graph.edge_count < EDGES && !err) {
		e = grown.graph.edge_count;
		err = adaptive_add_edge(&grown, e % NODES, (e + 1) % NODES, e, e % 5 == 0, &e);
		CHECK_U64(grown.graph.edge_count, err ? e : e + 1);
	}
	return err;
}

static uint64_t hash_of(const struct callgraph *g)
{
	uint64_t hash = g->node_count * 31 + g->edge_count + g->is_encoded;

	for (uint32_t n = 0; n < g->node_count; n++)
		hash = hash * 31 + g->nodes[n].contexts * 7 + g->nodes[n].restart;
	for (uint32_t e = 0; e < g->edge_count; e++)
		hash = hash * 31 + g->edges[e].addend * 7 + (uint64_t)g->edges[e].kind + g->edges[e].weight;
	for (uint32_t i = 0; i < g->range_start[g->node_count]; i++)
		hash = hash * 31 + g->ranges[i].first * 7 + g->ranges[i].edge;
	return hash;
}

/* Without memory the present epoch goes on. */
static struct error *do_renumber(struct callgraph *g)
{
	uint64_t before = hash_of(&grown.graph);
	uint32_t epoch = grown.epoch;
	struct callgraph_stats stats = {.max_id = 77};
	struct error *err = adaptive_encode(&grown, &stats);

	(void)g;
	CHECK_U64(grown.epoch, err ? epoch : epoch + 1);
	CHECK(!err || hash_of(&grown.graph) == before);
	CHECK((stats.max_id == 77) == !!err);
	return err;
}

static struct error *do_translate(struct callgraph *g)
{
	uint32_t edges[20 * NODES];
	struct callcontext c;
	struct error *err;

	(void)g;
	for (uint32_t i = 0; i < 20 * NODES; i++)
		edges[i] = i % NODES;
	err = callcontext_translate(&grown.graph, 0, edges, 20 * NODES, &c);
	if (!err)
		callcontext_deinit(&c);
	return err;
}

/* ---- paths ---- */

/* Set up by main, with enough memory. */
static struct cfg paths_graph;
static struct cfg rounds_graph;
static struct path_numbering paths;
static struct placement placed;
static struct ppp_numbering preferred;
static uint64_t interesting[200];

static struct error *do_check_cfg(struct callgraph *g)
{
	(void)g;
	return cfg_check(&paths_graph);
}

/* Again: what is cut stays. */
static struct error *do_cut(struct callgraph *g)
{
	(void)g;
	return cfg_cut_cycles(&paths_graph);
}

static struct error *do_split(struct callgraph *g)
{
	uint32_t cut = 77;
	struct error *err = cfg_split(&paths_graph, 100000, &cut);

	(void)g;
	CHECK_U64(cut, err ? 77 : 0);
	return err;
}

static struct error *do_cut_rounds(struct callgraph *g)
{
	struct error *err = cfg_cut_iterations(&rounds_graph);

	(void)g;
	CHECK_U64(rounds_graph.edges[2].cut, err ? CFG_CUT_BACK : CFG_CUT_ITERATION);
	return err ? err : cfg_check(&rounds_graph);
}

static struct error *do_round(struct callgraph *g)
{
	uint32_t edges[4], count = 77;
	struct error *err = cfg_round_edges(&rounds_graph, 2, edges, &count);

	(void)g;
	CHECK_U64(count, err ? 77 : 1);
	return err;
}

static struct error *do_number(struct callgraph *g)
{
	struct path_numbering n;
	struct arena arena;
	struct error *err;

	(void)g;
	arena_init(&arena);
	err = path_number(&paths_graph, &arena, &n);
	arena_deinit(&arena);
	return err;
}

static struct error *do_place(struct callgraph *g)
{
	struct placement p;
	struct arena arena;
	struct error *err;

	(void)g;
	arena_init(&arena);
	err = placement_make(&paths_graph, &paths, paths.start_values, paths.edge_values, &arena, &p);
	arena_deinit(&arena);
	return err;
}

static struct error *do_states(struct callgraph *g)
{
	struct path_state *states;
	struct arena arena;
	struct error *err;

	(void)g;
	arena_init(&arena);
	err = path_states_make(&paths_graph, &paths, &placed, &arena, &states);
	arena_deinit(&arena);
	return err;
}

/* Two functions that call each other, one in progress. */
static struct error *do_activity(struct callgraph *g)
{
	static const uint32_t here[] = {1};
	const struct activity_call calls[] = {{.node = 1, .callee = 1}, {.node = 0, .callee = 0}};
	const struct activity_function functions[] = {
		{.cfg = &paths_graph, .calls = &calls[0], .call_count = 1, .is_root = true},
		{.cfg = &paths_graph, .calls = &calls[1], .call_count = 1},
	};
	const struct activity_frame frame = {.path = here, .path_count = 1, .call = UINT32_MAX};
	const struct activity_stack stack = {&frame, 1};
	const struct activity_program p = {functions, 2, &stack, 1, false};
	struct activity_result r = {0};
	uint8_t *states = calloc((size_t)paths_graph.node_count + paths_graph.edge_count, 1);
	struct arena arena;
	struct error *err = states ? NULL : &error_no_memory;

	(void)g;
	arena_init(&arena);
	if (!err)
		err = activity_analyse(&p, &arena, &r);
	CHECK(!r.nodes == !!err);
	if (!err)
		err = activity_of_frame(&r, &frame, states, states + paths_graph.node_count);
	arena_deinit(&arena);
	free(states);
	return err;
}

static struct error *do_prefer(struct callgraph *g)
{
	struct ppp_numbering p;
	struct arena arena;
	struct error *err;

	(void)g;
	arena_init(&arena);
	err = ppp_number(&paths_graph, &paths, interesting, 200, &arena, &p);
	arena_deinit(&arena);
	return err;
}

static struct error *do_pack(struct callgraph *g)
{
	struct ppp_table t;
	struct arena arena;
	struct error *err;

	(void)g;
	arena_init(&arena);
	err = ppp_pack(&paths_graph, &paths, &preferred, interesting, 200, 16, &arena, &t);
	arena_deinit(&arena);
	return err;
}

static void set_up_paths(struct arena *arena)
{
	struct rng r = {SEED};
	uint32_t cut;

	paths_graph = cfg_generate(arena, &r, CFG_PROGRAM, CFG_FIXED | CFG_JUMPS, 500);
	CHECK_OK(cfg_cut_cycles(&paths_graph));
	CHECK_OK(cfg_split(&paths_graph, 100000, &cut));
	rounds_graph = cfg_from_text(arena, "0-1 1-2 2~1 2-3");
	CHECK_OK(path_number(&paths_graph, arena, &paths));
	CHECK(paths.path_count > 200 * 3);
	CHECK_OK(placement_make(&paths_graph, &paths, paths.start_values, paths.edge_values, arena, &placed));
	for (uint32_t i = 0; i < 200; i++)
		interesting[i] = paths.path_count / 200 * i;
	CHECK_OK(ppp_number(&paths_graph, &paths, interesting, 200, arena, &preferred));
}

static void check_every_failure(struct callgraph *g, const char *name, struct error *(*action)(struct callgraph *))
{
	uint64_t n = 0;

	for (;; n++) {
		struct error *err;

		allowed = n;
		is_graph_at_work = g != NULL;
		err = action(g);
		is_graph_at_work = 0;
		allowed = UINT64_MAX;
		if (!err)
			break;
		if (!CHECK_ERROR(err, ERROR_NO_MEMORY, NULL) || !CHECK(n < 1000))
			break;
	}
	if (!CHECK(n > 1))
		fprintf(stderr, "%s makes only %llu allocations\n", name, (unsigned long long)n);
}

int main(void)
{
	struct callgraph g;
	struct arena arena;
	uint32_t ignored;

	callgraph_init(&g, &allocator);
	check_every_failure(&g, "building", do_build);
	check_every_failure(&g, "propagating", do_propagate);
	check_every_failure(&g, "encoding", do_encode);
	check_every_failure(&g, "walking", do_walk);
	check_every_failure(&g, "adopting", callgraph_adopt);
	check_every_failure(&g, "encoding again", do_encode);
	check_every_failure(&g, "encoding by offsets", do_hybrid);

	adaptive_init(&grown, &allocator, 0);
	check_every_failure(&g, "growing", do_grow);
	check_every_failure(&g, "numbering anew", do_renumber);
	check_every_failure(&g, "translating", do_translate);
	CHECK_OK(adaptive_add_function(&grown, &ignored));
	check_every_failure(&g, "numbering once more", do_renumber);
	adaptive_deinit(&grown);
	callgraph_deinit(&g);

	arena_init(&arena);
	set_up_paths(&arena);
	check_every_failure(NULL, "checking", do_check_cfg);
	check_every_failure(NULL, "cutting", do_cut);
	check_every_failure(NULL, "splitting", do_split);
	check_every_failure(NULL, "cutting rounds", do_cut_rounds);
	check_every_failure(NULL, "following a round", do_round);
	check_every_failure(NULL, "numbering", do_number);
	check_every_failure(NULL, "placing", do_place);
	check_every_failure(NULL, "path states", do_states);
	check_every_failure(NULL, "activity", do_activity);
	check_every_failure(NULL, "preferring", do_prefer);
	check_every_failure(NULL, "packing", do_pack);
	arena_deinit(&arena);
	return check_status();
}
