/*
 * path_state.h - a path that is not finished, from the node that control is in and the path register there.
 *
 * Ball-Larus numbers determine more than whole paths: the way from a start to node v adds up values that no other way to v adds up
 * to (Ohmann and Liblit, ASE journal 2017, section 4.1.1). The register holds that sum but for a constant of v that the placement
 * chose; where the placement needed no register, there is only one way to v.
 */
#ifndef WM_CORE_PATHS_PATH_STATE_H
#define WM_CORE_PATHS_PATH_STATE_H

#include "core/paths/path_number.h"
#include "core/paths/placement.h"

/* On entering a node. */
struct path_state {
	bool has_register;
	uint64_t value; /* has_register: the sum is register - value, modulo 2^64; else: the sum itself */
};

/* states[node_count] is the arena's. p was made with n's own start_values and edge_values. */
struct error *path_states_make(const struct cfg *g, const struct path_numbering *n, const struct placement *p,
			       struct arena *arena, struct path_state **ret);

/*
 * The path from a start to `node`: ret->end_node is node, ret->end_edge NO_EDGE, ret->edges (the caller's, room for
 * node_count) lead to it. reg: the register's low `bits` bits (8 to 64; the numbers of all paths fit in them).
 * ERROR_FORMAT: no path comes to that node with such a register (what was read is not what the code wrote).
 */
struct error *path_regenerate_partial(const struct cfg *g, const struct path_numbering *n,
				      const struct path_state *state, uint32_t node, uint64_t reg, unsigned bits,
				      struct path *path);

#endif
