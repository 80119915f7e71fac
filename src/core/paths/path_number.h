/*
 * path_number.h - Ball-Larus numbers of the paths of one function, and paths from numbers.
 *
 * The numbers of a function are 0 to path_count - 1, each of exactly one path (Ball and Larus, MICRO'96; PPP, POPL'07,
 * figure 1): the sum of the value of its start and of the values of its edges. The out-edges of a node and the starts are
 * numbered in the order they have in the graph, so equal graphs have equal numbers, in every version of Waymark.
 */
#ifndef WM_CORE_PATHS_PATH_NUMBER_H
#define WM_CORE_PATHS_PATH_NUMBER_H

#include "core/paths/cfg.h"

enum {
	/* Functions with more paths are split (cfg_split_loops, cfg_split): with a plan, a number and 16 bits of index share a register. */
	PATH_COUNT_BITS = 44,
	/* At the final stage, where cost counts, loops of functions with more paths have paths of their own: few functions then have too
	 * many for an array. */
	PATH_COUNT_FINAL = 1 << 14,
};
#define PATH_COUNT_MAX (UINT64_C(1) << PATH_COUNT_BITS)
#define NO_EDGE UINT32_MAX

struct path_numbering {
	uint64_t path_count;
	uint32_t start_count; /* at least 1 */
	/* Nodes, rising: starts[0] is the entry, the others are targets of cut edges; then those behind ITERATION edges, in their order. */
	uint32_t *starts;
	uint32_t *start_iterations; /* [start_count]: the ITERATION edge that leads there; NO_EDGE: any other */
	uint64_t *start_values;
	uint64_t *edge_values; /* [edge_count]: of kept edges, and of those a path ends on; else 0 */
	uint64_t *node_paths; /* [node_count]: paths from here to an end; the last of them is left here (cfg.may_be_left) */
};

/* Memory is the arena's. ERROR_OVERFLOW when there are more than PATH_COUNT_MAX paths: split first. */
struct error *path_number(const struct cfg *g, struct arena *arena, struct path_numbering *ret);

struct path {
	uint32_t start;  /* index in starts */
	uint32_t *edges; /* kept edges, from the start to end_node; room for node_count */
	uint32_t edge_count;
	uint32_t end_node;
	uint32_t end_edge; /* the BACK, SPLIT or ITERATION edge it ends on, NO_EDGE when it ends in end_node */
	bool is_left;      /* it was left in end_node, which need not be one that paths end in */
};

/* The last of values[first] to values[end - 1], which rise, that is not above number; values[first] is not. */
uint32_t path_find_value(const uint64_t *values, uint32_t first, uint32_t end, uint64_t number);

/* Regenerates the path of a number below path_count. path->edges is the caller's and has room for node_count. */
void path_regenerate(const struct cfg *g, const struct path_numbering *n, uint64_t number, struct path *path);

/* Nodes of the path in order; nodes[] has room for edge_count + 1. Returns how many. */
uint32_t path_nodes(const struct cfg *g, const struct path_numbering *n, const struct path *path, uint32_t *nodes);

/* The inverse of path_regenerate: the number of a path; ERROR_ARGUMENT if it is no path of the graph. */
struct error *path_number_of(const struct cfg *g, const struct path_numbering *n, const struct path *path,
			     uint64_t *ret);

#endif
