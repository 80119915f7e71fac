/*
 * graphs.h - random numbers and random call graphs of many shapes for the tests and benchmarks of src/core.
 */
#ifndef WM_TESTS_CORE_GRAPHS_H
#define WM_TESTS_CORE_GRAPHS_H

#include "core/contexts/callgraph.h"

/* splitmix64; any state is good. */
struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *r);
/* 0 .. bound - 1; bound is not 0. */
uint64_t rng_below(struct rng *r, uint64_t bound);

enum graph_shape {
	GRAPH_UNIFORM = 0, /* any node calls any: one large cycle when dense */
	GRAPH_ACYCLIC,
	GRAPH_LAYERED,  /* like a program: mostly downwards, a few calls up, a hot few callees */
	GRAPH_PARALLEL, /* few pairs of nodes, many edges between them, self-loops */
	GRAPH_DIAMONDS, /* a chain of joins: contexts double at every step */
	GRAPH_RING,     /* one cycle and chords */
	GRAPH_SPARSE,   /* parts that nothing reaches */
	GRAPH_SHAPES,
};

enum graph_weights {
	GRAPH_WEIGHTS_ZERO = 0,
	GRAPH_WEIGHTS_EQUAL,
	GRAPH_WEIGHTS_SMALL,
	GRAPH_WEIGHTS_SKEWED, /* each power of two as likely as the next */
	GRAPH_WEIGHTS_HUGE,
	GRAPH_WEIGHTS_KINDS,
};

/* Adds node_count nodes, some of them roots, and edge_count edges. Both at least 1. */
struct error *graph_generate_weighted(struct rng *r, enum graph_shape shape, enum graph_weights weights,
				      uint32_t node_count, uint32_t edge_count, struct callgraph *g);
/* The same with weights of a random kind. */
struct error *graph_generate(struct rng *r, enum graph_shape shape, uint32_t node_count, uint32_t edge_count,
			     struct callgraph *g);

#endif
