/*
 * vec.c - growth of arrays, and the byte buffer that writers append to.
 */
#include "base/vec.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_CAPACITY = 8,
};

void *vec_grow(void *items, size_t *capacity, size_t needed, size_t item_bytes)
{
	return vec_grow_in(NULL, items, capacity, needed, item_bytes);
}

void *vec_grow_in(const struct allocator *allocator, void *items, size_t *capacity, size_t needed, size_t item_bytes)
{
	size_t grown, total_bytes;

	/* No overflow: *capacity items exist in memory. */
	grown = *capacity + *capacity / 2;
	if (grown < FIRST_CAPACITY)
		grown = FIRST_CAPACITY;
	if (grown < needed)
		grown = needed;
	if (__builtin_mul_overflow(grown, item_bytes, &total_bytes))
		return NULL;
	items = allocator_resize(allocator, items, *capacity * item_bytes, total_bytes);
	if (items)
		*capacity = grown;
	return items;
}

void vec_free(void *items)
{
	free(items);
}

void buffer_deinit(struct buffer *b)
{
	free(b->bytes);
	*b = (struct buffer){0};
}

/* Room for len_bytes more at the end, or NULL and the buffer has failed. Does not change len_bytes. */
static uint8_t *buffer_room(struct buffer *b, size_t len_bytes)
{
	size_t needed;
	uint8_t *grown;

	if (b->failed)
		return NULL;
	if (__builtin_add_overflow(b->len_bytes, len_bytes, &needed)) {
		b->failed = 1;
		return NULL;
	}
	if (needed > b->capacity) {
		grown = vec_grow(b->bytes, &b->capacity, needed, 1);
		if (!grown) {
			b->failed = 1;
			return NULL;
		}
		b->bytes = grown;
	}
	return b->bytes + b->len_bytes;
}

static void store_little_endian(uint8_t *bytes, uint64_t v, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i++, v >>= 8)
		bytes[i] = (uint8_t)v;
}

static void buffer_integer(struct buffer *b, uint64_t v, unsigned int len_bytes)
{
	uint8_t *at = buffer_room(b, len_bytes);

	if (!at)
		return;
	store_little_endian(at, v, len_bytes);
	b->len_bytes += len_bytes;
}

void buffer_u8(struct buffer *b, uint8_t v)
{
	buffer_integer(b, v, 1);
}

void buffer_u16(struct buffer *b, uint16_t v)
{
	buffer_integer(b, v, 2);
}

void buffer_u32(struct buffer *b, uint32_t v)
{
	buffer_integer(b, v, 4);
}

void buffer_u64(struct buffer *b, uint64_t v)
{
	buffer_integer(b, v, 8);
}

void buffer_uleb128(struct buffer *b, uint64_t v)
{
	while (v >= 0x80) {
		buffer_u8(b, (uint8_t)(v | 0x80));
		v >>= 7;
	}
	buffer_u8(b, (uint8_t)v);
}

void buffer_bytes(struct buffer *b, const void *bytes, size_t len_bytes)
{
	uint8_t *at;

	if (!len_bytes)
		return;
	at = buffer_room(b, len_bytes);
	if (!at)
		return;
	memcpy(at, bytes, len_bytes);
	b->len_bytes += len_bytes;
}

void buffer_printf(struct buffer *b, const char *format, ...)
{
	va_list args;
	uint8_t *at;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0) {
		b->failed = 1;
		return;
	}
	at = buffer_room(b, (size_t)len + 1);
	if (!at)
		return;
	va_start(args, format);
	vsnprintf((char *)at, (size_t)len + 1, format, args);
	va_end(args);
	b->len_bytes += (size_t)len; /* without the NUL */
}

void buffer_put(struct buffer *b, size_t off, uint64_t v, size_t len_bytes)
{
	if (b->failed)
		return;
	assert(off <= b->len_bytes && b->len_bytes - off >= len_bytes);
	store_little_endian(b->bytes + off, v, len_bytes);
}

struct error *buffer_error(const struct buffer *b)
{
	return b->failed ? &error_no_memory : NULL;
}
