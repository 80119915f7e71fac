/*
 * call_order.h - the functions of the code, callees before callers, and the cycles of calls among them (Tarjan, SIAM Journal on Computing 1972).
 *
 * Sums over all that a function calls are made in this order with one visit of each call.
 */
#ifndef WM_ANALYZE_CALL_ORDER_H
#define WM_ANALYZE_CALL_ORDER_H

#include "analyze/memory.h"

struct call_order {
	uint32_t function_count;
	uint32_t *functions; /* by component; within a component depth-first, callees first */
	uint32_t *component; /* [function] functions that can call each other have one; callees' components have lower numbers */
	bool *is_recursive; /* [function] it can call itself, perhaps through others */
};

/* The owner deinits. On failure ret is empty. */
struct error *call_order_find(const struct memory *m, struct call_order *ret);
void call_order_deinit(struct call_order *o);

/* sums: [function] what a function has of its own; becomes what it and all that it calls have. */
struct error *call_order_sum(const struct call_order *o, const struct memory *m, struct id_set *sums);

#endif
