/*
 * value.h - a value with its type from the debug information, for reading. Private to src/snapshot.
 *
 *      7    NULL    0x7ffd1230    "text"    97 'a'    true    RED    {a = 1, b = {2, 3, ...}}
 *      <optimized out>    <not known>    <not in the core>
 *
 * Types are untrusted, and may contain themselves: depth, members and the length of the text are limited; "..." stands for what is
 * left out.
 */
#ifndef WM_SNAPSHOT_VALUE_H
#define WM_SNAPSHOT_VALUE_H

#include "snapshot/debug/location.h"

enum {
	VALUE_STRING_MAX = 64,  /* bytes of a text */
	VALUE_ELEMENTS_MAX = 8, /* of an array */
	VALUE_MEMBERS_MAX = 12,
	VALUE_DEPTH_MAX = 3,
	VALUE_TEXT_MAX = 400, /* bytes of it all, about */
};

struct value {
	Dwarf_Die type;
	struct location place;
	uint64_t off; /* within the place */
};

enum value_state {
	VALUE_KNOWN = 0,
	VALUE_OPTIMIZED_OUT,
	VALUE_MISSING,
	VALUE_UNKNOWN,
};
const char *value_state_text(const struct snapshot *s, enum value_state state);

/* The entry that DW_AT_type names; without typedefs and qualifiers. false: void, or damaged. */
bool value_type_of(Dwarf_Die *die, Dwarf_Die *ret);
/* A number that the attribute `name` is. False: it is none. */
bool value_constant(Dwarf_Die *die, unsigned int name, uint64_t *ret);
bool value_peel(const Dwarf_Die *type, Dwarf_Die *ret);
/* 0: not known. */
uint64_t value_type_bytes(const Dwarf_Die *type);
/* "const struct node *". The arena's; NULL when memory is short. */
const char *value_type_text(struct arena *arena, const Dwarf_Die *type);

/* Bytes of a value; address: where they are, false: nowhere in memory. */
enum value_state value_read(const struct snapshot *s, const struct value *v, void *ret, uint64_t len_bytes);
bool value_address(const struct value *v, uint64_t *ret);

/* An integer, a pointer, an enumerator, a bool. is_integer: false for all others. */
enum value_state value_number(const struct snapshot *s, const struct value *v, uint64_t *ret, bool *is_integer);
bool value_is_pointer(const struct value *v);
/* The value points to a function. */
bool value_is_code_pointer(const struct value *v);
/* The object that a reference refers to; other values as they are. false: it is not known. */
bool value_follow_reference(const struct snapshot *s, const struct value *v, struct value *ret);

/* The object that a pointer or a reference leads to, at index (0: *p); an element of an array; a member, also of a base class or of a member
 * without a name. false: there is none, or it is not known. */
bool value_element(const struct snapshot *s, const struct value *v, int64_t index, struct value *ret);
bool value_member(const struct value *v, const char *name, struct value *ret);
/* The entry that declares a static member. */
bool value_static_member(const struct value *v, const char *name, Dwarf_Die *ret);

/* Appends the text. VALUE_KNOWN: all of it is. */
enum value_state value_print(const struct snapshot *s, const struct value *v, struct buffer *out);

#endif
