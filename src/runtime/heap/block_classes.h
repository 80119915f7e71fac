/*
 * block_classes.h - the classes of sizes and life times that the records of the heap distinguish (struct wmk_heap).
 *
 * The clock of life times counts the allocations of the process: it costs one addition, a tenth of what the time would, and the same run gives the
 * same numbers again.
 */
#ifndef WM_RUNTIME_HEAP_BLOCK_CLASSES_H
#define WM_RUNTIME_HEAP_BLOCK_CLASSES_H

#include <stdint.h>

#include "waymark/wmk.h"

static inline uint32_t size_class_of(uint64_t size_bytes)
{
	return 63 - (uint32_t)__builtin_clzll(size_bytes | 1);
}

static inline uint32_t life_class_of(uint64_t age)
{
	uint32_t life = (65 - (uint32_t)__builtin_clzll(age | 1)) / 2;

	/* 1 for an age of 1, and for 0, which has a class of its own. */
	life -= !age;
	return life < WMK_LIVES ? life : WMK_LIVES - 1;
}

#endif
