/*
 * sum.h - sums that stay at the largest number.
 */
#ifndef WM_BASE_SUM_H
#define WM_BASE_SUM_H

#include <stdint.h>

/* a + b, or the largest number. */
static inline uint64_t sum_limited(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
