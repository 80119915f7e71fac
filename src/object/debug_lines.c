/*
 * debug_lines.c - the index of a module's debug information by address, and chains of inlined functions from it.
 *
 * libdw's own ways are linear for each address: by .debug_aranges, which clang does not write, and through all entries of a unit. They also
 * pass over what does not lie within the range of what it is nested in. Here the entries of a unit that have code are listed once, each with
 * the entry around it, and so are their ranges:
 *
 *     scopes   0 f   1 block in 0   2 a (inlined) in 1   3 b (inlined) in 2   ...
 *     ranges   [10,50) 0   [14,30) 1   [14,30) 2   [18,20) 3   [24,26) 3      sorted by start
 *
 * At an address the deepest scope counts that has a range there.
 */
#include "object/debug_lines.h"

#include <dwarf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "base/order.h"
#include "base/vec.h"

enum {
	NO_SCOPE = UINT32_MAX,
};

struct address_range {
	uint64_t start, end;
	uint64_t end_max; /* of this range and all before it */
	uint32_t index;   /* of a unit or a scope */
};
VEC_DECLARE(address_range_vec, struct address_range);

struct scope {
	Dwarf_Die die;
	uint32_t parent; /* NO_SCOPE: it is a function */
	uint32_t depth;
};
VEC_DECLARE(scope_vec, struct scope);

struct debug_unit {
	Dwarf_Die die;
	Dwarf_Die contents;
	bool is_indexed;
	struct address_range_vec ranges;
	struct scope_vec scopes;
};
VEC_DECLARE(debug_unit_vec, struct debug_unit);

struct debug_lines {
	uint64_t bias;
	Dwarf *shared; /* what the debug file shares with others, if it was found here; else NULL */
	int shared_fd;
	struct error *lost; /* a .dwo that was not found; NULL: none */
	struct address_range_vec ranges;
	struct debug_unit_vec units;
};

/* ---- ranges ---- */

static int by_range(const void *a, const void *b)
{
	const struct address_range *x = a, *y = b;

	return compare_u64(x->start, y->start) ?: compare_u64(x->index, y->index);
}

static void sort_ranges(struct address_range_vec *v)
{
	uint64_t end_max = 0;

	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, by_range);
	for (size_t i = 0; i < v->count; i++) {
		if (end_max < v->items[i].end)
			end_max = v->items[i].end;
		v->items[i].end_max = end_max;
	}
}

/* The next range with the address below the one that *at was set to, at first by COUNT_UP_TO(start). */
static bool next_range(const struct address_range_vec *v, uint64_t address, size_t *at)
{
	while (*at > 0 && v->items[*at - 1].end_max > address)
		if (v->items[--*at].end > address)
			return true;
	return false;
}

static struct error *add_ranges(struct address_range_vec *v, Dwarf_Die *die, uint32_t index)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t off = 0;
	struct error *err = NULL;

	while (!err && (off = dwarf_ranges(die, off, &base, &start, &end)) > 0)
		if (start && start < end) /* 0: code that the linker discarded */
			err = address_range_vec_append(v, (struct address_range){start, end, 0, index});
	return err;
}

/* ---- the entries of a unit ---- */

/* An entry whose children are looked at. */
struct open_entry {
	Dwarf_Die die;  /* the child that is looked at */
	uint32_t scope; /* that the children are nested in */
};
VEC_DECLARE(open_entry_vec, struct open_entry);

static bool is_scope(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* Functions may be defined in it. */
static bool is_room(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

/* *ret is the scope that the entry's children are nested in. */
static struct error *add_scope(struct debug_unit *u, Dwarf_Die *die, int tag, uint32_t parent, uint32_t *ret)
{
	uint32_t index = (uint32_t)u->scopes.count;
	struct error *err;

	if (tag == DW_TAG_subprogram)
		parent = NO_SCOPE;
	else if (parent == NO_SCOPE)
		return NULL; /* damaged */
	err = scope_vec_append(&u->scopes, (struct scope){*die, parent,
							  parent == NO_SCOPE ? 0 : u->scopes.items[parent].depth + 1});
	if (!err)
		err = add_ranges(&u->ranges, die, index);
	*ret = index;
	return err;
}

static struct error *add_entry(struct debug_unit *u, struct open_entry_vec *open)
{
	struct open_entry *at = &open->items[open->count - 1];
	int tag = dwarf_tag(&at->die);
	uint32_t scope = at->scope;
	struct error *err = NULL;
	Dwarf_Die child;

	if (is_scope(tag))
		err = add_scope(u, &at->die, tag, scope, &scope);
	else if (!is_room(tag))
		return NULL;
	if (!err && dwarf_child(&at->die, &child) == 0)
		err = open_entry_vec_append(open, (struct open_entry){child, scope});
	return err;
}

/* On to what comes behind the entry at which the walk is, once its children are done. */
static void pass_entry(struct open_entry_vec *open)
{
	while (open->count) {
		struct open_entry *at = &open->items[open->count - 1];

		if (dwarf_siblingof(&at->die, &at->die) == 0)
			return;
		open->count--;
	}
}

static struct error *index_unit(struct debug_unit *u)
{
	struct open_entry_vec open = {0};
	struct error *err = NULL;
	Dwarf_Die child;

	if (u->is_indexed)
		return NULL;
	u->is_indexed = true;
	if (dwarf_child(&u->contents, &child) == 0)
		err = open_entry_vec_append(&open, (struct open_entry){child, NO_SCOPE});
	while (!err && open.count) {
		size_t depth = open.count;

		err = add_entry(u, &open);
		if (!err && open.count == depth)
			pass_entry(&open);
	}
	open_entry_vec_deinit(&open);
	sort_ranges(&u->ranges);
	return err;
}

/* ---- units ---- */

/* A unit that does not say where its code is has that of its functions. */
static struct error *add_unit_ranges(struct debug_lines *x, uint32_t index)
{
	struct debug_unit *u = &x->units.items[index];
	size_t before = x->ranges.count;
	struct error *err = add_ranges(&x->ranges, &u->die, index);

	if (err || x->ranges.count > before || dwarf_hasattr(&u->die, DW_AT_ranges) ||
	    dwarf_hasattr(&u->die, DW_AT_high_pc))
		return err;
	err = index_unit(u);
	for (size_t i = 0; i < u->ranges.count && !err; i++)
		err = address_range_vec_append(&x->ranges, (struct address_range){u->ranges.items[i].start,
										  u->ranges.items[i].end, 0, index});
	return err;
}

/* The unit's .dwo was not found. The first one is said. */
static void note_lost(struct debug_lines *x, Dwfl_Module *module, Dwarf_Die *skeleton)
{
	Dwarf_Attribute attribute;
	const char *file = NULL, *name;

	if (x->lost)
		return;
	if (!dwarf_attr(skeleton, DW_AT_dwo_name, &attribute) && !dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attribute))
		return;
	name = dwarf_formstring(&attribute);
	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
	x->lost = error_create(
		ERROR_NOT_FOUND,
		"%s: inlined functions have no names: their debug information is in %s, which is not found; "
		"keep the .dwo files where they were made (a .dwp package is not read)",
		file ? file : "a module", name ? name : "a .dwo file");
}

static struct error *read_units(struct debug_lines *x, Dwfl_Module *module, Dwarf *dw)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;
	struct error *err = NULL;

	while (!err && dwarf_get_units(dw, cu, &cu, NULL, &type, &die, &split) == 0) {
		struct debug_unit u = {.die = die, .contents = die};

		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (type == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid)
			u.contents = split;
		else if (type == DW_UT_skeleton)
			note_lost(x, module, &die);
		err = debug_unit_vec_append(&x->units, u);
		if (!err)
			err = add_unit_ranges(x, (uint32_t)x->units.count - 1);
	}
	sort_ranges(&x->ranges);
	return err;
}

/* ---- the shared file ---- */

struct shared_search {
	struct build_id build_id;
	int fd;
};

static bool try_shared(void *state, const char *path)
{
	struct shared_search *h = state;
	struct object o;
	struct error *err = object_read(path, 0, &o);

	if (err) {
		error_destroy(err);
		return false;
	}
	if (build_id_equal(&o.build_id, &h->build_id))
		h->fd = open(path, O_RDONLY | O_CLOEXEC);
	object_deinit(&o);
	return h->fd >= 0;
}

/* Without it what it has is not known: names. */
static void find_shared(struct debug_lines *x, Dwarf *dw, const struct object_search *search)
{
	struct shared_search h = {.fd = -1};
	const struct locate files = {.search = search, .wants_debug = true, .try = try_shared, .state = &h};
	struct locate by_id = files;
	const void *build_id;
	const char *link;
	ssize_t len;

	if (dwarf_getalt(dw))
		return;
	len = dwelf_dwarf_gnu_debugaltlink(dw, &link, &build_id);
	if (len <= 0 || len > BUILD_ID_MAX)
		return;
	memcpy(h.build_id.bytes, build_id, (size_t)len);
	h.build_id.len_bytes = (uint32_t)len;
	by_id.build_id = h.build_id;
	if (!locate_file(&by_id) && !locate_altlink(&files, link))
		return;
	x->shared = dwarf_begin(h.fd, DWARF_C_READ);
	if (!x->shared) {
		close(h.fd);
		return;
	}
	x->shared_fd = h.fd;
	dwarf_setalt(dw, x->shared);
}

struct error *debug_lines_create(Dwfl_Module *module, const struct object_search *search, struct debug_lines **ret)
{
	struct debug_lines *x = calloc(1, sizeof *x);
	Dwarf_Addr bias;
	Dwarf *dw;
	struct error *err;

	if (!x)
		return &error_no_memory;
	dw = dwfl_module_getdwarf(module, &bias);
	if (dw) {
		x->bias = bias;
		find_shared(x, dw, search);
		err = read_units(x, module, dw);
		if (err) {
			debug_lines_destroy(x);
			return err;
		}
	}
	*ret = x;
	return NULL;
}

void debug_lines_destroy(struct debug_lines *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->units.count; i++) {
		address_range_vec_deinit(&x->units.items[i].ranges);
		scope_vec_deinit(&x->units.items[i].scopes);
	}
	debug_unit_vec_deinit(&x->units);
	address_range_vec_deinit(&x->ranges);
	if (x->shared) {
		dwarf_end(x->shared);
		close(x->shared_fd);
	}
	error_destroy(x->lost);
	free(x);
}

const struct error *debug_lines_lost(const struct debug_lines *x)
{
	return x->lost;
}

/* ---- an address ---- */

/* The deepest scope; of several functions that were folded into one the first. */
static struct error *find_scope(struct debug_unit *u, uint64_t address, uint32_t *ret)
{
	struct error *err = index_unit(u);
	size_t at = COUNT_UP_TO(u->ranges.items, u->ranges.count, start, address);

	*ret = NO_SCOPE;
	while (!err && next_range(&u->ranges, address, &at)) {
		uint32_t scope = u->ranges.items[at].index;

		if (*ret == NO_SCOPE || u->scopes.items[scope].depth > u->scopes.items[*ret].depth)
			*ret = scope;
	}
	return err;
}

/* The unit with a function there, else one that has the address. */
static struct error *find_unit(struct debug_lines *x, uint64_t address, struct debug_unit **ret, uint32_t *ret_scope)
{
	size_t at = COUNT_UP_TO(x->ranges.items, x->ranges.count, start, address);
	struct error *err = NULL;

	*ret = NULL;
	*ret_scope = NO_SCOPE;
	while (!err && *ret_scope == NO_SCOPE && next_range(&x->ranges, address, &at)) {
		*ret = &x->units.items[x->ranges.items[at].index];
		err = find_scope(*ret, address, ret_scope);
	}
	return err;
}

const char *debug_link_name(Dwarf_Die *die)
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

static void take_line(struct debug_unit *u, uint64_t address, struct debug_line *ret)
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

/* Where an inlined function was called. */
static void take_call(struct debug_unit *u, Dwarf_Die *inlined, struct debug_line *ret)
{
	Dwarf_Files *files;
	size_t count;
	uint32_t file = number_of(inlined, DW_AT_call_file);

	if (dwarf_getsrcfiles(&u->die, &files, &count) == 0 && file < count)
		ret->file = dwarf_filesrc(files, file, NULL, NULL);
	ret->line = number_of(inlined, DW_AT_call_line);
	ret->column = number_of(inlined, DW_AT_call_column);
}

static bool is_of_chain(struct scope *scope)
{
	return scope->parent == NO_SCOPE || dwarf_tag(&scope->die) == DW_TAG_inlined_subroutine;
}

static uint32_t chain_length(const struct debug_unit *u, uint32_t scope)
{
	uint32_t ret = 0;

	for (; scope != NO_SCOPE; scope = u->scopes.items[scope].parent)
		ret += is_of_chain(&u->scopes.items[scope]);
	return ret;
}

struct error *debug_lines_at(struct debug_lines *x, uint64_t address, struct arena *arena,
			     const struct debug_line **ret, uint32_t *ret_count)
{
	struct debug_line *lines;
	struct debug_unit *u;
	uint32_t scope, count, i = 0;
	struct error *err = find_unit(x, address - x->bias, &u, &scope);

	*ret_count = 0;
	if (err || !u)
		return err;
	count = scope == NO_SCOPE ? 1 : chain_length(u, scope);
	lines = arena_calloc(arena, count, sizeof *lines);
	if (!lines)
		return &error_no_memory;
	take_line(u, address - x->bias, &lines[0]);
	for (; scope != NO_SCOPE; scope = u->scopes.items[scope].parent) {
		struct scope *at = &u->scopes.items[scope];

		if (!is_of_chain(at))
			continue;
		lines[i].function = debug_link_name(&at->die);
		if (++i < count)
			take_call(u, &at->die, &lines[i]);
	}
	if (count == 1 && !lines[0].function && !lines[0].file)
		return NULL;
	*ret = lines;
	*ret_count = count;
	return NULL;
}

struct error *debug_lines_scopes(struct debug_lines *x, uint64_t address, Dwarf_Die *dies, uint32_t room,
				 struct debug_place *ret)
{
	struct debug_unit *u;
	uint32_t scope;
	struct error *err = find_unit(x, address - x->bias, &u, &scope);

	*ret = (struct debug_place){.bias = x->bias};
	if (err || scope == NO_SCOPE)
		return err;
	ret->unit = u->die;
	ret->contents = u->contents;
	ret->count = u->scopes.items[scope].depth + 1;
	if (ret->count > room)
		ret->count = room;
	for (; scope != NO_SCOPE; scope = u->scopes.items[scope].parent)
		if (u->scopes.items[scope].depth < room)
			dies[u->scopes.items[scope].depth] = u->scopes.items[scope].die;
	return NULL;
}

void debug_lines_each_unit(struct debug_lines *x, bool (*visit)(void *data, Dwarf_Die *contents), void *data)
{
	for (size_t i = 0; i < x->units.count; i++)
		if (!visit(data, &x->units.items[i].contents))
			return;
}
