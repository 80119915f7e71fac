/*
 * value_print.c - texts of values, as gdb's but for what is said of it in value.h: pointers to char are texts, a null pointer is
 * NULL, other pointers are addresses.
 */
#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "object/demangle.h"
#include "snapshot/image/elf.h"
#include "snapshot/debug/value.h"

enum {
	ENUMERATORS_MAX = 4096,
};

struct printer {
	const struct snapshot *s;
	struct buffer *out;
	size_t end; /* of the text */
	enum value_state worst;
};

static void print(struct printer *p, const struct value *v, int depth);

static void say(struct printer *p, enum value_state state)
{
	p->worst = state;
	buffer_printf(p->out, "%s", value_state_text(p->s, state));
}

static void print_char(struct printer *p, uint8_t c, char quote)
{
	static const char letters[] = "\a\b\f\n\r\t\v\033", names[] = "abfnrtve";
	const char *found = c ? strchr(letters, c) : NULL;

	if (found)
		buffer_printf(p->out, "\\%c", names[found - letters]);
	else if (c == '\\' || c == (uint8_t)quote)
		buffer_printf(p->out, "\\%c", c);
	else if (c < 0x20 || c >= 0x7f)
		buffer_printf(p->out, "\\%03o", c);
	else
		buffer_printf(p->out, "%c", c);
}

/* Up to a NUL, or to len_bytes. */
static void print_string(struct printer *p, const uint8_t *bytes, size_t len_bytes, bool is_cut)
{
	buffer_printf(p->out, "\"");
	for (size_t i = 0; i < len_bytes; i++)
		print_char(p, bytes[i], '"');
	buffer_printf(p->out, is_cut ? "\"..." : "\"");
}

static bool is_char(const Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;
	Dwarf_Die peeled;

	return value_peel(type, &peeled) && dwarf_tag(&peeled) == DW_TAG_base_type && value_type_bytes(&peeled) == 1 &&
	       dwarf_attr(&peeled, DW_AT_encoding, &attribute) && dwarf_formudata(&attribute, &encoding) == 0 &&
	       (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char || encoding == DW_ATE_UTF);
}

static void print_text_at(struct printer *p, uint64_t address)
{
	uint8_t bytes[VALUE_STRING_MAX + 1];
	size_t len = 0;

	while (len < sizeof bytes && snapshot_read(p->s, address + len, &bytes[len], 1) && bytes[len])
		len++;
	if (len == sizeof bytes)
		print_string(p, bytes, VALUE_STRING_MAX, true);
	else if (snapshot_read(p->s, address + len, &bytes[len], 1))
		print_string(p, bytes, len, false);
	else
		buffer_printf(p->out, "0x%" PRIx64 " %s", address, value_state_text(p->s, VALUE_MISSING));
}

/* Code has names. */
static void print_function(struct printer *p, uint64_t address)
{
	uint64_t off;
	const char *name = snapshot_symbol_at(p->s, address, &off);
	struct arena arena;

	buffer_printf(p->out, "0x%" PRIx64, address);
	if (!name || off)
		return;
	arena_init(&arena);
	name = demangle(&arena, name);
	name = name ? demangle_brief(&arena, name) : NULL;
	if (name)
		buffer_printf(p->out, " <%s>", name);
	arena_deinit(&arena);
}

static void print_pointer(struct printer *p, Dwarf_Die *type, const struct value *v, int depth)
{
	bool is_reference = dwarf_tag(type) != DW_TAG_pointer_type, is_integer;
	uint64_t address;
	enum value_state state = value_number(p->s, v, &address, &is_integer);
	struct value pointed;
	Dwarf_Die target;

	if (state != VALUE_KNOWN) {
		say(p, state);
		return;
	}
	if (is_reference && depth < VALUE_DEPTH_MAX && value_element(p->s, v, 0, &pointed)) {
		print(p, &pointed, depth + 1);
		return;
	}
	if (!address)
		buffer_printf(p->out, "NULL");
	else if (!value_type_of(type, &target) || !value_peel(&target, &target))
		buffer_printf(p->out, "0x%" PRIx64, address);
	else if (dwarf_tag(&target) == DW_TAG_subroutine_type)
		print_function(p, address);
	else if (is_char(&target))
		print_text_at(p, address);
	else
		buffer_printf(p->out, "0x%" PRIx64, address);
}

static void print_float(struct printer *p, const struct value *v, uint64_t len_bytes)
{
	float single;
	double twice;
	long double extended = 0;
	enum value_state state = VALUE_UNKNOWN;

	if (len_bytes == sizeof single && (state = value_read(p->s, v, &single, sizeof single)) == VALUE_KNOWN)
		buffer_printf(p->out, "%.9g", (double)single);
	else if (len_bytes == sizeof twice && (state = value_read(p->s, v, &twice, sizeof twice)) == VALUE_KNOWN)
		buffer_printf(p->out, "%.17g", twice);
	else if (len_bytes == sizeof extended && (state = value_read(p->s, v, &extended, 10)) == VALUE_KNOWN)
		buffer_printf(p->out, "%.18Lg", extended);
	else
		say(p, state);
}

static void print_number(struct printer *p, Dwarf_Die *type, const struct value *v)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;
	bool is_integer;
	uint64_t number;
	enum value_state state;

	if (dwarf_attr(type, DW_AT_encoding, &attribute))
		dwarf_formudata(&attribute, &encoding);
	if (encoding == DW_ATE_float) {
		print_float(p, v, value_type_bytes(type));
		return;
	}
	state = value_number(p->s, v, &number, &is_integer);
	if (state != VALUE_KNOWN) {
		say(p, state);
	} else if (encoding == DW_ATE_boolean && number < 2) {
		buffer_printf(p->out, number ? "true" : "false");
	} else if (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char) {
		buffer_printf(p->out, "%" PRId64, (int64_t)number);
	} else {
		buffer_printf(p->out, "%" PRIu64, number);
	}
	if (state == VALUE_KNOWN && is_char(type)) {
		buffer_printf(p->out, " '");
		if (number & 0xff)
			print_char(p, (uint8_t)number, '\'');
		else
			buffer_printf(p->out, "\\000");
		buffer_printf(p->out, "'");
	}
}

static void print_enumerator(struct printer *p, Dwarf_Die *type, const struct value *v)
{
	bool is_integer;
	uint64_t number, bytes = value_type_bytes(type);
	enum value_state state = value_number(p->s, v, &number, &is_integer);
	Dwarf_Die child;
	int left = ENUMERATORS_MAX;

	if (state != VALUE_KNOWN) {
		say(p, state);
		return;
	}
	if (dwarf_child(type, &child) == 0) {
		do {
			Dwarf_Attribute attribute;
			Dwarf_Sword value;

			if (dwarf_tag(&child) != DW_TAG_enumerator ||
			    !dwarf_attr(&child, DW_AT_const_value, &attribute) ||
			    dwarf_formsdata(&attribute, &value) != 0 ||
			    (bytes < 8 && ((uint64_t)value ^ number) << (64 - 8 * bytes)) ||
			    (bytes == 8 && (uint64_t)value != number) || !dwarf_diename(&child))
				continue;
			buffer_printf(p->out, "%s", dwarf_diename(&child));
			return;
		} while (--left && dwarf_siblingof(&child, &child) == 0);
	}
	buffer_printf(p->out, "%" PRId64, (int64_t)number);
}

/* How many elements; false: not known. */
static bool count_elements(Dwarf_Die *array, uint64_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Die child;
	Dwarf_Word number;

	if (dwarf_child(array, &child) != 0)
		return false;
	while (dwarf_tag(&child) != DW_TAG_subrange_type)
		if (dwarf_siblingof(&child, &child) != 0)
			return false;
	if (dwarf_attr(&child, DW_AT_count, &attribute) && dwarf_formudata(&attribute, &number) == 0)
		*ret = number;
	else if (dwarf_attr(&child, DW_AT_upper_bound, &attribute) && dwarf_formudata(&attribute, &number) == 0)
		*ret = number + 1;
	else
		return false;
	return true;
}

static bool print_char_array(struct printer *p, const struct value *v, uint64_t count)
{
	uint8_t bytes[VALUE_STRING_MAX];
	size_t len = count < sizeof bytes ? (size_t)count : sizeof bytes, used;
	enum value_state state = value_read(p->s, v, bytes, len);

	if (state != VALUE_KNOWN)
		return false;
	used = strnlen((const char *)bytes, len);
	print_string(p, bytes, used, used == len && len < count);
	return true;
}

static void print_array(struct printer *p, Dwarf_Die *type, const struct value *v, int depth)
{
	uint64_t count;
	struct value element;
	Dwarf_Die of;

	/* Arrays of arrays are long; of several dimensions the elements are no values here. */
	if (!count_elements(type, &count) || !value_type_of(type, &of) || !value_element(p->s, v, 0, &element) ||
	    !value_peel(&of, &element.type) || dwarf_tag(&element.type) == DW_TAG_array_type) {
		buffer_printf(p->out, "{...}");
		return;
	}
	if (count && is_char(&of) && print_char_array(p, v, count))
		return;
	buffer_printf(p->out, "{");
	for (uint64_t i = 0; i < count; i++) {
		if (i == VALUE_ELEMENTS_MAX || p->out->len_bytes > p->end || depth == VALUE_DEPTH_MAX ||
		    !value_element(p->s, v, (int64_t)i, &element)) {
			buffer_printf(p->out, "%s...", i ? ", " : "");
			break;
		}
		buffer_printf(p->out, i ? ", " : "");
		print(p, &element, depth + 1);
	}
	buffer_printf(p->out, "}");
}

static bool is_shown(Dwarf_Die *member)
{
	const char *name = dwarf_diename(member);

	return dwarf_tag(member) == DW_TAG_inheritance ||
	       (dwarf_tag(member) == DW_TAG_member && !dwarf_hasattr(member, DW_AT_artificial) &&
		!dwarf_hasattr(member, DW_AT_external) && !dwarf_hasattr(member, DW_AT_declaration) &&
		!(name && strncmp(name, "_vptr", 5) == 0));
}

/* DWARF 4 and 5: from the beginning of what it is in. */
static bool read_bits(struct printer *p, const struct value *v, Dwarf_Die *member, uint64_t *ret,
		      enum value_state *state)
{
	Dwarf_Attribute attribute;
	Dwarf_Word off, size;
	struct value from = *v;
	uint64_t word = 0;

	if (!dwarf_attr(member, DW_AT_data_bit_offset, &attribute) || dwarf_formudata(&attribute, &off) != 0 ||
	    !dwarf_attr(member, DW_AT_bit_size, &attribute) || dwarf_formudata(&attribute, &size) != 0 || !size ||
	    off % 8 + size > 64 || dwarf_hasattr(member, DW_AT_data_member_location))
		return false;
	from.off += off / 8;
	*state = value_read(p->s, &from, &word, (off % 8 + size + 7) / 8);
	*ret = word >> off % 8 & UINT64_MAX >> (64 - size);
	return true;
}

static void print_bits(struct printer *p, const struct value *v, Dwarf_Die *member)
{
	enum value_state state = VALUE_UNKNOWN;
	struct value bits = {.place.kind = LOCATION_BYTES, .place.len_bytes = 8};
	uint64_t word, bytes;
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0, size = 0;
	Dwarf_Die type;

	if (!value_type_of(member, &bits.type) || !value_peel(&bits.type, &type) ||
	    !read_bits(p, v, member, &word, &state) || state != VALUE_KNOWN) {
		say(p, state);
		return;
	}
	if (dwarf_attr(&type, DW_AT_encoding, &attribute))
		dwarf_formudata(&attribute, &encoding);
	if (dwarf_attr(member, DW_AT_bit_size, &attribute))
		dwarf_formudata(&attribute, &size);
	if (encoding == DW_ATE_signed && size && size < 64 && word >> (size - 1))
		word |= UINT64_MAX << size;
	bytes = value_type_bytes(&type);
	memcpy(bits.place.bytes, &word, sizeof word);
	for (int i = 0; i < 8; i++)
		bits.place.is_known[i] = true;
	if (bytes && bytes <= 8)
		print(p, &bits, VALUE_DEPTH_MAX);
	else
		say(p, VALUE_UNKNOWN);
}

static void print_part(struct printer *p, const struct value *v, Dwarf_Die *member, int depth)
{
	const char *name = dwarf_diename(member);
	Dwarf_Attribute attribute;
	struct value part = *v;
	Dwarf_Word off = 0;

	if (dwarf_tag(member) == DW_TAG_inheritance) {
		Dwarf_Die base;

		name = value_type_of(member, &base) ? dwarf_diename(&base) : NULL;
		buffer_printf(p->out, "<%s> = ", name ? name : "?");
	} else if (name) {
		buffer_printf(p->out, "%s = ", name);
	}
	if (dwarf_hasattr(member, DW_AT_bit_size)) {
		print_bits(p, v, member);
		return;
	}
	if (!value_type_of(member, &part.type) ||
	    (dwarf_attr(member, DW_AT_data_member_location, &attribute) && dwarf_formudata(&attribute, &off) != 0)) {
		say(p, VALUE_UNKNOWN);
		return;
	}
	part.off += off;
	print(p, &part, depth + 1);
}

static void print_struct(struct printer *p, Dwarf_Die *type, const struct value *v, int depth)
{
	Dwarf_Die child;
	int shown = 0, left = ENUMERATORS_MAX;

	buffer_printf(p->out, "{");
	if (depth == VALUE_DEPTH_MAX || dwarf_hasattr(type, DW_AT_declaration)) {
		buffer_printf(p->out, "...");
	} else if (dwarf_child(type, &child) == 0) {
		do {
			if (!is_shown(&child))
				continue;
			buffer_printf(p->out, shown ? ", " : "");
			if (shown++ == VALUE_MEMBERS_MAX || p->out->len_bytes > p->end) {
				buffer_printf(p->out, "...");
				break;
			}
			print_part(p, v, &child, depth);
		} while (--left && dwarf_siblingof(&child, &child) == 0);
	}
	buffer_printf(p->out, "}");
}

static void print(struct printer *p, const struct value *v, int depth)
{
	Dwarf_Die type;
	int tag;

	if (!value_peel(&v->type, &type)) {
		say(p, VALUE_UNKNOWN);
		return;
	}
	tag = dwarf_tag(&type);
	if (v->place.kind == LOCATION_OPTIMIZED_OUT || v->place.kind == LOCATION_UNKNOWN) {
		say(p, v->place.kind == LOCATION_UNKNOWN ? VALUE_UNKNOWN : VALUE_OPTIMIZED_OUT);
		return;
	}
	switch (tag) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		print_pointer(p, &type, v, depth);
		break;
	case DW_TAG_base_type:
		print_number(p, &type, v);
		break;
	case DW_TAG_enumeration_type:
		print_enumerator(p, &type, v);
		break;
	case DW_TAG_array_type:
		print_array(p, &type, v, depth);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		print_struct(p, &type, v, depth);
		break;
	default:
		say(p, VALUE_UNKNOWN);
		break;
	}
}

enum value_state value_print(const struct snapshot *s, const struct value *v, struct buffer *out)
{
	struct printer p = {.s = s, .out = out, .end = out->len_bytes + VALUE_TEXT_MAX};

	print(&p, v, 0);
	return p.worst;
}
