/*
 * adaptive.h - a call graph that grows while its program runs, and is encoded anew as it does (DACCE, CGO'14, sections 3 and 4).
 *
 * Functions and calls are added as they are first seen. Time is cut into epochs: in each, what was known at its beginning is
 * numbered, and what came later is not. A call that is not numbered pushes (its caller's id, itself), and a function that is not
 * numbered has one id, 0: so everything that runs can be encoded at once, and nothing that is numbered changes before the next
 * epoch. `graph` is always encoded: with its nodes and edges at the end of an epoch any context of that epoch can be decoded,
 * which is the epoch's dictionary. Contexts are captured with the number of their epoch.
 *
 *      epoch 7   numbered  A->C +0, C->D +0         epoch 8   A->C +0, C->D +0, A->D +3
 *                new       A->D pushes, id = 2                ids of D: 0 AC, 1 C, 2 starts here, 3 A
 *
 * Where a push starts. In the paper a push sets id to maxID + 1, whatever is called: ids in [maxID + 1, 2 maxID + 1] say that a piece
 * began at a push, and 0 .. maxID that it did not. They do not say at which function it began. Each stack entry has the callee for
 * that, and a piece is decoded only with the entry below it. Here each function has an id of its own for a piece that begins at it
 * (its dummy, `restart`), as in PCCE: a piece is decoded from its function and id alone, so also when it was entered from foreign code
 * and nobody could store what was called. The same contexts are told apart, and they decode to the same calls. It costs one number at
 * each function, which its callees have again over each edge, instead of a second range; PCCE needs the whole graph for it, which an
 * epoch has: what is new is not numbered. The dummy comes right behind the hottest edge, which keeps 0.
 *
 * The weight of an edge is the calls that adaptive_count was told.
 *
 * Ownership: the graph's. All memory comes from the allocator; nothing here takes locks or calls the system. Not thread-safe: the owner
 * stops the threads whose contexts it translates. Not for signal handlers.
 */
#ifndef WM_CORE_CONTEXTS_ADAPTIVE_H
#define WM_CORE_CONTEXTS_ADAPTIVE_H

#include "core/contexts/callgraph.h"

/* Why to begin a new epoch (section 4). */
enum adaptive_trigger {
	ADAPTIVE_NONE = 0,
	ADAPTIVE_NEW_EDGES,   /* so many calls are not numbered */
	ADAPTIVE_HOT_CHANGED, /* the calls that need no code are no longer the hottest of their callees */
	ADAPTIVE_STACK_BUSY,  /* more calls push than the numbering left to push */
};

/* When adaptive_due says so. The owner may change them at any time. Shares are 1 / n; n is not 0. */
struct adaptive_thresholds {
	uint32_t new_edges;       /* ADAPTIVE_NEW_EDGES: more than this many new edges, */
	uint32_t new_edges_share; /* and numbered_edges / this on top of it: so epochs grow with the graph */
	uint64_t calls;           /* the other two wait until so many calls were counted */
	uint32_t hot_share;       /* ADAPTIVE_HOT_CHANGED: more than calls / this went over edges that are misplaced */
	uint32_t busy_share;      /* ADAPTIVE_STACK_BUSY: pushes exceed what was expected by more than calls / this */
};

struct adaptive {
	struct callgraph graph;      /* everything found so far, numbered for the present epoch */
	uint64_t max_id;             /* as in callgraph_options; 0 by default. Counts from the next epoch on. */
	uint32_t epoch;              /* number of the present epoch */
	uint32_t numbered_functions; /* of the present epoch; nodes and edges from here on are new */
	uint32_t numbered_edges;
	struct adaptive_thresholds thresholds;
	/* counted since the epoch began */
	uint64_t calls;
	uint64_t misplaced_calls; /* over edges with an addend, or bare ones that push, worth twice as much as the edge at 0 of their callee */
	uint64_t new_calls; /* over edges that are not numbered */
	uint64_t pushed_calls;
	uint64_t expected_pushes; /* of 2^16 calls, by the weights that the present numbering was made from */
};

/* allocator: NULL for malloc; outlives all of it. The graph is empty and all that is added to it is new. */
void adaptive_init(struct adaptive *a, const struct allocator *allocator, uint32_t first_epoch);
void adaptive_deinit(struct adaptive *a);

/* Amortised O(1). Contexts of the present epoch stay what they are. An edge is added once: the owner looks it up. */
struct error *adaptive_add_function(struct adaptive *a, uint32_t *ret);
/* caller and callee exist (ERROR_ARGUMENT). is_bare: see callgraph_edge; is_bare and is_pushed of an edge may be changed in
 * graph.edges, which counts from the next epoch on. */
struct error *adaptive_add_edge(struct adaptive *a, uint32_t caller, uint32_t callee, uint32_t site, bool is_bare,
				uint32_t *ret);

/* Executions of an edge of the graph that were seen, all of them or the same sample of each. O(1); sums saturate. */
void adaptive_count(struct adaptive *a, uint32_t edge, uint64_t calls);

/* O(1). When nothing else changes, what it asks for is done by one adaptive_encode. In a program that keeps finding hot calls one
 * epoch after the other is due: the owner knows what one costs, and lets misplaced_calls and new_calls, which it spares, grow to that. */
enum adaptive_trigger adaptive_due(const struct adaptive *a);

/*
 * Begins the next epoch: numbers everything. What is still needed of the old epoch, live contexts decoded and the graph's nodes
 * and edges copied, is done before. On failure (ERROR_NO_MEMORY, ERROR_OVERFLOW: no more epochs) the present epoch goes on
 * untouched. It takes up to twice the graph's memory while it works, and about 50 ms for 100,000 edges. ret may be NULL.
 */
struct error *adaptive_encode(struct adaptive *a, struct callgraph_stats *ret);

#endif
