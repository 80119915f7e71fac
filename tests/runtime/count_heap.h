/* count_heap.h - what count_heap.c counts, as it lies in the file COUNT_HEAP. */
#ifndef WM_TESTS_RUNTIME_COUNT_HEAP_H
#define WM_TESTS_RUNTIME_COUNT_HEAP_H

#include <stdint.h>

struct heap_totals {
	uint64_t count;
	uint64_t bytes;
	uint64_t freed_count;
	uint64_t freed_bytes;
	uint64_t live;
	uint64_t peak;
	uint64_t unknown;
};

#endif
