/*
 * prefix_below.h - what captures and pushes stand on, by prefix, for readers that resolve each prefix once and those below it first: all that a
 * context needs of the pushes below, which context_decode finds on its way up.
 */
#ifndef WM_MODEL_CONTEXTS_PREFIX_BELOW_H
#define WM_MODEL_CONTEXTS_PREFIX_BELOW_H

#include "model/contexts/context.h"

struct prefix_below {
	const struct process *process;
	struct context_history *
		histories; /* by place in the file (wmk_node_place), xor context_history_none: most pages are never touched */
};

/* process outlives it, and has a recording. */
struct error *prefix_below_init(struct prefix_below *b, const struct process *process);
void prefix_below_deinit(struct prefix_below *b);
/* The prefix is reserved, or prefix_below_keep was called for it. ERROR_FORMAT, ERROR_NOT_FOUND where there is no such prefix. */
struct error *prefix_below_get(const struct prefix_below *b, uint32_t prefix, struct context_below *ret);
/* What stands on the prefix has that history. */
void prefix_below_keep(struct prefix_below *b, uint32_t prefix, struct context_history history);

#endif
