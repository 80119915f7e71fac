/*
 * tail_chain.h - which functions certainly ran between a call and the function that was found under it, where tail calls replaced their frames.
 *
 *      caller --calls--> from --tail calls--> ... --tail calls--> to
 *
 * A node is a function, an edge is a place where it may make a tail call of another one. There may be many walks from `from` to where `to`
 * is entered first, infinitely many with a cycle. What all of them begin with and what all of them end with is certain. gdb's rule
 * (call_site_find_chain) is of this kind, for call sites in place of functions; it passes each of them once, whatever cycles there are.
 */
#ifndef WM_CORE_CONTEXTS_TAIL_CHAIN_H
#define WM_CORE_CONTEXTS_TAIL_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct tail_edge {
	uint32_t from, to;
};

struct tail_graph {
	uint32_t node_count;
	uint32_t edge_count;
	const struct tail_edge *edges; /* several of a pair are several places */
	const bool *is_open;           /* of each node: it may also make tail calls that are not known */
};

/* A function that ran, and where it made its tail call. */
struct tail_step {
	uint32_t node;
	uint32_t edge; /* UINT32_MAX: not known which */
};

struct tail_chain {
	struct tail_step *steps; /* outermost first: what all walks begin with, then what all end with. `to` is in none */
	uint32_t first_count;    /* of what they begin with; 0: nothing is known, or no walk leads there */
	uint32_t count;
	bool is_whole; /* there is one walk, and these are its functions */
};

/* The steps are the arena's. from == to has none: it may have been called itself. */
struct error *tail_chain_find(const struct tail_graph *g, uint32_t from, uint32_t to, struct arena *arena,
			      struct tail_chain *ret);

#endif
