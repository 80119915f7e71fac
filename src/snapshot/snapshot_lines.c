/*
 * snapshot_lines.c - functions and lines of an address, through inlining, from DWARF; without it the symbol.
 *
 * libdw's own ways are linear for each address: by .debug_aranges, which clang does not write, and through all entries of
 * a compilation unit. Here the ranges of units are sorted once, and those of a unit's functions when the first address is
 * in it; results are kept, so that deep recursion costs no more than a shallow one.
 */
#include <dwarf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdw.h>

#include "base/order.h"
#include "snapshot/snapshot_source.h"

enum {
	DEPTH_MAX = SNAPSHOT_SCOPES_MAX, /* of nested entries that are looked through */
};

struct address_range {
	uint64_t start, end;
	uint32_t index; /* of a unit or a function */
};
VEC_DECLARE(range_vec, struct address_range);
VEC_DECLARE(die_vec, Dwarf_Die);

struct unit {
	Dwarf_Die die;      /* of the unit: lines */
	Dwarf_Die contents; /* its functions; of a split unit another one */
	bool is_indexed;
	struct range_vec ranges;
	struct die_vec functions;
};
VEC_DECLARE(unit_vec, struct unit);

struct snapshot_line_index {
	bool is_tried;
	uint64_t bias; /* of addresses in the debug information */
	struct range_vec ranges;
	struct unit_vec units;
};

struct snapshot_known_lines {
	uint64_t pc;
	const struct snapshot_line *lines;
	uint32_t count;
};

static int by_range(const void *a, const void *b)
{
	const struct address_range *x = a, *y = b;

	return compare_u64(x->start, y->start) ?: compare_u64(x->index, y->index);
}

static void sort_ranges(struct range_vec *v)
{
	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, by_range);
}

/* The nearest range at or below the address that it is in. */
static bool find_range(const struct range_vec *v, uint64_t address, uint32_t *ret)
{
	size_t first = 0, end = v->count;

	while (end > first) {
		size_t middle = first + (end - first) / 2;

		if (v->items[middle].start <= address)
			first = middle + 1;
		else
			end = middle;
	}
	/* Ranges do not overlap but in damaged files. */
	for (int i = 0; i < 2 && first-- > 0; i++) {
		if (address < v->items[first].end) {
			*ret = v->items[first].index;
			return true;
		}
	}
	return false;
}

static struct error *add_ranges(struct range_vec *v, Dwarf_Die *die, uint32_t index)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t off = 0;
	struct error *err = NULL;

	while (!err && (off = dwarf_ranges(die, off, &base, &start, &end)) > 0)
		if (start && start < end) /* 0: code that the linker discarded */
			err = range_vec_append(v, (struct address_range){start, end, index});
	return err;
}

static struct error *add_functions(struct unit *u, Dwarf_Die *parent, int depth)
{
	struct error *err = NULL;
	Dwarf_Die die;

	if (depth == DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return NULL;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			err = add_ranges(&u->ranges, &die, (uint32_t)u->functions.count);
			if (!err)
				err = die_vec_append(&u->functions, die);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
			err = add_functions(u, &die, depth + 1);
			break;
		default:
			break;
		}
	} while (!err && dwarf_siblingof(&die, &die) == 0);
	return err;
}

static struct error *index_unit(struct unit *u)
{
	struct error *err;

	if (u->is_indexed)
		return NULL;
	u->is_indexed = true;
	err = add_functions(u, &u->contents, 0);
	sort_ranges(&u->ranges);
	return err;
}

static struct error *index_module(struct snapshot_line_index *x, Dwfl_Module *module)
{
	Dwarf_Addr bias;
	Dwarf *dw;
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;
	struct error *err = NULL;

	if (x->is_tried)
		return NULL;
	x->is_tried = true;
	dw = dwfl_module_getdwarf(module, &bias);
	if (!dw)
		return NULL;
	x->bias = bias;
	while (!err && dwarf_get_units(dw, cu, &cu, NULL, &type, &die, &split) == 0) {
		struct unit u = {.die = die, .contents = die};

		if (type == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid)
			u.contents = split;
		if (type == DW_UT_type || type == DW_UT_split_type || type == DW_UT_partial)
			continue;
		err = add_ranges(&x->ranges, &die, (uint32_t)x->units.count);
		if (!err)
			err = unit_vec_append(&x->units, u);
	}
	sort_ranges(&x->ranges);
	return err;
}

static const char *function_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

static uint32_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 || value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

/* Where an inlined function was called. */
static void take_call(struct unit *u, Dwarf_Die *inlined, struct snapshot_line *ret)
{
	Dwarf_Files *files;
	size_t count;
	uint32_t file = number_of(inlined, DW_AT_call_file);

	if (dwarf_getsrcfiles(&u->die, &files, &count) == 0 && file < count)
		ret->file = dwarf_filesrc(files, file, NULL, NULL);
	ret->line = number_of(inlined, DW_AT_call_line);
	ret->column = number_of(inlined, DW_AT_call_column);
}

static void take_line(struct unit *u, uint64_t address, struct snapshot_line *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->die, address);
	int number;

	if (!line)
		return;
	ret->file = dwarf_linesrc(line, NULL, NULL);
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		ret->line = (uint32_t)number;
	if (dwarf_linecol(line, &number) == 0 && number > 0)
		ret->column = (uint32_t)number;
}

/* The entry for what was inlined, or a block, within `die` that has the address. */
static bool find_inner(Dwarf_Die *die, uint64_t address, Dwarf_Die *ret)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
		     tag == DW_TAG_catch_block) &&
		    dwarf_haspc(&child, address) > 0) {
			*ret = child;
			return true;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* The function that has the address. */
static bool find_function(struct unit *u, uint64_t address, Dwarf_Die *ret)
{
	Dwarf_Die *scopes = NULL;
	bool is_found = false;
	uint32_t index;
	int n;

	if (find_range(&u->ranges, address, &index)) {
		*ret = u->functions.items[index];
		return true;
	}
	n = dwarf_getscopes(&u->contents, address, &scopes); /* a function within a function (GNU C) */
	for (int i = 0; i < n && !is_found; i++) {
		is_found = dwarf_tag(&scopes[i]) == DW_TAG_subprogram;
		if (is_found)
			*ret = scopes[i];
	}
	free(scopes);
	return is_found;
}

/* Outermost first into scopes[DEPTH_MAX]: the function, its blocks, what was inlined, blocks of that. */
static uint32_t find_scopes(struct unit *u, uint64_t address, Dwarf_Die *scopes)
{
	uint32_t count = 0;

	if (!find_function(u, address, &scopes[0]))
		return 0;
	for (count = 1; count < DEPTH_MAX && find_inner(&scopes[count - 1], address, &scopes[count]); count++)
		;
	return count;
}

/* Of these the function and what was inlined. */
static uint32_t find_chain(struct unit *u, uint64_t address, Dwarf_Die *chain)
{
	uint32_t count = 0, all = find_scopes(u, address, chain);

	for (uint32_t i = 0; i < all; i++)
		if (i == 0 || dwarf_tag(&chain[i]) == DW_TAG_inlined_subroutine)
			chain[count++] = chain[i];
	return count;
}

static struct error *lines_of_unit(struct snapshot *s, struct unit *u, uint64_t address,
				   struct snapshot_known_lines *ret)
{
	Dwarf_Die chain[DEPTH_MAX];
	struct snapshot_line *lines;
	struct error *err = index_unit(u);
	uint32_t count;

	if (err)
		return err;
	count = find_chain(u, address, chain);
	if (!count)
		return NULL;
	lines = arena_calloc(&s->arena, count, sizeof *lines);
	if (!lines)
		return &error_no_memory;
	take_line(u, address, &lines[0]);
	for (uint32_t i = 0; i < count; i++) {
		Dwarf_Die *die = &chain[count - 1 - i];

		lines[i].function = function_name(die);
		if (i + 1 < count)
			take_call(u, die, &lines[i + 1]);
	}
	ret->lines = lines;
	ret->count = count;
	return NULL;
}

/* Assembly, and what has no debug information. */
static struct error *line_of_symbol(struct snapshot *s, Dwfl_Module *module, struct unit *u, uint64_t address,
				    struct snapshot_known_lines *ret)
{
	struct snapshot_line *line = arena_calloc(&s->arena, 1, sizeof *line);
	GElf_Off off;
	GElf_Sym symbol;

	if (!line)
		return &error_no_memory;
	line->function = dwfl_module_addrinfo(module, ret->pc, &off, &symbol, NULL, NULL, NULL);
	if (u)
		take_line(u, address, line);
	ret->lines = line;
	ret->count = 1;
	return NULL;
}

/* The index of a module, made when first needed. */
static struct error *find_index(struct snapshot *s, uint32_t module, struct snapshot_line_index **ret)
{
	struct snapshot_source *source = s->source;

	if (!source->lines) {
		source->lines = calloc(s->module_count, sizeof *source->lines);
		if (!source->lines)
			return &error_no_memory;
	}
	*ret = &source->lines[module];
	return index_module(*ret, s->modules[module].dwfl);
}

struct error *snapshot_find_scopes(struct snapshot *s, const struct snapshot_frame *frame, struct snapshot_scopes *ret)
{
	struct snapshot_line_index *x;
	struct error *err;
	uint32_t number;
	uint64_t address;

	ret->count = 0;
	if (frame->module == UINT32_MAX || !s->modules[frame->module].dwfl)
		return NULL;
	err = find_index(s, frame->module, &x);
	if (err)
		return err;
	address = frame->pc - !frame->is_activation - x->bias;
	if (!find_range(&x->ranges, address, &number))
		return NULL;
	err = index_unit(&x->units.items[number]);
	if (err)
		return err;
	ret->unit = x->units.items[number].die;
	ret->contents = x->units.items[number].contents;
	ret->bias = x->bias;
	ret->count = find_scopes(&x->units.items[number], address, ret->dies);
	return NULL;
}

struct error *snapshot_each_unit(struct snapshot *s, uint32_t module, bool (*visit)(void *data, Dwarf_Die *contents),
				 void *data)
{
	struct snapshot_line_index *x;
	struct error *err = find_index(s, module, &x);

	for (size_t i = 0; !err && i < x->units.count; i++)
		if (!visit(data, &x->units.items[i].contents))
			break;
	return err;
}

static struct error *find_lines(struct snapshot *s, uint32_t index, struct snapshot_known_lines *ret)
{
	Dwfl_Module *module = s->modules[index].dwfl;
	struct snapshot_line_index *x;
	struct unit *unit = NULL;
	uint32_t number;
	struct error *err = find_index(s, index, &x);

	if (err)
		return err;
	if (find_range(&x->ranges, ret->pc - x->bias, &number)) {
		unit = &x->units.items[number];
		err = lines_of_unit(s, unit, ret->pc - x->bias, ret);
	}
	return err || ret->count ? err : line_of_symbol(s, module, unit, ret->pc - x->bias, ret);
}

static int by_pc(const void *a, const void *b)
{
	const struct snapshot_known_lines *x = a, *y = b;

	return compare_u64(x->pc, y->pc);
}

struct error *snapshot_lines(struct snapshot *s, const struct snapshot_frame *frame, const struct snapshot_line **ret,
			     uint32_t *ret_count)
{
	static const struct snapshot_line nothing;
	struct snapshot_source *source = s->source;
	struct snapshot_known_lines wanted = {.pc = frame->pc - !frame->is_activation}, *known, **place;
	struct error *err;

	if (frame->module == UINT32_MAX || !s->modules[frame->module].dwfl) {
		*ret = &nothing;
		*ret_count = 1;
		return NULL;
	}
	place = (struct snapshot_known_lines **)tfind(&wanted, &source->known_lines, by_pc);
	if (place) {
		*ret = (*place)->lines;
		*ret_count = (*place)->count;
		return NULL;
	}
	err = find_lines(s, frame->module, &wanted);
	if (err)
		return err;
	known = arena_alloc(&s->arena, sizeof *known);
	if (!known)
		return &error_no_memory;
	*known = wanted;
	if (!tsearch(known, &source->known_lines, by_pc))
		return &error_no_memory;
	*ret = known->lines;
	*ret_count = known->count;
	return NULL;
}

static void keep(void *node)
{
	(void)node; /* the arena's */
}

void snapshot_free_lines(struct snapshot *s)
{
	struct snapshot_source *source = s->source;

	tdestroy(source->known_lines, keep);
	for (uint32_t i = 0; source->lines && i < s->module_count; i++) {
		struct snapshot_line_index *x = &source->lines[i];

		for (size_t u = 0; u < x->units.count; u++) {
			range_vec_deinit(&x->units.items[u].ranges);
			die_vec_deinit(&x->units.items[u].functions);
		}
		unit_vec_deinit(&x->units);
		range_vec_deinit(&x->ranges);
	}
	free(source->lines);
}
