/*
 * class_file.c - copies a class file, with further constants at the end of its constant pool, further fields behind its own, and methods
 * in front of its own.
 *
 *      magic, version | constant_pool_count | constants ^ | access, this, super | interfaces | fields_count | fields ^ | methods_count ^ ..
 *                       + 2 a field           new ones                               + 1 a field    new fields  + 1 a method  new methods
 *                       + 4 and 5 a method
 *
 * Numbers of constants do not change, so everything else stays as it is.
 */
#include "jvm/c/classes/class_file.h"

#include <string.h>

#include "jvm/c/classes/class_reader.h"

enum {
	FIELD_BYTES = 8, /* access, name, descriptor, no attributes */
	UTF8_BYTES = 3,  /* tag, length */
	/* Constants of all methods, by their numbers behind those of the fields. */
	SHARED_DESCRIPTOR = 0,
	SHARED_CODE,
	SHARED_ANNOTATIONS,
	SHARED_FORCE_INLINE,
	SHARED_CONSTANTS,
	/* Constants of one method, by their numbers behind those and behind those of the methods before it. */
	FORWARD_NAME = 0,
	FORWARD_TARGET_NAME,
	FORWARD_TARGET,
	FORWARD_NAME_AND_TYPE,
	FORWARD_METHODREF,
	FORWARD_CONSTANTS,
};

#define FORWARD_SIGNATURE "(J)J"
#define CODE "Code"
#define ANNOTATIONS "RuntimeVisibleAnnotations"
/* The virtual machine believes it of its own classes. */
#define FORCE_INLINE "Ljdk/internal/vm/annotation/ForceInline;"

static void skip_constants(struct class_reader *r, uint32_t count)
{
	for (uint32_t i = 1; i < count && !r->is_short;)
		i += class_skip_constant(r);
}

static void skip_fields(struct class_reader *r, uint32_t count)
{
	for (uint32_t i = 0; i < count && !r->is_short; i++) {
		class_skip(r, 6);
		class_skip_attributes(r);
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

	*out = CLASS_UTF8;
	return put_bytes(put_u16(out + 1, (uint32_t)len), text, len);
}

static uint8_t *put_field(uint8_t *out, const struct class_file_field *field, uint32_t name)
{
	out = put_u16(out, field->access);
	out = put_u16(out, name);
	out = put_u16(out, name + 1);
	return put_u16(out, 0);
}

/* A constant that names one or two others. */
static uint8_t *put_reference(uint8_t *out, uint8_t tag, uint32_t first, uint32_t second)
{
	*out = tag;
	out = put_u16(out + 1, first);
	return second ? put_u16(out, second) : out;
}

static uint8_t *put_shared_constants(uint8_t *out)
{
	out = put_utf8(out, FORWARD_SIGNATURE);
	out = put_utf8(out, CODE);
	out = put_utf8(out, ANNOTATIONS);
	return put_utf8(out, FORCE_INLINE);
}

/* shared: the number of the first of those. first: that of the method's own. */
static uint8_t *put_forward_constants(uint8_t *out, const struct class_file_forward *forward, uint32_t shared,
				      uint32_t first)
{
	out = put_utf8(out, forward->name);
	out = put_utf8(out, forward->target);
	out = put_reference(out, CLASS_CLASS, first + FORWARD_TARGET_NAME, 0);
	out = put_reference(out, CLASS_NAME_AND_TYPE, first + FORWARD_NAME, shared + SHARED_DESCRIPTOR);
	return put_reference(out, CLASS_METHODREF, first + FORWARD_TARGET, first + FORWARD_NAME_AND_TYPE);
}

enum {
	SHARED_BYTES = 4 * UTF8_BYTES + sizeof FORWARD_SIGNATURE - 1 + sizeof CODE - 1 + sizeof ANNOTATIONS - 1 +
		       sizeof FORCE_INLINE - 1,
	FORWARD_CONSTANT_BYTES = 2 * UTF8_BYTES + 3 + 5 + 5,
	CODE_LENGTH = 5,
	CODE_BYTES = 2 + 2 + 4 + CODE_LENGTH + 2 + 2, /* stack, locals, length, code, handlers, attributes */
	ANNOTATION_BYTES = 2 + 2 + 2,                 /* of them, type, values */
	FORWARD_BYTES = 8 + 6 + CODE_BYTES + 6 + ANNOTATION_BYTES,
};

/* lload_0, invokestatic, lreturn */
static uint8_t *put_forward(uint8_t *out, const struct class_file_forward *forward, uint32_t shared, uint32_t first)
{
	out = put_u16(out, forward->access);
	out = put_u16(out, first + FORWARD_NAME);
	out = put_u16(out, shared + SHARED_DESCRIPTOR);
	out = put_u16(out, 2);
	out = put_u16(out, shared + SHARED_CODE);
	out = put_u16(put_u16(out, 0), CODE_BYTES);
	out = put_u16(put_u16(out, 2), 2);
	out = put_u16(put_u16(out, 0), CODE_LENGTH);
	*out++ = 0x1e;
	*out++ = 0xb8;
	out = put_u16(out, first + FORWARD_METHODREF);
	*out++ = 0xad;
	out = put_u16(put_u16(out, 0), 0);
	out = put_u16(out, shared + SHARED_ANNOTATIONS);
	out = put_u16(put_u16(out, 0), ANNOTATION_BYTES);
	out = put_u16(out, 1);
	out = put_u16(out, shared + SHARED_FORCE_INLINE);
	return put_u16(out, 0);
}

size_t class_file_added_bytes(const struct class_file_addition *addition)
{
	size_t ret = SHARED_BYTES;

	for (size_t i = 0; i < addition->forward_count; i++)
		ret += FORWARD_CONSTANT_BYTES + strlen(addition->forwards[i].name) +
		       strlen(addition->forwards[i].target) + FORWARD_BYTES;
	for (size_t i = 0; i < addition->field_count; i++)
		ret += FIELD_BYTES + 2 * UTF8_BYTES + strlen(addition->fields[i].name) +
		       strlen(addition->fields[i].descriptor);
	return ret;
}

/* Where the parts of a class file are. */
struct layout {
	size_t pool_end, fields_at, methods_at;
	uint32_t constants, fields, methods;
};

static bool read_layout(const uint8_t *bytes, size_t len, struct layout *ret)
{
	struct class_reader r = {bytes, len, 0, false};

	class_skip(&r, CLASS_HEADER_BYTES);
	ret->constants = class_number(&r, 2);
	skip_constants(&r, ret->constants);
	ret->pool_end = r.off;
	class_skip(&r, 6);
	class_skip(&r, 2 * (size_t)class_number(&r, 2));
	ret->fields_at = r.off;
	ret->fields = class_number(&r, 2);
	skip_fields(&r, ret->fields);
	ret->methods_at = r.off;
	ret->methods = class_number(&r, 2);
	return !r.is_short && ret->constants > 0;
}

static uint32_t added_constants(const struct class_file_addition *addition)
{
	return (uint32_t)(2 * addition->field_count + SHARED_CONSTANTS + FORWARD_CONSTANTS * addition->forward_count);
}

/* shared: the number of the first one behind those of the fields. */
static uint8_t *put_constants(uint8_t *out, const struct class_file_addition *addition, uint32_t shared)
{
	for (size_t i = 0; i < addition->field_count; i++)
		out = put_utf8(put_utf8(out, addition->fields[i].name), addition->fields[i].descriptor);
	out = put_shared_constants(out);
	for (size_t i = 0; i < addition->forward_count; i++)
		out = put_forward_constants(out, &addition->forwards[i], shared,
					    shared + SHARED_CONSTANTS + FORWARD_CONSTANTS * (uint32_t)i);
	return out;
}

enum class_file_result class_file_add(const uint8_t *bytes, size_t len, const struct class_file_addition *addition,
				      uint8_t *out)
{
	size_t fields = addition->field_count, forwards = addition->forward_count;
	struct layout at;
	uint32_t shared;

	if (!read_layout(bytes, len, &at))
		return CLASS_FILE_DAMAGED;
	if (added_constants(addition) > UINT16_MAX - at.constants || fields > UINT16_MAX - at.fields ||
	    forwards > UINT16_MAX - at.methods)
		return CLASS_FILE_FULL;
	shared = at.constants + 2 * (uint32_t)fields;
	out = put_bytes(out, bytes, CLASS_HEADER_BYTES);
	out = put_u16(out, at.constants + added_constants(addition));
	out = put_bytes(out, bytes + CLASS_HEADER_BYTES + 2, at.pool_end - CLASS_HEADER_BYTES - 2);
	out = put_constants(out, addition, shared);
	out = put_bytes(out, bytes + at.pool_end, at.fields_at - at.pool_end);
	out = put_u16(out, at.fields + (uint32_t)fields);
	out = put_bytes(out, bytes + at.fields_at + 2, at.methods_at - at.fields_at - 2);
	for (size_t i = 0; i < fields; i++)
		out = put_field(out, &addition->fields[i], at.constants + 2 * (uint32_t)i);
	out = put_u16(out, at.methods + (uint32_t)forwards);
	for (size_t i = 0; i < forwards; i++)
		out = put_forward(out, &addition->forwards[i], shared,
				  shared + SHARED_CONSTANTS + FORWARD_CONSTANTS * (uint32_t)i);
	put_bytes(out, bytes + at.methods_at + 2, len - at.methods_at - 2);
	return CLASS_FILE_OK;
}
