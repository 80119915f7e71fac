/*
 * ran.h - which blocks of the bitcode ran, from what a recording knows of the nodes of its graphs.
 *
 * A recording numbers the blocks of each function as it was instrumented (instrument/paths/path_graph.c): those that can be reached from the
 * entry, in the order of the code. The bitcode is the module just before, so the same numbers are made from it here:
 *
 *      block         node(s)          a block is split behind each call of setjmp and its kin: each part is a node
 *      [landing]     one more         where computed gotos and others lead to one block, the gotos get a node in front of it
 *      tail call     no successors    a call that ends in a block which only returns, returns itself
 *      noreturn      no successors
 *
 * A function whose numbers do not fit its graph, node by node, edge by edge, is one of which nothing is known: all of it may have run.
 */
#ifndef WM_ANALYZE_RAN_H
#define WM_ANALYZE_RAN_H

#include "analyze/code.h"
#include "base/arena.h"
#include "core/paths/cfg.h"

/* A function's nodes. Memory is the arena's. */
struct ran_nodes {
	const struct code *code;
	uint32_t function;
	uint32_t count;
	uint32_t *first; /* [block of the function] its first node, behind the landing; CODE_NONE: nothing leads there */
	uint32_t *parts; /* [block] how many */
	bool *lands;     /* [block] the node before `first` is its landing */
	bool *returns;   /* [block] it returns by a tail call, in place of its jump */
};

/* What ran of all code, all of it until something is known. The owner deinits. */
struct ran {
	const struct code *code;
	bool *runs;  /* [block]: false: it did not run, which is proven */
	bool *comes; /* [index in code.predecessors]: false: control never came from there */
};

struct error *ran_init(const struct code *c, struct ran *ret);
void ran_deinit(struct ran *r);

/* The nodes of a function of the code; *ret_fits: g is their graph, as it was recorded. */
struct error *ran_number(const struct code *c, uint32_t function, const struct cfg *g, struct arena *arena,
			 struct ran_nodes *ret, bool *ret_fits);

/* From nodes to blocks. nodes[node], edges[edge of g]: 0: it did not run, was not taken. runs[block of the function], comes[predecessor of
 * these blocks] are made false where nothing ran, else left alone. */
void ran_tell(const struct ran_nodes *n, const struct cfg *g, const uint8_t *nodes, const uint8_t *edges, bool *runs,
	      bool *comes);
/* The same for all code. */
void ran_tell_all(struct ran *r, const struct ran_nodes *n, const struct cfg *g, const uint8_t *nodes,
		  const uint8_t *edges);

/* The instructions of a node: *ret_first to *ret_end - 1. False: none, it is a landing. */
bool ran_instructions(const struct ran_nodes *n, uint32_t node, uint32_t *ret_first, uint32_t *ret_end);
/* The call of that number as recordings number the calls of a function (tracemeta); CODE_NONE: there are not so many. */
uint32_t ran_call(const struct ran_nodes *n, uint32_t number);
uint32_t ran_call_count(const struct ran_nodes *n);

#endif
