/*
 * allocator.h - where memory comes from: malloc, or what the caller hands in.
 *
 * For code that may run inside another program's process, where malloc may not be called. A NULL allocator is malloc.
 */
#ifndef WM_BASE_ALLOCATOR_H
#define WM_BASE_ALLOCATOR_H

#include <stddef.h>

/* Blocks are aligned for any type. The owner of the allocator calls the functions, from its thread. */
struct allocator {
	/* size_bytes is not 0. NULL when memory is short. */
	void *(*alloc)(void *state, size_t size_bytes);
	/* The block moved to where it has new_bytes, which is not 0; NULL when memory is short: the block is then as it was. block may
	 * be NULL; old_bytes is what it was asked for with. */
	void *(*resize)(void *state, void *block, size_t old_bytes, size_t new_bytes);
	/* block is not NULL. */
	void (*free)(void *state, void *block);
	void *state;
};

/* Room for count items. NULL when memory is short or the size overflows; never for no items with memory. */
void *allocator_alloc(const struct allocator *a, size_t count, size_t item_bytes);
/* Allocates zeroed memory. */
void *allocator_calloc(const struct allocator *a, size_t count, size_t item_bytes);
void *allocator_resize(const struct allocator *a, void *block, size_t old_bytes, size_t new_bytes);
/* block may be NULL. */
void allocator_free(const struct allocator *a, void *block);

#endif
