/*
 * arena.c - bump allocation from a list of zeroed blocks.
 *
 * Blocks double from 4 KiB to 1 MiB; what is larger than a quarter of the next block gets a block of its own, so that the
 * room left in the current one is not lost. Nothing is freed before arena_deinit.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ALIGNMENT = 16,
	FIRST_BLOCK_BYTES = 4096,
	LAST_BLOCK_BYTES = 1 << 20,
};

struct arena_block {
	struct arena_block *previous;
	size_t capacity_bytes;
	size_t used_bytes;
	alignas(ALIGNMENT) unsigned char bytes[];
};

static_assert(alignof(max_align_t) >= ALIGNMENT, "calloc's blocks must be aligned enough");

void arena_init(struct arena *arena)
{
	*arena = (struct arena){0};
}

void arena_deinit(struct arena *arena)
{
	struct arena_block *block = arena->last;

	while (block) {
		struct arena_block *previous = block->previous;

		free(block);
		block = previous;
	}
	*arena = (struct arena){0};
}

static struct arena_block *block_create(size_t capacity_bytes)
{
	struct arena_block *block = calloc(1, sizeof(*block) + capacity_bytes);

	if (block)
		block->capacity_bytes = capacity_bytes;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
	struct arena_block *last = arena->last;
	struct arena_block *block;
	size_t rounded, next_bytes;

	if (size_bytes > SIZE_MAX - sizeof(*block) - ALIGNMENT)
		return NULL;
	/* Even an empty allocation is a distinct pointer. */
	rounded = size_bytes ? (size_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1) : ALIGNMENT;
	if (!last || last->capacity_bytes - last->used_bytes < rounded) {
		next_bytes = !last ? FIRST_BLOCK_BYTES : last->capacity_bytes * 2;
		if (next_bytes > LAST_BLOCK_BYTES)
			next_bytes = LAST_BLOCK_BYTES;
		block = block_create(rounded > next_bytes / 4 ? rounded : next_bytes);
		if (!block)
			return NULL;
		if (last && rounded > next_bytes / 4) {
			/* Full from the start: goes below the current block. */
			block->previous = last->previous;
			last->previous = block;
		} else {
			block->previous = last;
			arena->last = block;
		}
		last = block;
	}
	last->used_bytes += rounded;
	arena->used_bytes += size_bytes;
	return last->bytes + last->used_bytes - rounded;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size_bytes)
{
	size_t total_bytes;

	if (__builtin_mul_overflow(count, size_bytes, &total_bytes))
		return NULL;
	return arena_alloc(arena, total_bytes);
}

void *arena_copy(struct arena *arena, const void *items, size_t count, size_t size_bytes)
{
	void *copy = arena_calloc(arena, count, size_bytes);

	if (copy && count)
		memcpy(copy, items, count * size_bytes);
	return copy;
}

char *arena_strndup(struct arena *arena, const char *text, size_t len_bytes)
{
	char *copy;

	if (len_bytes == SIZE_MAX)
		return NULL;
	copy = arena_alloc(arena, len_bytes + 1);
	if (copy && len_bytes)
		memcpy(copy, text, len_bytes);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
	va_list again;
	char *text;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = len < 0 ? NULL : arena_alloc(arena, (size_t)len + 1);
	if (text)
		vsnprintf(text, (size_t)len + 1, format, args);
	return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}
