/*
 * cursor.h - the one way untrusted bytes are read: bounds-checked, little-endian, checked arithmetic.
 *
 * A cursor is a view; it owns nothing. A read that fails returns an ERROR_FORMAT that names the file, the section and the
 * offset, and does not move the cursor nor write its out-parameter.
 */
#ifndef WM_BASE_CURSOR_H
#define WM_BASE_CURSOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cursor {
	const uint8_t *start;
	size_t len_bytes;
	size_t off;
	const char *name; /* what is read, for messages: "lua.wmk", "lua: .debug_waymark"; outlives the cursor */
};

void cursor_init(struct cursor *c, const void *start, size_t len_bytes, const char *name);
size_t cursor_left(const struct cursor *c);
struct error *cursor_u8(struct cursor *c, uint8_t *ret);
struct error *cursor_u32(struct cursor *c, uint32_t *ret);
struct error *cursor_u64(struct cursor *c, uint64_t *ret);
struct error *cursor_uleb128(struct cursor *c, uint64_t *ret); /* refuses what does not fit 64 bits */
struct error *cursor_uleb32(struct cursor *c, uint32_t *ret);  /* refuses what does not fit 32 bits */
struct error *cursor_bytes(struct cursor *c, size_t len_bytes, const uint8_t **ret); /* a view into start */
struct error *cursor_skip(struct cursor *c, size_t len_bytes);
struct error *cursor_seek(struct cursor *c, size_t off);
/* An ERROR_FORMAT at the present offset: "NAME: offset 0x1f: <text>". */
struct error *cursor_error(const struct cursor *c, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

#endif
