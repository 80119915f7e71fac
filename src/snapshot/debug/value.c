/*
 * value.c - types of the debug information, and what they make of bytes: numbers, members, elements. value_print.c has the texts.
 */
#include <dwarf.h>
#include <string.h>

#include "snapshot/debug/value.h"

enum {
	PEEL_MAX = 64, /* qualifiers and typedefs */
	SEARCH_MAX = 4096,
	SEARCH_DEPTH_MAX = 8,
};

const char *value_state_text(const struct snapshot *s, enum value_state state)
{
	switch (state) {
	case VALUE_OPTIMIZED_OUT:
		return "<optimized out>";
	case VALUE_MISSING:
		return s->is_live ? "<cannot be read>" : "<not in the core>";
	default:
		return "<not known>";
	}
}

bool value_type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, ret);
}

bool value_peel(const Dwarf_Die *type, Dwarf_Die *ret)
{
	*ret = *type;
	for (int i = 0; i < PEEL_MAX; i++) {
		switch (dwarf_tag(ret)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!value_type_of(ret, ret))
				return false;
			break;
		default:
			return true;
		}
	}
	return false;
}

static bool is_pointer_tag(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

uint64_t value_type_bytes(const Dwarf_Die *type)
{
	Dwarf_Die peeled;
	Dwarf_Word size;

	if (!value_peel(type, &peeled))
		return 0;
	if (is_pointer_tag(dwarf_tag(&peeled)))
		return 8;
	return dwarf_aggregate_size(&peeled, &size) == 0 ? size : 0;
}

bool value_constant(Dwarf_Die *die, unsigned int name, uint64_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0)
		return false;
	*ret = value;
	return true;
}

/* ---- bytes ---- */

enum value_state value_read(const struct snapshot *s, const struct value *v, void *ret, uint64_t len_bytes)
{
	switch (v->place.kind) {
	case LOCATION_MEMORY:
		return snapshot_read(s, v->place.address + v->off, ret, (size_t)len_bytes) ? VALUE_KNOWN
											   : VALUE_MISSING;
	case LOCATION_BYTES:
		if (v->off > v->place.len_bytes || len_bytes > v->place.len_bytes - v->off)
			return VALUE_UNKNOWN;
		for (uint64_t i = 0; i < len_bytes; i++)
			if (!v->place.is_known[v->off + i])
				return VALUE_OPTIMIZED_OUT;
		memcpy(ret, v->place.bytes + v->off, (size_t)len_bytes);
		return VALUE_KNOWN;
	case LOCATION_OPTIMIZED_OUT:
		return VALUE_OPTIMIZED_OUT;
	default:
		return VALUE_UNKNOWN;
	}
}

bool value_address(const struct value *v, uint64_t *ret)
{
	*ret = v->place.address + v->off;
	return v->place.kind == LOCATION_MEMORY;
}

bool value_is_pointer(const struct value *v)
{
	Dwarf_Die type;

	return value_peel(&v->type, &type) && is_pointer_tag(dwarf_tag(&type));
}

bool value_is_code_pointer(const struct value *v)
{
	Dwarf_Die type, target;

	return value_peel(&v->type, &type) && is_pointer_tag(dwarf_tag(&type)) && value_type_of(&type, &target) &&
	       value_peel(&target, &target) && dwarf_tag(&target) == DW_TAG_subroutine_type;
}

/* Whether a DW_TAG_base_type or the like is an integer, and how its bytes become 64 bits. */
static bool is_integer_type(Dwarf_Die *type, bool *ret_is_signed)
{
	uint64_t encoding;
	Dwarf_Die base;

	*ret_is_signed = false;
	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return true;
	case DW_TAG_enumeration_type:
		*ret_is_signed = true; /* without an underlying type: C's, an int */
		if (value_type_of(type, &base) && value_peel(&base, &base) && dwarf_tag(&base) == DW_TAG_base_type)
			return is_integer_type(&base, ret_is_signed);
		return true;
	case DW_TAG_base_type:
		if (!value_constant(type, DW_AT_encoding, &encoding))
			return false;
		*ret_is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
		return *ret_is_signed || encoding == DW_ATE_unsigned || encoding == DW_ATE_unsigned_char ||
		       encoding == DW_ATE_boolean || encoding == DW_ATE_UTF;
	default:
		return false;
	}
}

enum value_state value_number(const struct snapshot *s, const struct value *v, uint64_t *ret, bool *is_integer)
{
	uint64_t word = 0, bytes;
	enum value_state state;
	Dwarf_Die type;
	bool is_signed;

	*is_integer = false;
	if (!value_peel(&v->type, &type) || !is_integer_type(&type, &is_signed))
		return VALUE_UNKNOWN;
	bytes = value_type_bytes(&type);
	if (!bytes || bytes > sizeof word)
		return VALUE_UNKNOWN;
	*is_integer = true;
	state = value_read(s, v, &word, bytes);
	if (state == VALUE_KNOWN && is_signed && bytes < 8 && word >> (8 * bytes - 1))
		word |= UINT64_MAX << (8 * bytes);
	*ret = word;
	return state;
}

/* ---- parts ---- */

bool value_element(const struct snapshot *s, const struct value *v, int64_t index, struct value *ret)
{
	struct value from = *v;
	Dwarf_Die type, element;
	uint64_t size, address;
	bool is_integer;

	if (!value_peel(&v->type, &type) || !value_type_of(&type, &element))
		return false;
	size = value_type_bytes(&element);
	if (dwarf_tag(&type) == DW_TAG_array_type) {
		Dwarf_Die child;
		int dimensions = 0;

		if (dwarf_child(&type, &child) == 0)
			do
				dimensions += dwarf_tag(&child) == DW_TAG_subrange_type;
			while (dwarf_siblingof(&child, &child) == 0);
		if (dimensions != 1 || !size)
			return false;
		from.type = element;
		from.off += (uint64_t)index * size;
		*ret = from;
		return true;
	}
	if (!is_pointer_tag(dwarf_tag(&type)) || (index && !size) ||
	    value_number(s, v, &address, &is_integer) != VALUE_KNOWN)
		return false;
	*ret = (struct value){
		.type = element,
		.place = {.kind = LOCATION_MEMORY, .address = address + (uint64_t)index * size},
	};
	return true;
}

bool value_follow_reference(const struct snapshot *s, const struct value *v, struct value *ret)
{
	Dwarf_Die type;

	*ret = *v;
	if (!value_peel(&v->type, &type))
		return false;
	return (dwarf_tag(&type) != DW_TAG_reference_type && dwarf_tag(&type) != DW_TAG_rvalue_reference_type) ||
	       value_element(s, v, 0, ret);
}

static bool is_aggregate(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* Only where it lies at a constant place, and is no bit field. */
static bool part_of(const struct value *v, Dwarf_Die *member, struct value *ret)
{
	Dwarf_Attribute attribute;
	uint64_t off = 0;

	if (dwarf_hasattr(member, DW_AT_bit_size) || dwarf_hasattr(member, DW_AT_external) ||
	    dwarf_hasattr(member, DW_AT_declaration))
		return false;
	if (dwarf_attr(member, DW_AT_data_member_location, &attribute) &&
	    !value_constant(member, DW_AT_data_member_location, &off))
		return false;
	*ret = *v;
	ret->off += off;
	return value_type_of(member, &ret->type);
}

/* The search for a structure's member of a name. */
struct member_search {
	const char *name;
	int left;       /* entries to be looked at */
	bool is_static; /* a static member: `found` is its entry */
	Dwarf_Die found;
};

static bool find_member(struct member_search *q, const struct value *v, int depth, struct value *ret);

/* In bases, and in members without a name. */
static bool find_inside(struct member_search *q, const struct value *v, Dwarf_Die *type, int depth, struct value *ret)
{
	struct value inner;
	Dwarf_Die child;

	if (dwarf_child(type, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (--q->left < 0)
			return false;
		if ((tag == DW_TAG_inheritance || (tag == DW_TAG_member && !dwarf_diename(&child))) &&
		    part_of(v, &child, &inner) && find_member(q, &inner, depth + 1, ret))
			return true;
	} while (!q->is_static && dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Its own members hide those of its bases. */
static bool find_member(struct member_search *q, const struct value *v, int depth, struct value *ret)
{
	Dwarf_Die type, child;

	if (depth == SEARCH_DEPTH_MAX || !value_peel(&v->type, &type) || !is_aggregate(dwarf_tag(&type)) ||
	    dwarf_child(&type, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);
		const char *found = tag == DW_TAG_member || tag == DW_TAG_variable ? dwarf_diename(&child) : NULL;

		if (--q->left < 0)
			return false;
		if (!found || strcmp(found, q->name) != 0)
			continue;
		q->found = child;
		q->is_static = tag == DW_TAG_variable || dwarf_hasattr(&child, DW_AT_external) ||
			       dwarf_hasattr(&child, DW_AT_declaration);
		return !q->is_static && part_of(v, &child, ret);
	} while (dwarf_siblingof(&child, &child) == 0);
	return find_inside(q, v, &type, depth, ret);
}

bool value_member(const struct value *v, const char *name, struct value *ret)
{
	struct member_search q = {.name = name, .left = SEARCH_MAX};

	return find_member(&q, v, 0, ret);
}

bool value_static_member(const struct value *v, const char *name, Dwarf_Die *ret)
{
	struct member_search q = {.name = name, .left = SEARCH_MAX};
	struct value ignored;

	find_member(&q, v, 0, &ignored);
	*ret = q.found;
	return q.is_static;
}

/* ---- names of types ---- */

static void print_type(const Dwarf_Die *type, int depth, struct buffer *out)
{
	Dwarf_Die die = *type, inner;
	int tag = dwarf_tag(&die);
	const char *name = dwarf_diename(&die);
	bool has_inner = value_type_of(&die, &inner);
	static const char *const marks[] = {"*", "&", "&&", "[]"};
	const char *mark = NULL, *word = "";

	switch (tag) {
	case DW_TAG_pointer_type:
		mark = marks[0];
		break;
	case DW_TAG_reference_type:
		mark = marks[1];
		break;
	case DW_TAG_rvalue_reference_type:
		mark = marks[2];
		break;
	case DW_TAG_array_type:
		mark = marks[3];
		break;
	case DW_TAG_const_type:
		word = "const ";
		break;
	case DW_TAG_volatile_type:
		word = "volatile ";
		break;
	case DW_TAG_structure_type:
		buffer_printf(out, "struct %s", name ? name : "{...}");
		return;
	case DW_TAG_union_type:
		buffer_printf(out, "union %s", name ? name : "{...}");
		return;
	case DW_TAG_enumeration_type:
		buffer_printf(out, "enum %s", name ? name : "{...}");
		return;
	case DW_TAG_subroutine_type:
		buffer_printf(out, "function");
		return;
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		break;
	default:
		buffer_printf(out, "%s", name ? name : "?");
		return;
	}
	buffer_printf(out, "%s", word);
	if (has_inner && depth < VALUE_DEPTH_MAX * 4)
		print_type(&inner, depth + 1, out);
	else
		buffer_printf(out, has_inner ? "..." : "void");
	if (mark)
		buffer_printf(out, "%s%s", out->len_bytes && strchr("*&", out->bytes[out->len_bytes - 1]) ? "" : " ",
			      mark);
}

const char *value_type_text(struct arena *arena, const Dwarf_Die *type)
{
	struct buffer out = {0};
	const char *text = NULL;

	print_type(type, 0, &out);
	if (!out.failed)
		text = arena_strndup(arena, (const char *)out.bytes, out.len_bytes);
	buffer_deinit(&out);
	return text;
}
