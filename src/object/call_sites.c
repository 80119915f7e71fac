/*
 * call_sites.c - reads the entries of calls below a function's entry. A call names its callee by an entry of the debug information: a function
 * that is defined, the abstract one of what was inlined and defined, or a declaration.
 */
#include "object/call_sites.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/hashmap.h"
#include "base/vec.h"

VEC_DECLARE(call_site_vec, struct call_site);
VEC_DECLARE(call_sites_vec, struct call_sites *);
VEC_DECLARE(address_vec, uint64_t);

enum {
	NESTED_MAX = 256, /* entries in entries */
};

struct call_site_index {
	struct debug_lines *lines;
	struct arena arena;
	struct hashmap map; /* entry of a function -> functions */
	struct call_sites_vec functions;
	struct hashmap units; /* whose abstract functions are in the following */
	struct hashmap abstract;
	struct address_vec addresses; /* of the one function that was made of it; 0: of several */
};

static struct key key_of(const Dwarf_Die *die)
{
	return (struct key){{(uintptr_t)die->addr, 0, 0}};
}

/* Where the function's code begins: of a function in two parts the first is that. 0: it has none. */
static uint64_t entry_of(Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;

	return dwarf_ranges(die, 0, &base, &start, &end) > 0 && start < end ? start : 0;
}

static bool has_flag(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	bool is_set;

	return dwarf_attr(die, name, &attribute) && dwarf_formflag(&attribute, &is_set) == 0 && is_set;
}

static bool find_die(Dwarf_Die *die, unsigned int name, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && dwarf_formref_die(&attribute, ret);
}

static bool find_address(Dwarf_Die *die, unsigned int name, uint64_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formaddr(&attribute, &address) != 0)
		return false;
	*ret = address;
	return true;
}

/* ---- abstract functions ---- */

/* A function that was inlined may have been made once, too, or in several forms. */
static struct error *add_concrete(struct call_site_index *x, Dwarf_Die *die)
{
	Dwarf_Die abstract;
	uint64_t entry = entry_of(die);
	struct key key;
	uint32_t number;
	struct error *err;

	if (!entry || !find_die(die, DW_AT_abstract_origin, &abstract))
		return NULL;
	key = key_of(&abstract);
	err = hashmap_add(&x->abstract, &key, &number);
	if (!err && number == x->addresses.count)
		return address_vec_append(&x->addresses, entry);
	if (!err)
		x->addresses.items[number] = 0;
	return err;
}

static bool has_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static struct error *add_unit(struct call_site_index *x, Dwarf_Die *unit)
{
	Dwarf_Die at[NESTED_MAX];
	struct key key = key_of(unit);
	uint32_t number, depth = 0, before = x->units.count;
	struct error *err = hashmap_add(&x->units, &key, &number);

	if (err || number < before || dwarf_child(unit, &at[0]) != 0)
		return err;
	for (;;) {
		int tag = dwarf_tag(&at[depth]);

		if (tag == DW_TAG_subprogram)
			err = add_concrete(x, &at[depth]);
		if (err)
			return err;
		if (has_functions(tag) && depth + 1 < NESTED_MAX && dwarf_child(&at[depth], &at[depth + 1]) == 0) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&at[depth], &at[depth]) != 0)
			if (depth-- == 0)
				return NULL;
	}
}

/* ---- calls ---- */

static void find_callee(struct call_site_index *x, Dwarf_Die *callee, uint64_t bias, struct call_site *ret)
{
	struct key key = key_of(callee);
	Dwarf_Attribute external;
	uint32_t number;
	bool is_external = false;

	ret->callee = entry_of(callee);
	if (!ret->callee && hashmap_find(&x->abstract, &key, &number)) {
		ret->callee = x->addresses.items[number];
		if (!ret->callee)
			return; /* which of its forms is not known */
	}
	if (ret->callee) {
		ret->callee += bias;
		return;
	}
	if (dwarf_attr_integrate(callee, DW_AT_external, &external))
		dwarf_formflag(&external, &is_external);
	if (is_external)
		ret->callee_name = debug_link_name(callee);
}

/* false: it does not say where it is. */
static bool read_call(struct call_site_index *x, Dwarf_Die *die, uint64_t bias, struct call_site *ret)
{
	bool is_gnu = dwarf_tag(die) == DW_TAG_GNU_call_site;
	Dwarf_Die callee;
	uint64_t at;

	*ret = (struct call_site){.is_tail = has_flag(die, is_gnu ? DW_AT_GNU_tail_call : DW_AT_call_tail_call)};
	if (find_address(die, is_gnu ? DW_AT_low_pc : DW_AT_call_return_pc, &at))
		ret->address = at - 1 + bias;
	else if (find_address(die, DW_AT_call_pc, &at))
		ret->address = at + bias;
	else
		return false;
	if (find_die(die, is_gnu ? DW_AT_abstract_origin : DW_AT_call_origin, &callee))
		find_callee(x, &callee, bias, ret);
	return true;
}

static bool is_call(int tag)
{
	return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site;
}

/* Calls are in the function, its blocks and what was inlined there. */
static bool has_calls(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block;
}

/* *is_cut: an entry was passed over, and what it says is not known. */
static struct error *read_calls(struct call_site_index *x, Dwarf_Die *function, uint64_t bias,
				struct call_site_vec *ret, bool *is_cut)
{
	Dwarf_Die at[NESTED_MAX];
	struct call_site site;
	uint32_t depth = 0;
	struct error *err = NULL;

	if (dwarf_child(function, &at[0]) != 0)
		return NULL;
	for (;;) {
		int tag = dwarf_tag(&at[depth]);

		if (is_call(tag) && read_call(x, &at[depth], bias, &site))
			err = call_site_vec_append(ret, site);
		else if (is_call(tag))
			*is_cut = true;
		if (err)
			return err;
		*is_cut |= has_calls(tag) && depth + 1 == NESTED_MAX;
		if (has_calls(tag) && depth + 1 < NESTED_MAX && dwarf_child(&at[depth], &at[depth + 1]) == 0) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&at[depth], &at[depth]) != 0)
			if (depth-- == 0)
				return NULL;
	}
}

/* What the entry says of its calls: all of them, or all tail calls, have entries. */
static bool says_all(Dwarf_Die *function)
{
	static const unsigned int names[] = {DW_AT_call_all_calls,          DW_AT_call_all_tail_calls,
					     DW_AT_call_all_source_calls,   DW_AT_GNU_all_call_sites,
					     DW_AT_GNU_all_tail_call_sites, DW_AT_GNU_all_source_call_sites};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (has_flag(function, names[i]))
			return true;
	return false;
}

static struct error *read_function(struct call_site_index *x, Dwarf_Die *function, struct debug_place *place,
				   struct call_sites **ret)
{
	struct call_site_vec sites = {0};
	struct call_sites *new = arena_calloc(&x->arena, 1, sizeof *new);
	bool is_cut = false;
	struct error *err = new ? add_unit(x, &place->contents) : &error_no_memory;

	if (!err)
		err = read_calls(x, function, place->bias, &sites, &is_cut);
	if (!err) {
		new->entry = entry_of(function) + place->bias;
		new->has_all_tail_calls = says_all(function) && !is_cut;
		new->count = (uint32_t)sites.count;
		new->sites = arena_copy(&x->arena, sites.items, sites.count, sizeof *sites.items);
		err = new->sites ? NULL : &error_no_memory;
	}
	call_site_vec_deinit(&sites);
	*ret = new;
	return err;
}

struct error *call_sites_at(struct call_site_index *x, uint64_t address, const struct call_sites **ret)
{
	struct debug_place place;
	struct call_sites *new;
	Dwarf_Die function;
	struct key key;
	uint32_t number;
	struct error *err = debug_lines_scopes(x->lines, address, &function, 1, &place);

	*ret = NULL;
	if (err || !place.count || dwarf_tag(&function) != DW_TAG_subprogram)
		return err;
	key = key_of(&function);
	err = hashmap_add(&x->map, &key, &number);
	if (!err && number == x->functions.count) {
		err = call_sites_vec_append(&x->functions, NULL);
		if (!err)
			err = read_function(x, &function, &place, &new);
		if (!err)
			x->functions.items[number] = new;
	}
	if (!err)
		*ret = x->functions.items[number];
	return err;
}

struct error *call_site_index_create(struct debug_lines *lines, struct call_site_index **ret)
{
	struct call_site_index *x = calloc(1, sizeof *x);

	if (!x)
		return &error_no_memory;
	x->lines = lines;
	arena_init(&x->arena);
	*ret = x;
	return NULL;
}

void call_site_index_destroy(struct call_site_index *x)
{
	if (!x)
		return;
	hashmap_deinit(&x->map);
	call_sites_vec_deinit(&x->functions);
	hashmap_deinit(&x->units);
	hashmap_deinit(&x->abstract);
	address_vec_deinit(&x->addresses);
	arena_deinit(&x->arena);
	free(x);
}
