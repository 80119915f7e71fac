/*
 * statics.c - the variables of static storage of a unit by name: found once, since units of C++ have many entries and
 * each name on a line of source is looked up.
 */
#include <dwarf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "snapshot/source/source.h"

enum {
	ENTRIES_MAX = 1 << 20, /* of a unit that are looked at */
	DEPTH_MAX = 16,        /* of namespaces */
};

VEC_DECLARE(static_vec, struct snapshot_static);

struct unit_statics {
	const void *unit; /* its first entry, in the mapped debug information */
	struct snapshot_static *items;
	uint32_t count;
};

static struct error *collect(Dwarf_Die *parent, const char *(*name_of)(Dwarf_Die *die), int depth, int *left,
			     struct static_vec *ret)
{
	struct error *err = NULL;
	Dwarf_Die die;

	if (depth == DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return NULL;
	do {
		int tag = dwarf_tag(&die);

		if (--*left < 0)
			break;
		if (tag == DW_TAG_namespace) {
			err = collect(&die, name_of, depth + 1, left, ret);
		} else if (tag == DW_TAG_variable && name_of(&die)) {
			struct snapshot_static found = {
				.name = name_of(&die),
				.die = die,
				.is_declaration = dwarf_hasattr(&die, DW_AT_declaration),
				.is_external = dwarf_hasattr_integrate(&die, DW_AT_external),
			};

			err = static_vec_append(ret, found);
		}
	} while (!err && dwarf_siblingof(&die, &die) == 0);
	return err;
}

static int by_name(const void *a, const void *b)
{
	const struct snapshot_static *x = a, *y = b;

	return strcmp(x->name, y->name) ?: compare_u64((uintptr_t)x->die.addr, (uintptr_t)y->die.addr);
}

static int by_unit(const void *a, const void *b)
{
	const struct unit_statics *x = a, *y = b;

	return compare_u64((uintptr_t)x->unit, (uintptr_t)y->unit);
}

static struct error *make(struct snapshot *s, Dwarf_Die *contents, const char *(*name_of)(Dwarf_Die *die),
			  struct unit_statics **ret)
{
	struct unit_statics *unit = arena_calloc(&s->arena, 1, sizeof *unit);
	struct static_vec found = {0};
	int left = ENTRIES_MAX;
	struct error *err = unit ? collect(contents, name_of, 0, &left, &found) : &error_no_memory;

	if (!err) {
		if (found.count)
			qsort(found.items, found.count, sizeof *found.items, by_name);
		unit->items = arena_copy(&s->arena, found.items, found.count, sizeof *unit->items);
		err = unit->items ? NULL : &error_no_memory;
	}
	if (!err) {
		unit->unit = contents->addr;
		unit->count = (uint32_t)found.count;
		*ret = unit;
	}
	static_vec_deinit(&found);
	return err;
}

struct error *snapshot_find_statics(struct snapshot *s, Dwarf_Die *contents, const char *(*name_of)(Dwarf_Die *die),
				    const char *name, const struct snapshot_static **ret, uint32_t *ret_count)
{
	struct snapshot_source *source = s->source;
	struct unit_statics wanted = {.unit = contents->addr}, **place, *unit;
	uint32_t first = 0, end;
	struct error *err;

	place = (struct unit_statics **)tfind(&wanted, &source->statics, by_unit);
	if (place) {
		unit = *place;
	} else {
		err = make(s, contents, name_of, &unit);
		if (err)
			return err;
		if (!tsearch(unit, &source->statics, by_unit))
			return &error_no_memory;
	}
	for (end = unit->count; end > first;) {
		uint32_t middle = first + (end - first) / 2;

		if (strcmp(unit->items[middle].name, name) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	for (end = first; end < unit->count && strcmp(unit->items[end].name, name) == 0; end++)
		;
	*ret = unit->items + first;
	*ret_count = end - first;
	return NULL;
}

static void keep(void *node)
{
	(void)node; /* the arena's */
}

void snapshot_free_statics(struct snapshot *s)
{
	struct snapshot_source *source = s->source;

	tdestroy(source->statics, keep);
}
