/*
 * order.h - what comparisons for qsort are made of: compare_u64(x->file, y->file) ?: compare_u64(x->line, y->line). Exchanged, the larger
 * comes first.
 */
#ifndef WM_BASE_ORDER_H
#define WM_BASE_ORDER_H

#include <stdint.h>

/* -1, 0, 1: a is below, the same as, above b. */
static inline int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif
