/*
 * order.h - what comparisons for qsort are made of: order_of(x->file, y->file) ?: order_of(x->line, y->line). Exchanged, the larger
 * comes first.
 */
#ifndef WM_BASE_ORDER_H
#define WM_BASE_ORDER_H

#include <stdint.h>

/* -1, 0, 1: a is below, the same as, above b. */
static inline int order_of(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif
