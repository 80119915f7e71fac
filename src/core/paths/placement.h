/*
 * placement.h - where code goes so that each path adds up its number at the least cost.
 *
 * Increments are moved from the edges that the numbering gave values to the chords of a maximum-cost spanning tree (Ball and
 * Larus, MICRO'96, section 3.3; Ball, "Efficiently counting program events with support for on-line queries", TOPLAS'94).
 * Then the register's start value is pushed down: as long as the register is the same constant on all ways to a node, no code
 * is needed. Counts stay where paths end: a path is counted when it has been, not before.
 *
 * All arithmetic is modulo 2^64, so the same code serves Ball-Larus values and packed ones (ppp.h).
 */
#ifndef WM_CORE_PATHS_PLACEMENT_H
#define WM_CORE_PATHS_PLACEMENT_H

#include "core/paths/path_number.h"

enum place_kind {
	PLACE_NOTHING = 0,
	PLACE_SET, /* register = value */
	PLACE_ADD, /* register += value */
};

struct place_op {
	enum place_kind kind;
	uint64_t value;
};

/* The path that an end counts: number `value`, or register + value. */
struct place_end {
	bool adds_register;
	uint64_t value;
};

struct placement {
	struct place_op *starts;     /* [start_count], at the start's node, when a path begins there: NOTHING or SET */
	struct place_op *edges;      /* [edge_count], of kept edges */
	struct place_end *edge_ends; /* [edge_count], of edges that paths end on */
	struct place_end *node_ends; /* [node_count], of nodes in which paths end */
	struct place_end *lefts; /* [node_count], on entering a node in which the path may be left; NULL where none may */
	bool *has_register; /* [node_count]: the register has a value on entering, that is not a constant known there */
};

/*
 * start_values and edge_values: laid out as in path_numbering (those, or packed ones). Memory is the arena's.
 * The required code is: on a start, starts[]; on a kept edge, edges[]; and at the end, edge_ends[] or node_ends[].
 */
struct error *placement_make(const struct cfg *g, const struct path_numbering *n, const uint64_t *start_values,
			     const uint64_t *edge_values, struct arena *arena, struct placement *ret);

#endif
