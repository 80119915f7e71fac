/*
 * heap_memo.h - records of the last calls of the allocator by what their contexts are a function of, so that a context is not looked up again.
 *
 * One table for all threads. An entry has a version, odd while it is written; a thread or handler that meets that goes without.
 */
#ifndef WM_RUNTIME_HEAP_HEAP_MEMO_H
#define WM_RUNTIME_HEAP_HEAP_MEMO_H

#include <stdbool.h>
#include <stdint.h>

/* What the context of a call is a function of. */
struct heap_point {
	uint64_t call; /* return address, and which function was called */
	uint64_t id;
	uint32_t prefix;
	uint32_t epoch;
	uint32_t generation; /* of what is known by addresses */
	uint32_t size_class; /* of the block: its record is one of the context's */
};

/* False: it is not there. */
bool heap_memo_find(const struct heap_point *point, uint32_t *ret);
void heap_memo_set(const struct heap_point *point, uint32_t record);
/* Forgets all. Nobody uses it meanwhile. */
void heap_memo_clear(void);

#endif
