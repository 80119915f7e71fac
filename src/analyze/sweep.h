/*
 * sweep.h - in which order an analysis goes through blocks, until none has anything new: in sweeps over all code.
 *
 * In a sweep a function comes before those that call it, so that what it has to say is known where they go on; of a function the first block comes
 * first, or the last one, as facts go. What a block brings to those that the sweep has passed waits for the next one, in which they have all of it at
 * once: what several calls bring to a function, and the way around a loop. This is the order of iterative data-flow analysis (Hecht and Ullman, SIAM
 * Journal on Computing 4(4), 1975), with those blocks left out for which there is nothing new. Going back at once, a slice of perl goes through 16
 * times as many blocks.
 *
 * Memory is malloc's; the owner deinits. Not thread-safe.
 */
#ifndef WM_ANALYZE_SWEEP_H
#define WM_ANALYZE_SWEEP_H

#include "analyze/call_order.h"
#include "base/vec.h"

VEC_DECLARE(turn_vec, uint64_t);

struct sweep {
	uint32_t *order;    /* [block] the highest one comes first */
	uint32_t *in_order; /* [order] block */
	/* Turns: a block's order, then the context, a number of the caller's. */
	struct turn_vec now;   /* a heap */
	struct turn_vec later; /* for the next sweep */
	uint64_t turn;         /* that the sweep is at */
};

/* Nothing waits yet. On failure ret can be deinited. */
struct error *sweep_init(const struct code *c, const struct call_order *calls, bool is_forward, struct sweep *ret);
void sweep_deinit(struct sweep *s);

/* The caller sees to it that each waits once. */
struct error *sweep_push(struct sweep *s, uint32_t block, uint32_t context);
bool sweep_is_done(const struct sweep *s);
/* The next one, unless it is done. */
struct error *sweep_pop(struct sweep *s, uint32_t *ret_block, uint32_t *ret_context);

#endif
