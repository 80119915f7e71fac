/*
 * activity_must.h - from nodes that ran to those that must have run before them. Internal to src/core.
 */
#ifndef WM_CORE_ACTIVITY_ACTIVITY_MUST_H
#define WM_CORE_ACTIVITY_ACTIVITY_MUST_H

#include "core/activity/activity.h"
#include "core/paths/dominators.h"

/* One function. nodes and edges: what may have run is not ACTIVITY_NO; the dominators are those of that graph. */
struct must {
	const struct cfg *g;
	uint8_t *nodes;
	uint8_t *edges;
	uint8_t *passed; /* as bool: control has gone on from the node */
	struct dominators dominators;
};

/* `node` ran: so did its dominators, and control went on from each. Calls passed(data, d) for each d newly passed.
 * Stops at the first that was passed before: what dominates that one was, too. */
void must_climb(const struct must *m, uint32_t node, void (*passed)(void *data, uint32_t node), void *data);

/* The last node on all ways to the nodes with all of `mask` in their flags; DOMINATORS_NONE: there are none. */
uint32_t must_common(const struct must *m, const uint8_t *flags, uint8_t mask);

/* Marks edges that were taken. After all nodes are known. only: [node_count], scratch. */
void must_edges(const struct must *m, uint32_t *only, uint64_t *steps);

#endif
