/*
 * lucce_history.h - all versions of a Lucce call graph, from its log, and decoding in them (De of section 5).
 *
 * The reader's half of lucce.h, for the same process or another one: it takes the events in their order, as they come, and has every
 * version up to the last one that it was given. Versions share what did not change: each function has the list of its changes.
 * Nothing relies on the log being sound: events that cannot be are refused, and decoding ends with any id, after as many steps as there
 * are versions at most.
 *
 * Ownership: the history's; all memory, also of its errors, comes from the allocator. Not thread-safe while events are added; decoding
 * may run in several threads. Not for signal handlers.
 */
#ifndef WM_CORE_CONTEXTS_LUCCE_HISTORY_H
#define WM_CORE_CONTEXTS_LUCCE_HISTORY_H

#include "core/contexts/callgraph.h"
#include "core/contexts/lucce.h"

/* From version `at` on the value is this. */
struct lucce_value {
	uint64_t at;
	uint64_t value;
};

VEC_DECLARE(lucce_values, struct lucce_value);

struct lucce_past_node {
	struct lucce_values counts;  /* numCC, by version */
	struct lucce_values entered; /* lv */
	struct callgraph_edges in;   /* edges to it in their order */
};

struct lucce_past_boundary {
	uint64_t at;
	uint32_t edge;
	struct lucce_id from;
};

VEC_DECLARE(lucce_past_nodes, struct lucce_past_node);
VEC_DECLARE(lucce_past_boundaries, struct lucce_past_boundary);

struct lucce_history {
	uint64_t first_version;
	uint64_t version; /* the last one */
	struct lucce_past_nodes nodes;
	struct lucce_edges edges; /* by number; next_in is not used */
	struct lucce_past_boundaries boundaries;
	struct lucce_values resets;
};

/* allocator: NULL for malloc; outlives all of it. first_version: that of the encoder's limits. */
struct error *lucce_history_init(struct lucce_history *h, const struct allocator *allocator, uint64_t first_version);
void lucce_history_deinit(struct lucce_history *h);

/* Adds the next event. ERROR_FORMAT when it cannot follow; the history is then as it was. Amortised O(1). */
struct error *lucce_history_add(struct lucce_history *h, const struct lucce_event *event);

/*
 * The calls that lead from the root to an activation of `node` with this id: appends the numbers of their edges to ret, outermost first.
 * ERROR_NOT_FOUND: the context was lost, or the log ends before its version. ERROR_FORMAT: it is none of that version.
 * ERROR_OVERFLOW: it has more than max_edges calls. ret is then as it was; it takes memory from its own allocator. Of each call
 * O(edges to the function x log of the changes).
 */
struct error *lucce_decode(const struct lucce_history *h, uint32_t node, struct lucce_id id, size_t max_edges,
			   struct callgraph_edges *ret);

#endif
