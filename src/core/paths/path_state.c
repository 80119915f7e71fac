/*
 * path_state.c - unfinished paths: what the register is off by at each node, and the path from it.
 *
 * On entering a node the register is the sum of the values so far plus a constant of the node, since the placement moves
 * increments by potentials (placement.c). The constants go from node to node in topological order, and all ways have to
 * agree on them.
 *
 * The first start and the first out-edge of a node have the value 0. So going on by first edges adds nothing: the sum at a
 * node is itself the number of a whole path that comes through it. What is after the node is cut off. A node that the path
 * of that number does not come to with that sum was never reached with it.
 */
#include "core/paths/path_state.h"

#include <inttypes.h>
#include <stdlib.h>

/* Another way to a node must give what the first one did. */
static struct error *meet(struct path_state *states, bool *is_known, uint32_t node, struct path_state state)
{
	if (!is_known[node]) {
		is_known[node] = true;
		states[node] = state;
		return NULL;
	}
	if (states[node].has_register == state.has_register && states[node].value == state.value)
		return NULL;
	return error_create(ERROR_ARGUMENT, "path states: two ways to node %u differ: the placement is of other values",
			    node);
}

/* After the value of an edge or start and what its code does. */
static struct path_state after(struct path_state from, uint64_t edge_value, struct place_op op)
{
	if (op.kind == PLACE_SET) /* the sum is known: set instead of added up */
		return (struct path_state){true, op.value - (from.value + edge_value)};
	if (!from.has_register)
		return (struct path_state){false, from.value + edge_value};
	return (struct path_state){true, from.value - edge_value + (op.kind == PLACE_ADD ? op.value : 0)};
}

static struct error *spread(const struct cfg *g, const struct path_numbering *n, const struct placement *p,
			    const uint32_t *order, bool *is_known, struct path_state *states)
{
	struct error *err = NULL;

	for (uint32_t i = 0; !err && i < n->start_count; i++)
		err = meet(states, is_known, n->starts[i],
			   after((struct path_state){false, n->start_values[i]}, 0, p->starts[i]));
	for (uint32_t i = 0; !err && i < g->node_count; i++)
		for (uint32_t e = g->first_edge[order[i]]; !err && e < g->first_edge[order[i] + 1]; e++)
			if (g->edges[e].cut == CFG_KEPT)
				err = meet(states, is_known, g->edges[e].to,
					   after(states[order[i]], n->edge_values[e], p->edges[e]));
	return err;
}

struct error *path_states_make(const struct cfg *g, const struct path_numbering *n, const struct placement *p,
			       struct arena *arena, struct path_state **ret)
{
	struct path_state *states = arena_calloc(arena, g->node_count, sizeof(*states));
	uint32_t *order = malloc(g->node_count * sizeof(*order));
	bool *is_known = calloc(g->node_count, sizeof(*is_known));
	struct error *err = &error_no_memory;

	if (states && order && is_known)
		err = cfg_order(g, order);
	if (!err)
		err = spread(g, n, p, order, is_known, states);
	if (!err)
		*ret = states;
	free(order);
	free(is_known);
	return err;
}

struct error *path_regenerate_partial(const struct cfg *g, const struct path_numbering *n,
				      const struct path_state *state, uint32_t node, uint64_t reg, unsigned bits,
				      struct path *path)
{
	struct path whole = {.edges = path->edges};
	uint64_t sum = state->value, left;
	uint32_t count = 0, at;

	if (state->has_register) {
		sum = reg - state->value;
		if (bits < 64)
			sum &= (UINT64_C(1) << bits) - 1;
	}
	if (sum < n->path_count) {
		path_regenerate(g, n, sum, &whole);
		left = sum - n->start_values[whole.start];
		at = n->starts[whole.start];
		while (at != node && count < whole.edge_count) {
			left -= n->edge_values[whole.edges[count]];
			at = g->edges[whole.edges[count++]].to;
		}
		if (at == node && !left) {
			*path = (struct path){whole.start, path->edges, count, node, NO_EDGE, false};
			return NULL;
		}
	}
	return error_create(ERROR_FORMAT,
			    "no path comes to node %u of %u with the path register 0x%" PRIx64
			    ": the frame was overwritten, or is not of this program",
			    node, g->node_count, reg);
}
