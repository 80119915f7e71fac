/*
 * vec.h - growing arrays, and a growing byte buffer for writers. malloc'd; the owner deinits. Not thread-safe.
 */
#ifndef WM_BASE_VEC_H
#define WM_BASE_VEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Makes room for one more element in a {items, count, capacity} triple; grows by half. */
struct error *vec_reserve(void **items, size_t *capacity, size_t needed, size_t item_bytes);

/* Declares `struct NAME { TYPE *items; size_t count, capacity; }` with NAME_append() and NAME_deinit(). */
#define VEC_DECLARE(name, type)                                                                                        \
	struct name {                                                                                                  \
		type *items;                                                                                           \
		size_t count;                                                                                          \
		size_t capacity;                                                                                       \
	};                                                                                                             \
	static inline struct error *name##_append(struct name *v, type item)                                           \
	{                                                                                                              \
		if (v->count == v->capacity) {                                                                         \
			struct error *err =                                                                            \
				vec_reserve((void **)&v->items, &v->capacity, v->count + 1, sizeof(type));             \
			if (err)                                                                                       \
				return err;                                                                            \
		}                                                                                                      \
		v->items[v->count++] = item;                                                                           \
		return NULL;                                                                                           \
	}                                                                                                              \
	static inline void name##_deinit(struct name *v)                                                               \
	{                                                                                                              \
		vec_free(v->items);                                                                                    \
		*v = (struct name){0};                                                                                 \
	}                                                                                                              \
	struct name

void vec_free(void *items);

/* Little-endian writer. A failed append (no memory) is remembered: check once with buffer_error at the end. */
struct buffer {
	uint8_t *bytes;
	size_t len_bytes;
	size_t capacity;
	int failed;
};
void buffer_deinit(struct buffer *b);
void buffer_u8(struct buffer *b, uint8_t v);
void buffer_u16(struct buffer *b, uint16_t v);
void buffer_u32(struct buffer *b, uint32_t v);
void buffer_u64(struct buffer *b, uint64_t v);
void buffer_uleb128(struct buffer *b, uint64_t v);
void buffer_bytes(struct buffer *b, const void *bytes, size_t len_bytes);
void buffer_printf(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_put_u32(struct buffer *b, size_t off, uint32_t v); /* overwrites; off + 4 <= len_bytes */
void buffer_put_u64(struct buffer *b, size_t off, uint64_t v);
struct error *buffer_error(const struct buffer *b);

#endif
