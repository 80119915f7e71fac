/*
 * encode.c - how fast call graphs are encoded and contexts decoded, and in how much memory.
 *
 * usage: bench-encode [EDGES [RUNS]]
 *
 * Times are medians of RUNS, in processor time. Bytes are the peak of what malloc gave out while the graph was built and
 * encoded, the graph included, and what the encoded graph keeps, each divided by the number of edges.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "callcontext.h"
#include "graphs.h"

enum {
	CONTEXTS = 20000, /* decoded in turn */
	DEPTH = 20,
	SEED = 1,
};

/* ---- memory: malloc counted. Only this thread writes, nothing reads elsewhere. ---- */

static size_t live_bytes, peak_bytes;

extern void *__libc_malloc(size_t size_bytes);
extern void *__libc_realloc(void *block, size_t size_bytes);
extern void *__libc_calloc(size_t count, size_t size_bytes);
extern void __libc_free(void *block);

static void *counted(void *block)
{
	if (block)
		live_bytes += malloc_usable_size(block);
	if (live_bytes > peak_bytes)
		peak_bytes = live_bytes;
	return block;
}

__attribute__((visibility("default"))) void *malloc(size_t size_bytes)
{
	return counted(__libc_malloc(size_bytes));
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size_bytes)
{
	return counted(__libc_calloc(count, size_bytes));
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t size_bytes)
{
	size_t old_bytes = block ? malloc_usable_size(block) : 0;
	void *moved = __libc_realloc(block, size_bytes);

	if (moved)
		live_bytes -= old_bytes;
	return counted(moved);
}

__attribute__((visibility("default"))) void free(void *block)
{
	int saved = errno;

	if (block)
		live_bytes -= malloc_usable_size(block);
	__libc_free(block);
	errno = saved;
}

/* ---- time ---- */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int double_compare(const void *left, const void *right)
{
	double l = *(const double *)left, r = *(const double *)right;

	return l < r ? -1 : l > r;
}

static double median(double *values, unsigned int count)
{
	qsort(values, count, sizeof(*values), double_compare);
	return values[count / 2];
}

static void check(struct error *err)
{
	if (!err)
		return;
	fprintf(stderr, "bench-encode: %s\n", err->message);
	exit(1);
}

/* ---- decoding ---- */

struct sample {
	struct callcontext contexts[CONTEXTS];
	uint32_t count;
};

/* Contexts of DEPTH calls, from random walks that start at the root and begin again where nothing is called. */
static void take_samples(const struct callgraph *g, struct rng *r, struct sample *s)
{
	uint32_t *start = calloc((size_t)g->node_count + 1, sizeof(*start));
	uint32_t *out = malloc(g->edge_count * sizeof(*out));
	uint32_t tries = 0;

	for (uint32_t e = 0; e < g->edge_count; e++)
		start[g->edges[e].caller]++;
	for (uint32_t n = 0, sum = 0; n <= g->node_count; n++)
		start[n] = sum += start[n];
	for (uint32_t e = g->edge_count; e-- > 0;)
		out[--start[g->edges[e].caller]] = e;
	for (s->count = 0; s->count < CONTEXTS && tries < 50 * CONTEXTS; tries++) {
		struct callcontext *c = &s->contexts[s->count];
		unsigned int depth = 0;

		check(callcontext_init(c, g, 0));
		for (; depth < DEPTH && start[c->node] < start[c->node + 1]; depth++)
			check(callcontext_call(
				c, out[start[c->node] + rng_below(r, start[c->node + 1] - start[c->node])]));
		if (depth == DEPTH)
			s->count++;
		else
			callcontext_deinit(c);
	}
	free(start);
	free(out);
}

/* Contexts decoded in a second; *pushes is how many pushes one has on average. */
static double decode_rate(const struct callgraph *g, unsigned int runs, double *times, double *pushes)
{
	struct sample *s = malloc(sizeof(*s));
	struct callgraph_edges edges = {0};
	struct rng r = {SEED};
	uint32_t start;

	take_samples(g, &r, s);
	*pushes = 0;
	for (unsigned int i = 0; i < runs; i++) {
		double begin = now_s();

		for (uint32_t k = 0; k < s->count; k++) {
			const struct callcontext *c = &s->contexts[k];
			struct callcontext_view view = {c->stack.items, c->stack.count, c->node, c->id};

			edges.count = 0;
			check(callcontext_decode(g, &view, DEPTH, &edges, &start));
		}
		times[i] = now_s() - begin;
	}
	for (uint32_t k = 0; k < s->count; k++) {
		*pushes += (double)s->contexts[k].stack.count / s->count;
		callcontext_deinit(&s->contexts[k]);
	}
	callgraph_edges_deinit(&edges);
	start = s->count;
	free(s);
	return start ? start / median(times, runs) : 0;
}

/* ---- driver ---- */

static void measure(const char *name, enum graph_shape shape, uint32_t nodes, uint32_t edges, unsigned int runs)
{
	double *times = malloc(runs * sizeof(*times)), encode_s, rate, pushes, pushed = 0, total = 0;
	size_t before = live_bytes, kept_bytes;
	struct callgraph_stats stats;
	struct rng r = {SEED};
	struct callgraph g;

	peak_bytes = live_bytes;
	callgraph_init(&g, NULL);
	check(graph_generate_weighted(&r, shape, GRAPH_WEIGHTS_SKEWED, nodes, edges, &g));
	for (unsigned int i = 0; i < runs; i++) {
		double begin = now_s();

		check(callgraph_encode(&g, NULL, &stats));
		times[i] = now_s() - begin;
	}
	kept_bytes = live_bytes - before;
	before = peak_bytes - before;
	encode_s = median(times, runs);
	rate = decode_rate(&g, runs, times, &pushes);
	for (uint32_t e = 0; e < g.edge_count; e++) {
		total += (double)g.edges[e].weight;
		pushed += g.edges[e].kind == EDGE_ENCODED ? 0 : (double)g.edges[e].weight;
	}
	printf("%-10s %8u %8u %8.3f %7.1f %7.1f %8u %8u %6.2f%% ", name, nodes, edges, encode_s, (double)before / edges,
	       (double)kept_bytes / edges, stats.back_edges, stats.cut_edges, total > 0 ? 100 * pushed / total : 0);
	if (rate > 0)
		printf("%10.0f %6.2f\n", rate, pushes);
	else
		printf("%10s %6s\n", "-", "-"); /* no context is that deep */
	callgraph_deinit(&g);
	free(times);
}

int main(int argc, char **argv)
{
	uint32_t edges = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
	unsigned int runs = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 5;

	if (edges < 20 || !runs) {
		fprintf(stderr, "usage: bench-encode [EDGES [RUNS]]\n");
		return 2;
	}
	printf("graph         nodes    edges encode s  peak B  kept B     back      cut  pushed  decoded/s pushes\n"
	       "                                        /edge   /edge                   weight   depth %2d  each\n",
	       DEPTH);
	measure("program", GRAPH_LAYERED, edges / 5, edges, runs);
	measure("acyclic", GRAPH_ACYCLIC, edges / 5, edges, runs);
	measure("one cycle", GRAPH_UNIFORM, edges / 5, edges, runs);
	measure("ring", GRAPH_RING, edges / 2, edges, runs);
	measure("program/10", GRAPH_LAYERED, edges / 50, edges / 10, runs);
	measure("program/20", GRAPH_LAYERED, edges / 400, edges / 20, runs);
	return 0;
}
