/*
 * dominators.h - the dominator tree of a part of a control-flow graph. Internal to src/core.
 */
#ifndef WM_CORE_PATHS_DOMINATORS_H
#define WM_CORE_PATHS_DOMINATORS_H

#include "core/paths/cfg.h"

#define DOMINATORS_NONE UINT32_MAX

/* Arrays [node_count], the caller's. */
struct dominators {
	uint32_t *idom;  /* DOMINATORS_NONE: of the entry, and of nodes that are not reached */
	uint32_t *first; /* in preorder of the tree */
	uint32_t *size;  /* of the subtree; 0: not reached */
};

/* Finds the dominators over the edges with is_edge[e] != 0, from node 0. Adds what it took to *steps. */
struct error *dominators_find(const struct cfg *g, const uint8_t *is_edge, const struct dominators *ret,
			      uint64_t *steps);

/* a dominates b, which was reached; a node dominates itself. */
static inline bool dominators_is(const struct dominators *d, uint32_t a, uint32_t b)
{
	return d->first[b] - d->first[a] < d->size[a];
}

#endif
