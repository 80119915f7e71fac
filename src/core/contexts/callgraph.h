/*
 * callgraph.h - a call graph and its calling-context encoding (PCCE, ICSE'10, sections 3.1, 3.2 and 4).
 *
 * Pure: no I/O, no LLVM, no OS. Nodes are functions, an edge is (caller, callee, call site); parallel edges are separate.
 * Calls to unknown or foreign code are not edges: a function that such a call may reach is a *root* and starts at id 0.
 *
 * After callgraph_encode every edge is either encoded (the caller adds `addend` around the call) or pushed (the caller
 * pushes (its id, site) and sets id to the callee's `restart`). The contexts of node n, cut at its last push, are the
 * numbers [0, contexts(n)):
 *
 *        p1 --addend 0-->.                      ids at n:   0 ........ | ........ | ......
 *        p2 --addend a-->  n                                 from p1   | from p2  | dummy (a push starts here)
 *        dummy ---------'
 *
 * The edges are ordered by falling weight: the hottest gets the lowest addend (but see small_addends). The pushers of a root cannot know where its
 * dummy is: it comes first and is id 0, or, where the root itself sets its id when it is entered from outside
 * (roots_set_id), it comes right behind the hottest edge. Any other dummy is placed by the weight of the pushes it stands
 * for, but never before the hottest edge: a push stores its constant whatever that is, while an edge at 0 needs no code.
 *
 * A bare edge has no room for code of its own: it is encoded where it gets addend 0, else pushed. As a push costs more than an addition it
 * comes before edges that are hotter, up to CALLGRAPH_BARE_COSTS times. Edges that are to be pushed are cut.
 *
 * Ownership: the graph owns everything, callgraph_deinit frees it. All memory, also of what works on the graph and of its errors,
 * comes from the graph's allocator: with one of its own an encoder can run inside another program. Not thread-safe.
 */
#ifndef WM_CORE_CONTEXTS_CALLGRAPH_H
#define WM_CORE_CONTEXTS_CALLGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/vec.h"

enum edge_kind {
	EDGE_ENCODED = 0,
	EDGE_BACK, /* pushed: closes a cycle */
	EDGE_CUT, /* pushed: cut to keep numbers in range (selective reduction), or a bare edge whose addend would not be 0 */
	EDGE_NEW, /* pushed: added after the encoding (callgraph_extend_edge) */
};

struct callgraph_edge {
	uint32_t caller;
	uint32_t callee;
	uint32_t site; /* the caller's name for it; the core only carries it */
	bool is_bare; /* in: can carry no addend other than 0 (a tail call, one of several callees of an indirect call) */
	bool is_pushed;  /* in: is not encoded (another callee of its site has an addend) */
	uint64_t weight; /* executions, or any estimate of them */
	/* result of callgraph_encode */
	enum edge_kind kind;
	uint64_t addend; /* EDGE_ENCODED only */
};

struct callgraph_node {
	bool is_root; /* in: may be entered by a push whose site does not know the callee */
	/* result of callgraph_encode */
	bool has_dummy;    /* some push starts here (every root, every callee of a pushed edge, every orphan) */
	uint64_t restart;  /* id at which a push starts here; meaningful when has_dummy */
	uint64_t contexts; /* numCC: how many ids the node uses, dummy included; at least 1 */
};

/* The ids of a node that come over one edge, first .. first + contexts(caller) - 1, or its dummy. */
struct callgraph_range {
	uint64_t first;
	uint32_t caller; /* of the dummy: the node itself */
	uint32_t edge;   /* index into edges; of the dummy: CALLGRAPH_DUMMY */
};

enum {
	CALLGRAPH_MAX_COUNT = INT32_MAX
}; /* nodes, edges */
#define CALLGRAPH_DUMMY UINT32_MAX

struct callgraph {
	const struct allocator *allocator; /* NULL: malloc */
	struct callgraph_node *nodes;
	uint32_t node_count;
	uint32_t node_capacity;
	struct callgraph_edge *edges;
	uint32_t edge_count;
	uint32_t edge_capacity;
	/* result of callgraph_encode and callgraph_adopt: the ranges of node n, by rising `first`, are
	 * ranges[range_start[n]] .. ranges[range_start[n + 1] - 1] */
	uint32_t *range_start;
	struct callgraph_range *ranges;
	uint32_t range_start_capacity;
	uint32_t range_capacity;
	bool is_gapless; /* the ranges of every node fill [0, contexts): always so after callgraph_encode */
	bool is_encoded;
};

struct callgraph_stats {
	uint32_t back_edges;
	uint32_t cut_edges;
	uint32_t cut_nodes; /* callees of cut edges: the paper's "nodes on which selective reduction is applied", and those of bare edges */
	uint64_t max_id;            /* largest id any node uses */
	uint32_t zero_edges;        /* encoded edges with addend 0: no code */
	bool ball_larus_overflowed; /* then ball_larus_max_id is UINT64_MAX */
	/* The largest id of the original Ball-Larus numbering of this graph (Table 1): the number of paths, less one, that
	 * lead over edges other than back edges from a root, a callee of a back edge or an orphan to a node that has no
	 * such edge. Nothing is cut for it. */
	uint64_t ball_larus_max_id;
};

struct callgraph_options {
	uint64_t max_id; /* no id may exceed it; 0 means the default, INT64_MAX, which is also the most */
	/* How many ends of edges, over all cycles, are looked at to find colder back edges than those of a first choice; each takes
	 * about 50 ns. 0 means the default, 8,000,000. */
	uint64_t sift_budget;
	bool roots_set_id; /* a root that is entered from outside sets its id to its restart: that need not be 0 */
	/* Behind the hottest edge of a node come its dummy and then the other edges by rising contexts of their callers, and not by weight:
	 * more of the addends are small, and small ones take less code. */
	bool small_addends;
};

/* allocator: NULL for malloc; outlives the graph and its errors. */
void callgraph_init(struct callgraph *g, const struct allocator *allocator);
void callgraph_deinit(struct callgraph *g);
/* Drops the result of callgraph_encode or callgraph_adopt; nodes and edges stay. */
void callgraph_forget_encoding(struct callgraph *g);
struct error *callgraph_add_node(struct callgraph *g, bool is_root, uint32_t *ret);
/* caller and callee must exist (ERROR_ARGUMENT). */
struct error *callgraph_add_edge(struct callgraph *g, uint32_t caller, uint32_t callee, uint32_t site, uint64_t weight,
				 uint32_t *ret);
/*
 * Additions that leave an encoding in force, so that everything can be decoded throughout. A new node has one context, 0, and
 * its dummy there; a new edge is EDGE_NEW, of weight 0. The next callgraph_encode numbers them. The graph is encoded or empty; the
 * callee has a dummy (ERROR_ARGUMENT). Amortised O(1).
 */
struct error *callgraph_extend_node(struct callgraph *g, bool is_root, uint32_t *ret);
struct error *callgraph_extend_edge(struct callgraph *g, uint32_t caller, uint32_t callee, uint32_t site, bool is_bare,
				    uint32_t *ret);
/* The saving of addend 0: without it a call would have to add, and a bare one to push, which costs a few times as much. */
enum {
	CALLGRAPH_BARE_COSTS = 4,
};
static inline uint64_t callgraph_worth(uint64_t weight, bool is_bare)
{
	if (!is_bare)
		return weight;
	return weight > UINT64_MAX / CALLGRAPH_BARE_COSTS ? UINT64_MAX : weight * CALLGRAPH_BARE_COSTS;
}

/* Marks back edges (cold ones by preference), numbers in topological order with checked sums, cuts the edges that are coldest
 * for the numbers they take where a sum would pass max_id. Of the edges into a node that of most worth comes first, among equals a bare one;
 * bare edges that do not come first are cut. Deterministic. A node that nothing reaches gets a dummy, so every
 * node has a context. May be called again; ret may be NULL. */
struct error *callgraph_encode(struct callgraph *g, const struct callgraph_options *options,
			       struct callgraph_stats *ret);

/* Builds an encoded graph from a stored encoding: nodes and edges added by hand with their results filled in. Checks that
 * encoded edges form no cycle, that the ranges at every node are disjoint and in bounds, that every pushed edge and every
 * root has its dummy (ERROR_FORMAT names the node), and builds the ranges. For reading metadata that may be
 * damaged: afterwards callgraph_decode is safe with any id. Ranges may have gaps. */
struct error *callgraph_adopt(struct callgraph *g);

/*
 * Decodes one acyclic piece (Algorithm 2): the edges from the function where the last push started down to `node`,
 * outermost first. *ret_start is that function. edges holds at least node_count entries (an acyclic piece is no longer).
 * ERROR_FORMAT when id is not one that node can have.
 */
struct error *callgraph_decode(const struct callgraph *g, uint32_t node, uint64_t id, uint32_t *edges,
			       uint32_t *ret_edge_count, uint32_t *ret_start);

/* Numbers of edges. */
VEC_DECLARE(callgraph_edges, uint32_t);

#endif
