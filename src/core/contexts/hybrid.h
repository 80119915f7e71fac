/*
 * hybrid.h - hybrid encoding: the offset of the stack pointer tells contexts apart where it can (PCCE, ICSE'10, section 5).
 *
 * Frames of most functions have a fixed size, so the distance from the frame in which a piece of a context begins down to the frame of
 * the function that runs is a number that the calls between them determine. A context of node n is known by (number, offset):
 *
 *        number = sum of the addends of its edges, and the restart of its start
 *        offset = sum of the offsets of its edges
 *
 *        p1 --addend 0, offset 48-->.                n:  offset   numbers
 *        p2 --addend 0, offset 64-->  n                   48       [0, 1)   over p1
 *        p3 --addend 1, offset 48-->                      64       [0, 1)   over p2
 *                                                         48       [1, 2)   over p3, which would meet p1's without an addend
 *
 * An edge has an addend only where two edges would otherwise give a pair to two contexts. The paper's Algorithm 4 has one set of
 * contexts without numbers, and beside it those that have one; an edge over which both may come needs a test of the number. Here each
 * offset has numbers of its own: no edge needs a test, and those with an addend are fewer (tests/core/test_hybrid.c compares them).
 *
 * Where a start is at no known place of the stack (a callback, a thread), the offset of its contexts is HYBRID_NO_OFFSET. They share
 * addends with the others, and are told apart by their numbers alone.
 *
 * Pure. All memory comes from the graph's allocator. Not thread-safe.
 */
#ifndef WM_CORE_CONTEXTS_HYBRID_H
#define WM_CORE_CONTEXTS_HYBRID_H

#include "core/contexts/adjacency.h"
#include "core/contexts/callgraph.h"

#define HYBRID_NO_OFFSET UINT32_MAX

enum {
	HYBRID_OFFSET_MAX = (1 << 26) - 8, /* bytes from the start of a piece to the function that runs */
};

/* Contexts of one node: those with this offset have numbers first .. end - 1. */
struct hybrid_range {
	uint64_t first;
	uint64_t end;
	uint32_t offset;
};

/* All of a node, by rising offset, each once; some of the numbers may be of no context. */
struct hybrid_set {
	struct hybrid_range *ranges;
	size_t count;
};

/* What the stack gives. Arrays belong to the caller, and are read for as long as the hybrid is used. */
struct hybrid_frames {
	const uint32_t *offsets;  /* by edge, of encoded ones: bytes from the caller's frame down to the callee's */
	const bool *is_placed;    /* by node: where a push starts here, the offset is known: 0 */
	const bool *needs_addend; /* by edge: an addend other than 0, whatever the offsets; NULL: none */
};

struct hybrid {
	const struct callgraph *g;
	struct hybrid_frames frames;
	struct hybrid_set *sets; /* by node */
	struct adjacency in;
	uint64_t max_number;
	uint32_t zero_edges; /* encoded edges that need no code */
};

/*
 * Renumbers an encoded graph: addends, restarts and contexts (the end of a node's numbers) are replaced; kinds of edges stay. Its own
 * numbers fit where those of callgraph_encode did. callgraph_decode is of no use any more. ERROR_OVERFLOW where an offset or the
 * sum of all sets passes its limit: the graph has to be encoded anew then.
 */
struct error *hybrid_encode(struct callgraph *g, const struct hybrid_frames *frames, struct hybrid *ret);

/* The same of a stored encoding, whose edges and nodes have their results; ERROR_FORMAT where two contexts would have one pair, or where
 * encoded edges form a cycle. Afterwards hybrid_decode is safe with any pair. */
struct error *hybrid_adopt(const struct callgraph *g, const struct hybrid_frames *frames, struct hybrid *ret);
void hybrid_deinit(struct hybrid *h);

/* As callgraph_decode; offset: of the node's frame, HYBRID_NO_OFFSET for a start that has no place. */
struct error *hybrid_decode(const struct hybrid *h, uint32_t node, uint64_t number, uint32_t offset, uint32_t *edges,
			    uint32_t *ret_edge_count, uint32_t *ret_start);

#endif
