/*
 * control.h - on which branches a block depends: whether it runs is decided there (Ferrante, Ottenstein and Warren, TOPLAS 1987, section 3.1).
 *
 * A function is also left where it ends the process or throws. So what follows a call that may not return in the same function depends on the
 * branches around that call.
 */
#ifndef WM_ANALYZE_CONTROL_H
#define WM_ANALYZE_CONTROL_H

#include "analyze/code.h"

struct control {
	uint32_t first_block;
	uint32_t *first;    /* [block_count + 1] in `deciders`, of blocks less first_block */
	uint32_t *deciders; /* blocks whose terminator decides */
	struct arena arena;
};

struct error *control_find(const struct code *c, uint32_t function, struct control *ret);
void control_deinit(struct control *control);

/* Those of all functions, each found when it is first asked for. */
struct controls {
	const struct code *code;
	struct control *of; /* [function] */
	bool *is_found;     /* [function] */
};
struct error *controls_init(const struct code *c, struct controls *ret);
void controls_deinit(struct controls *controls);
/* The blocks that decide whether a block runs: *ret_first[0] to [*ret_count - 1]. */
struct error *controls_of(struct controls *controls, uint32_t block, const uint32_t **ret_first, uint32_t *ret_count);
/* The terminator of a block. */
static inline uint32_t control_branch(const struct code *c, uint32_t block)
{
	return c->blocks[block].first_instruction + c->blocks[block].instruction_count - 1;
}

#endif
