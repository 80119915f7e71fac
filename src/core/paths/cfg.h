/*
 * cfg.h - the control-flow graph of one function, and where its paths are cut so that they are acyclic.
 *
 *        0                 0 entry            paths: 0 1 2 | back       starts: 0 (entry) and 1 (after the back edge)
 *        |                 1 loop header             1 2 | back
 *        1 <--.            2 body                    0 1 3
 *       / \   |            3 exit                    1 3
 *      3   2 -' BACK
 *
 * A path begins at the function's entry or at the target of a cut edge and ends at an exit (a node without out-edges), at a
 * cut edge, or at a node all of whose out-edges are CFG_CUT_JUMP or CFG_CUT_TWICE; where may_be_left, in any node. Ball and Larus, "Efficient Path
 * Profiling" (MICRO'96), section 3.4, which has back edges as the only cuts.
 */
#ifndef WM_CORE_PATHS_CFG_H
#define WM_CORE_PATHS_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum cfg_cut {
	CFG_KEPT = 0,
	CFG_CUT_BACK,  /* closes a cycle: the path ends on this edge, and a new one starts at its target */
	CFG_CUT_SPLIT, /* the same, because there would be too many paths */
	CFG_CUT_JUMP, /* no code can be put on this edge: the path ends in `from`, before its terminator; all out-edges of
			* `from` are cut in this way and share the end */
	CFG_CUT_TWICE, /* the only out-edge of a node that ends in a call that may return more than once (setjmp): the path
			* ends before the call, and each return starts one at `to` */
	CFG_CUT_ITERATION, /* closes a cycle with a single way round (cfg_cut_iterations): as BACK, but the path that ends on this edge
			* need not be kept, since it is always the same, and the one behind has a start of its own */
	CFG_CUTS,
};

struct cfg_edge {
	uint32_t from;
	uint32_t to;
	enum cfg_cut cut;
	bool is_fixed; /* no code can be put on it (unwinding, asm goto): what would end on it becomes JUMP of the whole node */
	double frequency; /* estimate, any unit; where increments go, nothing else */
};

/* Node 0 is the entry and has no in-edges. Every node is reachable from it. Edges are grouped by `from`, in the order of
 * the terminator's successors; two edges may join the same nodes. The builder owns the memory. */
struct cfg {
	uint32_t node_count;
	uint32_t edge_count;
	struct cfg_edge *edges;
	uint32_t *first_edge; /* [node_count + 1]: out-edges of n are first_edge[n] to first_edge[n + 1] - 1 */
	/* A call that returns twice returns again while a path is under way: that path is one too, and ends in the node in which
	 * it was left. Ball and Larus would say that each node has an edge to the exit besides. */
	bool may_be_left;
};

/* Checks what is said above, for graphs that were read from a file; also that no cycle is left uncut. */
struct error *cfg_check(const struct cfg *g);

/* Cuts the edges that a depth-first search from the entry, successors in order, finds leading back to a node it is still
 * in. Leaves cuts that are already there: the search does not follow them, but goes on from their targets when it is done
 * with what comes before, so a cycle that is cut already is not cut again. Iterative: any depth. */
struct error *cfg_cut_cycles(struct cfg *g);

/*
 * Cuts the edges that enter loops when there are more than `limit` paths. A loop is entered less often than it goes round; and where
 * paths of its rounds begin at its head only, most of them have a constant for their number. Call after cfg_cut_cycles. *ret: how
 * many edges it cut.
 */
struct error *cfg_split_loops(struct cfg *g, uint64_t limit, uint32_t *ret);

/*
 * Cuts further edges, cold ones first, until there are at most `limit` paths (limit >= 2 * node_count). *ret: how many
 * edges it cut. Call after cfg_cut_cycles. A node with more out-edges than it may have paths becomes a JUMP.
 */
struct error *cfg_split(struct cfg *g, uint64_t limit, uint32_t *ret);

/*
 * Makes BACK edges ITERATION where a loop has one back edge and a single way from its head to that edge, and cuts the edges that enter
 * the loop (SPLIT). A path then begins at the head, for who enters the loop, or behind a round; which of them it was says whether there
 * was a round, and what a round is is known. So nothing need be kept of rounds but the last one's start, and what keeps the last N
 * paths has N others. What is lost is how many rounds there were.
 *
 * Call last: at most twice as many paths as before. Nothing is done where a call may return twice, since that gives up paths
 * that have begun.
 */
struct error *cfg_cut_iterations(struct cfg *g);

/* The way round of a ITERATION edge: *ret_count kept edges, from the loop's head to the edge's source. edges: room for node_count. */
struct error *cfg_round_edges(const struct cfg *g, uint32_t edge, uint32_t *edges, uint32_t *ret_count);

/* Fills order[node_count]: each node stands before those that its kept edges lead to; the same graph always has the same order.
 * ERROR_FORMAT when kept edges form a cycle. */
struct error *cfg_order(const struct cfg *g, uint32_t *order);

/* The path ends in this node: it is an exit, or its out-edges are JUMP or TWICE. */
bool cfg_node_ends(const struct cfg *g, uint32_t node);

/* How many edges are cut so. */
uint32_t cfg_count_cuts(const struct cfg *g, enum cfg_cut cut);
/* Bit c is set: an edge that is cut as c leads to the node. Not of kept edges. */
unsigned int cfg_cuts_to(const struct cfg *g, uint32_t node);

/* BACK, SPLIT or ITERATION: the path ends on this edge. */
static inline bool cfg_edge_ends(const struct cfg_edge *e)
{
	return e->cut == CFG_CUT_BACK || e->cut == CFG_CUT_SPLIT || e->cut == CFG_CUT_ITERATION;
}

#endif
