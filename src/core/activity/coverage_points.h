/*
 * coverage_points.h - which coverage points of an activation need memory of their own. Of the others the place where control is
 * tells, or another point behind them:
 *
 *        0: a()            a  needs none: control behind 0 has called it
 *       / \                b  needs one: in 3 nobody knows otherwise
 *      1   2: b()          c  needs none: the function ends behind it, and before that control is in 3 behind c
 *       \ /
 *        3: c()
 *
 * A point needs it iff control can come from its node, with no other point on the way, to a node that it does not dominate.
 * Then an activation has reached a point iff one that it dominates and that has memory says so, or the last point that
 * control passed is itself or one that it dominates. Exact: where control leaves what a point dominates, it passes one with memory.
 * (That fewer points suffice is Agrawal's: "Dominators, super blocks, and program coverage", POPL'94.)
 */
#ifndef WM_CORE_ACTIVITY_COVERAGE_POINTS_H
#define WM_CORE_ACTIVITY_COVERAGE_POINTS_H

#include "base/arena.h"
#include "core/activity/activity.h"
#include "core/paths/dominators.h"

#define OWN_POINT_NONE UINT32_MAX

struct coverage_points {
	const uint32_t *nodes; /* [count], borrowed */
	uint32_t count;
	uint32_t *places; /* [count]: which of those with memory it is, OWN_POINT_NONE without */
	uint32_t kept_count;
	uint32_t node_count;
	struct dominators dominators;
};

/*
 * nodes[i]: of point i, rising, and points of a node in their order; with each an activation comes by, unless it leaves the node's
 * code for good. is_first: points stand before all else in their nodes (blocks), else anywhere (calls). Linear but for the dominators.
 * ret: the arena's.
 */
struct error *coverage_points_find(const struct cfg *g, const uint32_t *nodes, uint32_t count, bool is_first,
				   struct arena *arena, struct coverage_points *ret);

/*
 * used[count]: of each point enum activity_point, whether the activation has reached it. kept[kept_count]: the same of those with
 * memory, as it says. last[last_count]: control has passed one of these last, or none at all (may_be_none); what contradicts the memory is
 * left out. POINT_UNKNOWN where memory is damaged, or where what is left does not agree.
 */
struct error *coverage_points_expand(const struct coverage_points *o, const uint8_t *kept, const uint32_t *last,
				     uint32_t last_count, bool may_be_none, uint8_t *used);

#endif
