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

#endif
