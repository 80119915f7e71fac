/*
 * lines.c - functions and lines of a frame's address, through inlining, from DWARF (debug_lines.h); without it the symbol.
 *
 * Results are kept, so that deep recursion costs no more than a shallow one.
 */
#include <search.h>
#include <stdlib.h>

#include "base/order.h"
#include "object/debug_lines.h"
#include "snapshot/source/source.h"

struct snapshot_known_lines {
	uint64_t pc;
	const struct debug_line *lines;
	uint32_t count;
};

/* The index of a module, made when first needed. */
static struct error *find_index(struct snapshot *s, uint32_t module, struct debug_lines **ret)
{
	struct snapshot_source *source = s->source;
	struct error *err = NULL;

	if (!source->lines) {
		source->lines = calloc(s->module_count, sizeof *source->lines);
		if (!source->lines)
			return &error_no_memory;
	}
	if (!source->lines[module])
		err = debug_lines_create(s->modules[module].dwfl, source->search, &source->lines[module]);
	if (!err)
		*ret = source->lines[module];
	return err;
}

static bool has_module(const struct snapshot *s, const struct snapshot_frame *frame)
{
	return frame->module != UINT32_MAX && s->modules[frame->module].dwfl;
}

struct error *snapshot_find_scopes(struct snapshot *s, const struct snapshot_frame *frame, struct snapshot_scopes *ret)
{
	struct debug_lines *x;
	struct debug_place place;
	struct error *err;

	ret->count = 0;
	if (!has_module(s, frame))
		return NULL;
	err = find_index(s, frame->module, &x);
	if (!err)
		err = debug_lines_scopes(x, frame->pc - !frame->is_activation, ret->dies, SNAPSHOT_SCOPES_MAX, &place);
	if (err || !place.count)
		return err;
	ret->unit = place.unit;
	ret->contents = place.contents;
	ret->bias = place.bias;
	ret->count = place.count;
	return NULL;
}

struct error *snapshot_each_unit(struct snapshot *s, uint32_t module, bool (*visit)(void *data, Dwarf_Die *contents),
				 void *data)
{
	struct debug_lines *x;
	struct error *err = find_index(s, module, &x);

	if (!err)
		debug_lines_each_unit(x, visit, data);
	return err;
}

/* Assembly, and what has no debug information: the function is the symbol's. */
static struct error *name_by_symbol(struct snapshot *s, Dwfl_Module *module, struct snapshot_known_lines *ret)
{
	struct debug_line *line = arena_calloc(&s->arena, 1, sizeof *line);
	GElf_Off off;
	GElf_Sym symbol;

	if (!line)
		return &error_no_memory;
	if (ret->count)
		*line = ret->lines[0];
	line->function = dwfl_module_addrinfo(module, ret->pc, &off, &symbol, NULL, NULL, NULL);
	ret->lines = line;
	ret->count = 1;
	return NULL;
}

static struct error *find_lines(struct snapshot *s, uint32_t module, struct snapshot_known_lines *ret)
{
	struct debug_lines *x;
	struct error *err = find_index(s, module, &x);

	if (!err)
		err = debug_lines_at(x, ret->pc, &s->arena, &ret->lines, &ret->count);
	if (err || (ret->count && ret->lines[ret->count - 1].function))
		return err;
	return name_by_symbol(s, s->modules[module].dwfl, ret);
}

static int by_pc(const void *a, const void *b)
{
	const struct snapshot_known_lines *x = a, *y = b;

	return compare_u64(x->pc, y->pc);
}

const struct error *snapshot_lost(const struct snapshot *s, uint32_t module)
{
	const struct snapshot_source *source = s->source;

	return source->lines && source->lines[module] ? debug_lines_lost(source->lines[module]) : NULL;
}

struct error *snapshot_lines(struct snapshot *s, const struct snapshot_frame *frame, const struct debug_line **ret,
			     uint32_t *ret_count)
{
	static const struct debug_line nothing;
	struct snapshot_source *source = s->source;
	struct snapshot_known_lines wanted = {.pc = frame->pc - !frame->is_activation}, *known, **place;
	struct error *err;

	if (!has_module(s, frame)) {
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
	for (uint32_t i = 0; source->lines && i < s->module_count; i++)
		debug_lines_destroy(source->lines[i]);
	free(source->lines);
}
