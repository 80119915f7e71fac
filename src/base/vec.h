/*
 * vec.h - growing arrays, and a growing byte buffer for writers. The owner deinits. Not thread-safe.
 */
#ifndef WM_BASE_VEC_H
#define WM_BASE_VEC_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/allocator.h"
#include "base/error.h"

/*
 * The array moved to where it has room for `needed` (> 0) items; grows by half at least. NULL when memory is short or the
 * size overflows: the array and *capacity are then as they were. The pointer is taken and returned by value, so that no
 * `T *` is accessed as a `void *`.
 */
void *vec_grow(void *items, size_t *capacity, size_t needed, size_t item_bytes);
void *vec_grow_in(const struct allocator *allocator, void *items, size_t *capacity, size_t needed, size_t item_bytes);
void vec_free(void *items);

/* Declares `struct NAME { TYPE *items; size_t count, capacity; … }` with NAME_reserve(), NAME_append() and NAME_deinit().
 * All zero is an empty one of malloc's memory. */
#define VEC_DECLARE(name, type)                                                                                \
	struct name {                                                                                          \
		type *items;                                                                                   \
		size_t count;                                                                                  \
		size_t capacity;                                                                               \
		const struct allocator *allocator;                                                             \
	};                                                                                                     \
	__attribute__((unused)) static inline struct error *name##_reserve(struct name *v, size_t needed)      \
	{                                                                                                      \
		if (needed > v->capacity) {                                                                    \
			type *grown = vec_grow_in(v->allocator, v->items, &v->capacity, needed, sizeof(type)); \
                                                                                                               \
			if (!grown)                                                                            \
				return &error_no_memory;                                                       \
			v->items = grown;                                                                      \
		}                                                                                              \
		return NULL;                                                                                   \
	}                                                                                                      \
	__attribute__((unused)) static inline struct error *name##_append(struct name *v, type item)           \
	{                                                                                                      \
		if (v->count == v->capacity) {                                                                 \
			struct error *err = name##_reserve(v, v->count + 1);                                   \
                                                                                                               \
			if (err)                                                                               \
				return err;                                                                    \
		}                                                                                              \
		assert(v->items);                                                                              \
		v->items[v->count++] = item;                                                                   \
		return NULL;                                                                                   \
	}                                                                                                      \
	__attribute__((unused)) static inline void name##_deinit(struct name *v)                               \
	{                                                                                                      \
		allocator_free(v->allocator, v->items);                                                        \
		*v = (struct name){.allocator = v->allocator};                                                 \
	}                                                                                                      \
	struct name

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
/* Overwrites, little-endian; off + len_bytes <= len_bytes of the buffer. */
void buffer_put(struct buffer *b, size_t off, uint64_t v, size_t len_bytes);
static inline void buffer_put_u32(struct buffer *b, size_t off, uint32_t v)
{
	buffer_put(b, off, v, sizeof v);
}
struct error *buffer_error(const struct buffer *b);

#endif
