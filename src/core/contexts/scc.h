/*
 * scc.h - strongly connected components of a call graph (Tarjan 1972). Internal to src/core.
 */
#ifndef WM_CORE_CONTEXTS_SCC_H
#define WM_CORE_CONTEXTS_SCC_H

#include "core/contexts/adjacency.h"

/* Component c is members[start[c]] .. members[start[c + 1] - 1]. Components come callees first: an edge that leaves
 * component c goes to a smaller one. */
struct scc {
	uint32_t *component; /* of each node */
	uint32_t *members;
	uint32_t *start;
	uint32_t count;
	const struct allocator *allocator;
};

struct error *scc_find(const struct callgraph *g, const struct adjacency *out, struct scc *ret);
void scc_deinit(struct scc *scc);

#endif
