/*
 * cursor.c - bounds-checked little-endian reads.
 *
 * Every read goes through take(), which is the only place that compares a length with what is left.
 */
#include "base/cursor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void cursor_init(struct cursor *c, const void *start, size_t len_bytes, const char *name)
{
	static const uint8_t nothing[1];

	c->start = start ? start : nothing;
	c->len_bytes = start ? len_bytes : 0;
	c->off = 0;
	c->name = name;
}

size_t cursor_left(const struct cursor *c)
{
	return c->len_bytes - c->off;
}

static struct error *cursor_truncated(const struct cursor *c, size_t wanted_bytes)
{
	return cursor_error(c, "needs %zu bytes, has %zu: truncated or damaged", wanted_bytes, cursor_left(c));
}

static struct error *take(struct cursor *c, size_t len_bytes, const uint8_t **ret)
{
	if (len_bytes > cursor_left(c))
		return cursor_truncated(c, len_bytes);
	*ret = c->start + c->off;
	c->off += len_bytes;
	return NULL;
}

static uint64_t load_little_endian(const uint8_t *bytes, unsigned int len_bytes)
{
	uint64_t v = 0;

	while (len_bytes--)
		v = v << 8 | bytes[len_bytes];
	return v;
}

struct error *cursor_u8(struct cursor *c, uint8_t *ret)
{
	const uint8_t *bytes;
	struct error *err = take(c, 1, &bytes);

	if (!err)
		*ret = bytes[0];
	return err;
}

struct error *cursor_u32(struct cursor *c, uint32_t *ret)
{
	const uint8_t *bytes;
	struct error *err = take(c, 4, &bytes);

	if (!err)
		*ret = (uint32_t)load_little_endian(bytes, 4);
	return err;
}

struct error *cursor_u64(struct cursor *c, uint64_t *ret)
{
	const uint8_t *bytes;
	struct error *err = take(c, 8, &bytes);

	if (!err)
		*ret = load_little_endian(bytes, 8);
	return err;
}

/* Padding (0x80 ... 0x00) up to ten bytes is accepted, bits past max are not. */
static struct error *uleb(struct cursor *c, uint64_t max, uint64_t *ret)
{
	size_t off = c->off;
	unsigned int shift = 0;
	uint64_t v = 0;

	for (;;) {
		uint64_t bits;
		uint8_t byte;

		if (off == c->len_bytes)
			return cursor_error(c, "number runs past the end: truncated or damaged");
		byte = c->start[off++];
		bits = byte & 0x7f;
		if (shift >= 64 || (bits << shift) >> shift != bits)
			return cursor_error(c, "number does not fit 64 bits");
		v |= bits << shift;
		if (!(byte & 0x80))
			break;
		shift += 7;
	}
	if (v > max)
		return cursor_error(c, "number %llu does not fit 32 bits", (unsigned long long)v);
	c->off = off;
	*ret = v;
	return NULL;
}

struct error *cursor_uleb128(struct cursor *c, uint64_t *ret)
{
	return uleb(c, UINT64_MAX, ret);
}

struct error *cursor_uleb32(struct cursor *c, uint32_t *ret)
{
	uint64_t v;
	struct error *err = uleb(c, UINT32_MAX, &v);

	if (!err)
		*ret = (uint32_t)v;
	return err;
}

struct error *cursor_bytes(struct cursor *c, size_t len_bytes, const uint8_t **ret)
{
	return take(c, len_bytes, ret);
}

struct error *cursor_skip(struct cursor *c, size_t len_bytes)
{
	const uint8_t *bytes;

	return take(c, len_bytes, &bytes);
}

struct error *cursor_seek(struct cursor *c, size_t off)
{
	if (off > c->len_bytes)
		return cursor_error(c, "refers to offset 0x%zx, past the end at 0x%zx: truncated or damaged", off,
				    c->len_bytes);
	c->off = off;
	return NULL;
}

struct error *cursor_error(const struct cursor *c, const char *format, ...)
{
	struct error *err;
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!text)
		return &error_no_memory;
	err = error_create(ERROR_FORMAT, "%s: offset 0x%zx: %s", c->name, c->off, text);
	free(text);
	return err;
}
