/*
 * test_nomemory.c - every allocation of the core fails once: the answer is ERROR_NO_MEMORY, nothing leaks (under ASan), and the
 * graph can be used again.
 *
 * The linker sends malloc, calloc and realloc of everything linked in here to the wrappers below.
 */
#include "check.h"

#include <stdlib.h>

#include "core/callcontext.h"
#include "core/frequency.h"
#include "graphs.h"

/* How many allocations still succeed; only this thread reads and writes it. */
static uint64_t allowed = UINT64_MAX;

void *__real_malloc(size_t size_bytes);
void *__real_calloc(size_t count, size_t size_bytes);
void *__real_realloc(void *block, size_t size_bytes);
void *__wrap_malloc(size_t size_bytes);
void *__wrap_calloc(size_t count, size_t size_bytes);
void *__wrap_realloc(void *block, size_t size_bytes);

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
	return is_allowed() ? __real_malloc(size_bytes) : NULL;
}

void *__wrap_calloc(size_t count, size_t size_bytes)
{
	return is_allowed() ? __real_calloc(count, size_bytes) : NULL;
}

void *__wrap_realloc(void *block, size_t size_bytes)
{
	return is_allowed() ? __real_realloc(block, size_bytes) : NULL;
}

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

static struct error *do_propagate(struct callgraph *g)
{
	static const double relative[EDGES] = {1, 2, 3}, base[NODES] = {1};

	return frequency_propagate(g, relative, base);
}

/* 20 times round the ring, and the decoding of that. */
static struct error *do_walk(struct callgraph *g)
{
	struct callcontext_edges edges = {0};
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
	callcontext_edges_deinit(&edges);
	callcontext_deinit(&c);
	return err;
}

static void check_every_failure(struct callgraph *g, const char *name, struct error *(*action)(struct callgraph *))
{
	uint64_t n = 0;

	for (;; n++) {
		struct error *err;

		allowed = n;
		err = action(g);
		allowed = UINT64_MAX;
		if (!err)
			break;
		if (!CHECK_ERROR(err, ERROR_NO_MEMORY, NULL) || !CHECK(n < 1000))
			break;
	}
	if (!CHECK(n > 2))
		fprintf(stderr, "%s makes only %llu allocations\n", name, (unsigned long long)n);
}

int main(void)
{
	struct callgraph g;

	callgraph_init(&g);
	check_every_failure(&g, "building", do_build);
	check_every_failure(&g, "propagating", do_propagate);
	check_every_failure(&g, "encoding", do_encode);
	check_every_failure(&g, "walking", do_walk);
	check_every_failure(&g, "adopting", callgraph_adopt);
	check_every_failure(&g, "encoding again", do_encode);
	callgraph_deinit(&g);
	return check_status();
}
