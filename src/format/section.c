/*
 * section.c - the frame around metadata: header, checksum, zstd. What is announced is checked against what is there before
 * memory is asked for.
 */
#include "base/hash.h"
#include "format/section.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

enum {
	ZSTD_LEVEL = 9, /* measured: close to the best size, some tens of MB/s */
};

static struct error *append_frame(const struct section_kind *kind, const struct buffer *raw, uint64_t key,
				  struct buffer *out)
{
	size_t bound = ZSTD_compressBound(raw->len_bytes);
	uint8_t *body = malloc(bound);
	size_t body_bytes;
	struct error *err;

	if (!body)
		return &error_no_memory;
	body_bytes = ZSTD_compress(body, bound, raw->bytes, raw->len_bytes, ZSTD_LEVEL);
	if (ZSTD_isError(body_bytes)) {
		err = error_create(ERROR_NO_MEMORY, "metadata: zstd: %s", ZSTD_getErrorName(body_bytes));
		free(body);
		return err;
	}
	buffer_bytes(out, kind->magic, sizeof kind->magic);
	buffer_u32(out, kind->version);
	buffer_u32(out, SECTION_COMPRESSION_ZSTD);
	buffer_u64(out, key);
	buffer_u64(out, body_bytes);
	buffer_u64(out, raw->len_bytes);
	buffer_u64(out, 0);
	buffer_bytes(out, body, body_bytes);
	free(body);
	return buffer_error(out);
}

struct error *section_write(const struct section_kind *kind, const struct buffer *raw, uint64_t *ret_key,
			    struct buffer *out)
{
	uint64_t key = hash_bytes(HASH_START, raw->bytes, raw->len_bytes);
	struct error *err;

	if (raw->len_bytes > SECTION_RAW_MAX)
		return error_create(ERROR_OVERFLOW, "metadata: %zu bytes of tables, at most %d are possible",
				    raw->len_bytes, SECTION_RAW_MAX);
	err = append_frame(kind, raw, key, out);
	if (!err)
		*ret_key = key;
	return err;
}

struct header {
	uint64_t key;
	uint64_t body_bytes;
	uint64_t raw_bytes;
};

static struct error *read_sizes(struct cursor *c, struct header *h)
{
	uint32_t compression;
	struct error *err = cursor_u32(c, &compression);

	if (!err && compression != SECTION_COMPRESSION_ZSTD)
		err = cursor_error(c, "unknown compression %" PRIu32 ": written by another Waymark", compression);
	if (!err)
		err = cursor_u64(c, &h->key);
	if (!err)
		err = cursor_u64(c, &h->body_bytes);
	if (!err)
		err = cursor_u64(c, &h->raw_bytes);
	if (!err)
		err = cursor_skip(c, 8);
	if (!err && h->body_bytes > cursor_left(c))
		err = cursor_error(c, "truncated: %" PRIu64 " bytes are announced, %zu are there", h->body_bytes,
				   cursor_left(c));
	if (!err && (h->raw_bytes > SECTION_RAW_MAX || h->raw_bytes / SECTION_RATIO_MAX > h->body_bytes))
		err = cursor_error(c, "%" PRIu64 " bytes that unpack to %" PRIu64 ": the section is damaged",
				   h->body_bytes, h->raw_bytes);
	return err;
}

static struct error *read_header(struct cursor *c, const struct section_kind *kind, struct header *h)
{
	const uint8_t *magic;
	uint32_t version;
	struct error *err;

	if (cursor_left(c) < SECTION_HEADER_BYTES)
		return cursor_error(c, "%zu bytes are no metadata section: it is truncated", cursor_left(c));
	if (memcmp(c->start + c->off, kind->magic, sizeof kind->magic) != 0)
		return cursor_error(c, "does not start as a metadata section does: it is damaged");
	err = cursor_bytes(c, sizeof kind->magic, &magic);
	if (!err)
		err = cursor_u32(c, &version);
	if (!err && (version < kind->oldest || version > kind->version))
		err = cursor_error(c,
				   "version %" PRIu32 ", this waymark reads version %" PRIu32
				   ": use the waymark that built it",
				   version, kind->version);
	return err ? err : read_sizes(c, h);
}

static struct error *unpack(const struct cursor *c, const struct header *h, const uint8_t *body, uint8_t **ret)
{
	uint8_t *raw = malloc((size_t)h->raw_bytes + 1);
	struct error *err = NULL;
	size_t got;

	if (!raw)
		return &error_no_memory;
	got = ZSTD_decompress(raw, (size_t)h->raw_bytes, body, (size_t)h->body_bytes);
	if (ZSTD_isError(got))
		err = cursor_error(c, "cannot be unpacked (%s): the section is damaged", ZSTD_getErrorName(got));
	else if (got != h->raw_bytes || hash_bytes(HASH_START, raw, got) != h->key)
		err = cursor_error(c, "its checksum is wrong: the section is damaged");
	if (err)
		free(raw);
	else
		*ret = raw;
	return err;
}

struct error *section_read(struct cursor *c, const struct section_kind *kind, struct section *ret)
{
	struct cursor at = *c;
	struct header h;
	const uint8_t *body;
	struct error *err;

	err = read_header(&at, kind, &h) ?:
	      unpack(&at, &h, at.start + at.off, &ret->raw) ?:
	      cursor_bytes(&at, (size_t)h.body_bytes, &body);
	if (err)
		return err;
	ret->key = h.key;
	ret->raw_bytes = (size_t)h.raw_bytes;
	*c = at;
	return NULL;
}

void section_deinit(struct section *s)
{
	free(s->raw);
	*s = (struct section){0};
}

struct error *section_count(struct cursor *c, size_t min_bytes, const char *what, uint32_t *ret)
{
	struct cursor at = *c;
	uint32_t count;
	struct error *err = cursor_uleb32(c, &count);

	if (err)
		return err;
	if (count > cursor_left(c) / min_bytes)
		return cursor_error(&at, "%" PRIu32 " %s cannot fit in the %zu bytes left: the section is damaged",
				    count, what, cursor_left(c));
	*ret = count;
	return NULL;
}

void section_skip_zeros(struct cursor *c)
{
	while (cursor_left(c) && c->start[c->off] == 0)
		c->off++;
}

struct error *section_small(struct cursor *c, uint32_t max, const char *what, uint32_t *ret)
{
	struct cursor at = *c;
	uint32_t v;
	struct error *err = cursor_uleb32(c, &v);

	if (!err && v > max)
		err = cursor_error(&at, "%s %" PRIu32 ": the section is damaged", what, v);
	if (!err)
		*ret = v;
	return err;
}

struct error *section_read_unit(struct cursor *c, const struct section_kind *kind, size_t index, struct arena *arena,
				struct section *ret, struct cursor *ret_body)
{
	struct error *err = section_read(c, kind, ret);
	if (err)
		return err;
	char *name = arena_printf(arena, "%s: unit %zu, unpacked", c->name, index);
	if (!name)
		return &error_no_memory;
	cursor_init(ret_body, ret->raw, ret->raw_bytes, name);
	return NULL;
}

struct error *section_check_units(const struct cursor *c)
{
	struct cursor at = *c;
	uint64_t raw_bytes = 0, body_bytes = 0;

	while (cursor_left(&at) >= SECTION_HEADER_BYTES) {
		struct header h;
		struct error *err = cursor_skip(&at, SECTION_COMPRESSION_OFF) ?: read_sizes(&at, &h) ?: cursor_skip(&at, (size_t)h.body_bytes);

		if (err) {
			error_destroy(err);
			break;
		}
		raw_bytes += h.raw_bytes;
		body_bytes += h.body_bytes;
		if (raw_bytes > SECTION_UNITS_RAW_MIN && raw_bytes / SECTION_UNITS_RATIO_MAX > body_bytes)
			return cursor_error(&at,
					    "units of %" PRIu64 " bytes that unpack to %" PRIu64
					    ": the section is damaged",
					    body_bytes, raw_bytes);
		section_skip_zeros(&at);
	}
	return NULL;
}

struct error *section_check_end(struct cursor *body)
{
	if (!cursor_left(body))
		return NULL;
	return cursor_error(body, "%zu bytes behind the last table: the section is damaged", cursor_left(body));
}
