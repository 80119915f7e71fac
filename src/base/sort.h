/*
 * sort.h - sorting that allocates nothing: qsort of the C library calls malloc.
 */
#ifndef WM_BASE_SORT_H
#define WM_BASE_SORT_H

#include <stddef.h>
#include <string.h>

enum {
	SORT_RUN = 16, /* runs this long are sorted by insertion */
};

/*
 * Declares NAME_sort(TYPE *items, size_t count, TYPE *scratch), which sorts by compare(const TYPE *, const TYPE *). Stable; a merge
 * sort from below, O(n log n), which goes over what is sorted already once. scratch has room for count items; of up to SORT_RUN
 * items it is not used.
 */
#define SORT_DECLARE(name, type, compare)                                                                           \
	static inline void name##_sort_run(type *items, size_t count)                                               \
	{                                                                                                           \
		for (size_t i = 1; i < count; i++) {                                                                \
			type item = items[i];                                                                       \
			size_t at = i;                                                                              \
                                                                                                                    \
			for (; at > 0 && compare(&item, &items[at - 1]) < 0; at--)                                  \
				items[at] = items[at - 1];                                                          \
			items[at] = item;                                                                           \
		}                                                                                                   \
	}                                                                                                           \
	/* Two sorted runs, of `left` and of `count - left` items. */                                               \
	static inline void name##_merge(const type *from, size_t left, size_t count, type *to)                      \
	{                                                                                                           \
		size_t l = 0, r = left;                                                                             \
                                                                                                                    \
		if (left >= count || compare(&from[left - 1], &from[left]) <= 0) {                                  \
			memcpy(to, from, count * sizeof(type));                                                     \
			return;                                                                                     \
		}                                                                                                   \
		while (l < left && r < count)                                                                       \
			*to++ = compare(&from[l], &from[r]) <= 0 ? from[l++] : from[r++];                           \
		memcpy(to, from + l, (left - l) * sizeof(type));                                                    \
		memcpy(to + (left - l), from + r, (count - r) * sizeof(type));                                      \
	}                                                                                                           \
	__attribute__((unused)) static void name##_sort(type *items, size_t count, type *scratch)                   \
	{                                                                                                           \
		type *from = items, *to = scratch;                                                                  \
                                                                                                                    \
		for (size_t at = 0; at < count; at += SORT_RUN)                                                     \
			name##_sort_run(items + at, count - at < SORT_RUN ? count - at : SORT_RUN);                 \
		for (size_t run = SORT_RUN; run < count; run *= 2) {                                                \
			type *merged = to;                                                                          \
                                                                                                                    \
			for (size_t at = 0; at < count; at += 2 * run)                                              \
				name##_merge(from + at, run, count - at < 2 * run ? count - at : 2 * run, to + at); \
			to = from;                                                                                  \
			from = merged;                                                                              \
		}                                                                                                   \
		if (from != items)                                                                                  \
			memcpy(items, from, count * sizeof(type));                                                  \
	}                                                                                                           \
	struct name

#endif
