/*
 * class_file.c - copies a class file, with further constants at the end of its constant pool and further fields behind its own.
 *
 *      magic, version | constant_pool_count | constants ^ | access, this, super | interfaces | fields_count | fields ^ | the rest
 *                       + 2 a field           new names                                        + 1 a field    new fields
 *
 * Numbers of constants do not change, so everything else stays as it is.
 */
#include "jvm/c/class_file.h"

#include <string.h>

enum {
	HEADER_BYTES = 8, /* magic, versions */
	FIELD_BYTES = 8,  /* access, name, descriptor, no attributes */
	UTF8_BYTES = 3,   /* tag, length */
	TAG_UTF8 = 1,
	TAG_LONG = 5,
	TAG_DOUBLE = 6,
};

/* Bytes of a constant behind its tag, by tag; 0: there is none. Of Utf8 it is what stands before the text. */
static const uint8_t constant_bytes[] = {0, 2, 0, 4, 4, 8, 8, 2, 2, 4, 4, 4, 4, 0, 0, 3, 2, 4, 4, 2, 2};

struct reader {
	const uint8_t *bytes;
	size_t len;
	size_t off;
	bool is_short; /* something was read or passed that is not there */
};

static void skip(struct reader *r, size_t count)
{
	if (count > r->len - r->off) {
		r->is_short = true;
		r->off = r->len;
	} else {
		r->off += count;
	}
}

static uint32_t read_number(struct reader *r, unsigned int bytes)
{
	size_t at = r->off;
	uint32_t ret = 0;

	skip(r, bytes);
	for (unsigned int i = 0; !r->is_short && i < bytes; i++)
		ret = ret << 8 | r->bytes[at + i];
	return ret;
}

/* Those of a long or a double take two numbers. */
static void skip_constants(struct reader *r, uint32_t count)
{
	for (uint32_t i = 1; i < count && !r->is_short; i++) {
		uint32_t tag = read_number(r, 1);

		if (tag >= sizeof constant_bytes || !constant_bytes[tag]) {
			r->is_short = true;
			return;
		}
		skip(r, tag == TAG_UTF8 ? read_number(r, 2) : constant_bytes[tag]);
		i += tag == TAG_LONG || tag == TAG_DOUBLE;
	}
}

static void skip_fields(struct reader *r, uint32_t count)
{
	for (uint32_t i = 0; i < count && !r->is_short; i++) {
		uint32_t attributes;

		skip(r, 6);
		attributes = read_number(r, 2);
		for (uint32_t k = 0; k < attributes && !r->is_short; k++) {
			skip(r, 2);
			skip(r, read_number(r, 4));
		}
	}
}

static uint8_t *put_bytes(uint8_t *out, const void *bytes, size_t len)
{
	memcpy(out, bytes, len);
	return out + len;
}

static uint8_t *put_u16(uint8_t *out, uint32_t value)
{
	out[0] = (uint8_t)(value >> 8);
	out[1] = (uint8_t)value;
	return out + 2;
}

static uint8_t *put_utf8(uint8_t *out, const char *text)
{
	size_t len = strlen(text);

	*out = TAG_UTF8;
	return put_bytes(put_u16(out + 1, (uint32_t)len), text, len);
}

static uint8_t *put_field(uint8_t *out, const struct class_file_field *field, uint32_t name)
{
	out = put_u16(out, field->access);
	out = put_u16(out, name);
	out = put_u16(out, name + 1);
	return put_u16(out, 0);
}

size_t class_file_added_bytes(const struct class_file_field *fields, size_t count)
{
	size_t ret = 0;

	for (size_t i = 0; i < count; i++)
		ret += FIELD_BYTES + 2 * UTF8_BYTES + strlen(fields[i].name) + strlen(fields[i].descriptor);
	return ret;
}

enum class_file_result class_file_add_fields(const uint8_t *bytes, size_t len, const struct class_file_field *fields,
					     size_t count, uint8_t *out)
{
	struct reader r = {bytes, len, 0, false};
	uint32_t constants, field_count;
	size_t pool_end, fields_at, fields_end;

	skip(&r, HEADER_BYTES);
	constants = read_number(&r, 2);
	skip_constants(&r, constants);
	pool_end = r.off;
	skip(&r, 6);
	skip(&r, 2 * (size_t)read_number(&r, 2));
	fields_at = r.off;
	field_count = read_number(&r, 2);
	skip_fields(&r, field_count);
	fields_end = r.off;
	if (r.is_short || constants == 0)
		return CLASS_FILE_DAMAGED;
	if (2 * count > UINT16_MAX - constants || count > UINT16_MAX - field_count)
		return CLASS_FILE_FULL;
	out = put_bytes(out, bytes, HEADER_BYTES);
	out = put_u16(out, constants + 2 * (uint32_t)count);
	out = put_bytes(out, bytes + HEADER_BYTES + 2, pool_end - HEADER_BYTES - 2);
	for (size_t i = 0; i < count; i++)
		out = put_utf8(put_utf8(out, fields[i].name), fields[i].descriptor);
	out = put_bytes(out, bytes + pool_end, fields_at - pool_end);
	out = put_u16(out, field_count + (uint32_t)count);
	out = put_bytes(out, bytes + fields_at + 2, fields_end - fields_at - 2);
	for (size_t i = 0; i < count; i++)
		out = put_field(out, &fields[i], constants + 2 * (uint32_t)i);
	put_bytes(out, bytes + fields_end, len - fields_end);
	return CLASS_FILE_OK;
}
