/*
 * cfgs.h - control-flow graphs for the tests and benchmarks of path numbering: by hand, and random ones of many shapes.
 */
#ifndef WM_TESTS_CORE_CFGS_H
#define WM_TESTS_CORE_CFGS_H

#include "core/paths/cfg.h"
#include "graphs.h"

/* "0-1 1-2 1=2 2~0": edges in order, grouped by their first end. '-' kept, '=' fixed, '~' BACK, '/' SPLIT, '!' JUMP, '*' TWICE, '@' ITERATION.
 * Frequencies are 1. Nodes are 0 to the largest named. Memory is the arena's. */
struct cfg cfg_from_text(struct arena *arena, const char *text);

enum cfg_shape {
	CFG_DAG = 0,  /* nodes in a line, edges forwards */
	CFG_CYCLIC,   /* the same, and edges backwards; irreducible ones, too */
	CFG_PROGRAM,  /* sequences, ifs, loops and switches, one in another, with early exits */
	CFG_SWITCHES, /* few nodes, many parallel edges */
	CFG_SHAPES,
};

enum cfg_extra {
	CFG_NO_EXTRAS = 0,
	CFG_FIXED = 1 << 0, /* some edges can have no code */
	CFG_JUMPS = 1 << 1, /* some nodes are jumps or calls that return twice */
};

/* About node_count nodes, at least one; cycles are not cut. */
struct cfg cfg_generate(struct arena *arena, struct rng *r, enum cfg_shape shape, unsigned int extras,
			uint32_t node_count);

/* Of any shape, with 1 to node_max nodes and some of the extras, which are CFG_FIXED or all; cycles are cut. */
struct cfg cfg_generate_any(struct arena *arena, struct rng *r, unsigned int extras, uint32_t node_max);

/* A copy, which may be cut in another way. */
struct cfg cfg_copy(struct arena *arena, const struct cfg *g);
/* A chain of `count` branches that join again: 2^count paths and more if branches have more than two sides. */
struct cfg cfg_diamonds(struct arena *arena, uint32_t count, uint32_t sides);

#endif
