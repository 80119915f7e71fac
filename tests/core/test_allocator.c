/*
 * test_allocator.c - core/contexts inside a program whose malloc may not be called: with an allocator handed in, nothing calls malloc,
 * the C library's functions included, and graphs, contexts and errors are the same as with malloc. Every block is given back.
 *
 *     test_allocator [COUNT [SEED]]
 */
#include "check.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "callcontext.h"
#include "core/contexts/adaptive.h"
#include "core/contexts/frequency.h"
#include "graphs.h"
#include "seeds.h"

enum {
	MAX_EDGES = 4000,
	STEPS = 300, /* of a walk */
	POOL_BYTES = 64 << 20,
	LIVE = 0x4c495645,
	FREED = 0x46524545,
};

/* ---- malloc, watched. One thread. ---- */

static bool is_forbidden;
static uint64_t forbidden_calls;

extern void *__libc_malloc(size_t size_bytes);
extern void *__libc_realloc(void *block, size_t size_bytes);
extern void *__libc_calloc(size_t count, size_t size_bytes);
extern void __libc_free(void *block);

__attribute__((visibility("default"))) void *malloc(size_t size_bytes)
{
	forbidden_calls += is_forbidden;
	return __libc_malloc(size_bytes);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size_bytes)
{
	forbidden_calls += is_forbidden;
	return __libc_calloc(count, size_bytes);
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t size_bytes)
{
	forbidden_calls += is_forbidden;
	return __libc_realloc(block, size_bytes);
}

__attribute__((visibility("default"))) void free(void *block)
{
	forbidden_calls += is_forbidden;
	__libc_free(block);
}

/* ---- the allocator: cuts a pool from front to back ---- */

struct header {
	size_t size_bytes;
	uint32_t state;
	uint32_t zero;
};

struct pool {
	char *memory;
	size_t used_bytes;
	size_t live_blocks;
	uint64_t wrong_calls;
};

static void *pool_alloc(void *state, size_t size_bytes)
{
	struct pool *p = state;
	size_t len_bytes = sizeof(struct header) + ((size_bytes + 15) & ~(size_t)15);
	struct header *header = (struct header *)(void *)(p->memory + p->used_bytes);

	p->wrong_calls += size_bytes == 0;
	if (len_bytes > POOL_BYTES - p->used_bytes)
		return NULL;
	p->used_bytes += len_bytes;
	p->live_blocks++;
	*header = (struct header){.size_bytes = size_bytes, .state = LIVE};
	/* Whoever counts on zeros has another outcome. */
	return memset(header + 1, 0xcc, size_bytes);
}

static void pool_free(void *state, void *block)
{
	struct pool *p = state;
	struct header *header = (struct header *)block - 1;

	if (!block || header->state != LIVE) {
		p->wrong_calls++;
		return;
	}
	header->state = FREED;
	memset(block, 0xdd, header->size_bytes);
	p->live_blocks--;
}

static void *pool_resize(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
	struct pool *p = state;
	void *moved = pool_alloc(state, new_bytes);

	if (!moved || !block)
		return moved;
	p->wrong_calls += ((struct header *)block - 1)->size_bytes != old_bytes;
	memcpy(moved, block, old_bytes < new_bytes ? old_bytes : new_bytes);
	pool_free(state, block);
	return moved;
}

/* ---- what is done with either ---- */

struct outcome {
	uint64_t hash;
	uint32_t edge_count;
};

static void add_u64(struct outcome *o, uint64_t v)
{
	o->hash = (o->hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	o->hash ^= o->hash >> 29;
}

/* Takes err. */
static void add_error(struct outcome *o, struct error *err)
{
	add_u64(o, err ? err->code : 0);
	for (const char *s = err ? err->message : ""; *s; s++)
		add_u64(o, (unsigned char)*s);
	error_destroy(err);
}

static void add_graph(struct outcome *o, const struct callgraph *g)
{
	for (uint32_t e = 0; e < g->edge_count; e++) {
		add_u64(o, g->edges[e].weight);
		add_u64(o, (uint64_t)g->edges[e].kind);
		add_u64(o, g->edges[e].kind == EDGE_ENCODED ? g->edges[e].addend : 0);
	}
	for (uint32_t n = 0; n < g->node_count; n++) {
		add_u64(o, g->nodes[n].contexts);
		add_u64(o, g->nodes[n].has_dummy ? g->nodes[n].restart : UINT64_MAX);
		for (uint32_t i = g->range_start[n]; i < g->range_start[n + 1]; i++) {
			add_u64(o, g->ranges[i].first);
			add_u64(o, g->ranges[i].edge);
		}
	}
}

static void add_context(struct outcome *o, const struct callcontext *c)
{
	const struct callcontext_view view = {c->stack.items, c->stack.count, c->node, c->id};
	const struct callcontext_view wrong = {c->stack.items, c->stack.count, c->node, UINT64_MAX};
	struct callgraph_edges edges = {.allocator = c->g->allocator};
	uint32_t start = 0;

	add_error(o, callcontext_decode(c->g, &view, STEPS, &edges, &start));
	add_u64(o, start);
	for (size_t i = 0; i < edges.count; i++)
		add_u64(o, edges.items[i]);
	add_error(o,
		  error_context(callcontext_decode(c->g, &wrong, STEPS, &edges, &start), "context %zu", edges.count));
	add_error(o, callcontext_decode(c->g, &view, edges.count / 2, &edges, &start));
	callgraph_edges_deinit(&edges);
}

static void walk(struct outcome *o, struct rng *r, const struct callgraph *g)
{
	struct callcontext c;
	struct error *err = callcontext_init(&c, g, (uint32_t)rng_below(r, g->node_count));

	add_error(o, err);
	if (err)
		return;
	for (uint32_t i = 0; i < STEPS; i++) {
		/* Most calls are of another function and fail. */
		uint32_t e = (uint32_t)rng_below(r, g->edge_count);

		for (uint32_t k = 0; k < g->edge_count && g->edges[e].caller != c.node; k++)
			e = (e + 1) % g->edge_count;
		add_error(o, callcontext_call(&c, e));
		if (i % 20 == 0)
			add_error(o, callcontext_return(&c, e));
	}
	add_context(o, &c);
	callcontext_deinit(&c);
}

/* The calls of g, found one after the other, in epochs; a chain of calls that goes through them. */
static void adapt(struct outcome *o, struct rng *r, const struct callgraph *g)
{
	struct adaptive a;
	struct callcontext c;
	uint32_t n = 0, e = 0;

	adaptive_init(&a, g->allocator, 7);
	a.thresholds.new_edges_share = 1; /* the pool does not take blocks back */
	add_error(o, adaptive_encode(&a, NULL));
	for (uint32_t i = 0; i < g->node_count; i++)
		add_error(o, adaptive_add_function(&a, &n));
	for (uint32_t i = 0; i < g->edge_count; i++) {
		add_error(o,
			  adaptive_add_edge(&a, g->edges[i].caller, g->edges[i].callee, i, rng_below(r, 3) == 0, &e));
		adaptive_count(&a, e, rng_below(r, 20));
		if (adaptive_due(&a))
			add_error(o, adaptive_encode(&a, NULL));
	}
	add_error(o, adaptive_add_function(&a, &n));
	add_error(o, adaptive_add_edge(&a, n, n + 1, 0, false, &e));
	add_u64(o, a.epoch);
	add_graph(o, &a.graph);
	for (uint32_t i = 0; i < a.graph.edge_count; i++) {
		struct error *err = callcontext_translate(&a.graph, a.graph.edges[i].caller, &i, 1, &c);

		add_error(o, err);
		if (!err)
			add_context(o, &c);
		if (!err)
			callcontext_deinit(&c);
	}
	adaptive_deinit(&a);
}

static void run(uint64_t seed, const struct allocator *allocator, struct outcome *o)
{
	static double relative[MAX_EDGES], base[2 * MAX_EDGES], entries[2 * MAX_EDGES];
	struct rng r = {seed};
	enum graph_shape shape = (enum graph_shape)rng_below(&r, GRAPH_SHAPES);
	struct callgraph_options options = {.max_id = rng_below(&r, 2) ? 0 : UINT64_C(2) << rng_below(&r, 40)};
	struct callgraph_stats stats;
	struct callgraph g;

	o->edge_count = 1 + (uint32_t)rng_below(&r, rng_below(&r, 4) ? 60 : MAX_EDGES);
	callgraph_init(&g, allocator);
	add_error(o, graph_generate(&r, shape, 1 + (uint32_t)rng_below(&r, o->edge_count), o->edge_count, &g));
	for (uint32_t e = 0; e < g.edge_count; e++)
		relative[e] = (double)rng_below(&r, 1000) / 300;
	for (uint32_t n = 0; n < g.node_count; n++)
		base[n] = (double)rng_below(&r, 3);
	if (rng_below(&r, 2))
		add_error(o, frequency_propagate(&g, relative, base, entries));
	add_error(o, callgraph_encode(&g, &options, &stats));
	add_u64(o, stats.cut_edges + stats.ball_larus_max_id);
	add_graph(o, &g);
	walk(o, &r, &g);
	adapt(o, &r, &g);
	add_error(o, callgraph_adopt(&g));
	add_graph(o, &g);
	add_error(o, callgraph_add_edge(&g, g.node_count, 0, 0, 0, &(uint32_t){0}));
	g.nodes[rng_below(&r, g.node_count)].contexts = 0;
	add_error(o, callgraph_adopt(&g));
	callgraph_deinit(&g);
}

static struct pool pool;

static uint32_t probe(uint64_t seed)
{
	const struct allocator allocator = {pool_alloc, pool_resize, pool_free, &pool};
	struct outcome want = {0}, got = {0};

	run(seed, NULL, &want);
	pool.used_bytes = 0;
	is_forbidden = true;
	run(seed, &allocator, &got);
	is_forbidden = false;
	CHECK_U64(forbidden_calls, 0);
	CHECK_U64(pool.wrong_calls, 0);
	CHECK_U64(pool.live_blocks, 0);
	CHECK(pool.used_bytes > 0);
	CHECK_U64(got.hash, want.hash);
	return want.edge_count;
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 400, 20060710);

	pool.memory = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!CHECK(pool.memory != MAP_FAILED))
		return check_status();
	seeds_run(&seeds, probe);
	return check_status();
}
