/*
 * order.h - what comparisons for qsort are made of: compare_u64(x->file, y->file) ?: compare_u64(x->line, y->line). Exchanged, the larger
 * comes first. And searching among what is sorted.
 */
#ifndef WM_BASE_ORDER_H
#define WM_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* -1, 0, 1: a is below, the same as, above b. */
static inline int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static inline size_t count_up_to(const void *items, size_t item_bytes, size_t key_off, size_t key_bytes, size_t count,
				 uint64_t key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *at = (const char *)items + middle * item_bytes + key_off;

		if ((key_bytes == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at) <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many of the items, which rise by `member`, a uint64_t or uint32_t, have it at or below the key. */
#define COUNT_UP_TO(items, count, member, key) \
	count_up_to(items, sizeof *(items), offsetof(__typeof__(*(items)), member), sizeof(items)->member, count, key)
/* How many have it below the key. */
#define COUNT_BELOW(items, count, member, key) ((key) ? COUNT_UP_TO(items, count, member, (key) - 1) : 0)

#endif
