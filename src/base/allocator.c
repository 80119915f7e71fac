/*
 * allocator.c - calls of an allocator, or of malloc when there is none.
 */
#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

/* 0 when it overflows. */
static size_t size_of(size_t count, size_t item_bytes)
{
	size_t total_bytes;

	if (__builtin_mul_overflow(count, item_bytes, &total_bytes))
		return 0;
	return total_bytes ? total_bytes : 1;
}

void *allocator_alloc(const struct allocator *a, size_t count, size_t item_bytes)
{
	size_t total_bytes = size_of(count, item_bytes);

	if (!total_bytes)
		return NULL;
	return a ? a->alloc(a->state, total_bytes) : malloc(total_bytes);
}

void *allocator_calloc(const struct allocator *a, size_t count, size_t item_bytes)
{
	size_t total_bytes = size_of(count, item_bytes);
	void *block;

	if (!total_bytes)
		return NULL;
	if (!a)
		return calloc(1, total_bytes);
	block = a->alloc(a->state, total_bytes);
	return block ? memset(block, 0, total_bytes) : NULL;
}

void *allocator_resize(const struct allocator *a, void *block, size_t old_bytes, size_t new_bytes)
{
	return a ? a->resize(a->state, block, old_bytes, new_bytes) : realloc(block, new_bytes);
}

void allocator_free(const struct allocator *a, void *block)
{
	if (!a)
		free(block);
	else if (block)
		a->free(a->state, block);
}
