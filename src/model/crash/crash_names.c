/*
 * crash_names.c - which function of the metadata a frame's function is, and where in it control is when no point shows it: by
 * line and column, which both the metadata and DWARF have from the same place.
 *
 * Final stage: the metadata's function is the machine function with all that was inlined into it, so only the outermost level
 * has one, and the position is that of the innermost line. Source stage: each level has its own.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/crash/crash_build.h"

static bool is_final(const struct crash_image *image, uint32_t function)
{
	const struct tracemeta *m = &image->trace.meta;

	return m->units[m->functions[function].unit].is_final;
}

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static bool is_called_so(const struct crash_image *image, uint32_t function, const char *name)
{
	const struct pathmeta_function *flow = image->trace.flows[function];

	return is_same(flow->name, name) || is_same(flow->link_name, name);
}

/* The only function of that name, or of those the only one in that file. */
static uint32_t find_by_name(const struct crash_image *image, const struct crash_level *level)
{
	struct key key;
	uint32_t number, found = CRASH_NONE, in_file = CRASH_NONE, count = 0, file_count = 0;

	if (!level->function)
		return CRASH_NONE;
	key = key_of_text(level->function);
	if (!hashmap_find(&image->names, &key, &number))
		return CRASH_NONE;
	for (uint32_t i = image->first_of_name[number]; i != CRASH_NONE; i = image->next_of_name[i]) {
		const char *file = image->trace.flows[i]->file;

		if (!is_called_so(image, i, level->function))
			continue;
		found = i;
		count++;
		if (file && level->file && strcmp(text_base_name(file), text_base_name(level->file)) == 0) {
			in_file = i;
			file_count++;
		}
	}
	if (count == 1)
		return found;
	return file_count == 1 ? in_file : CRASH_NONE;
}

static const struct crash_position *take_position(const struct crash_image *image, const struct crash_site *site,
						  uint32_t level, const struct crash_position *positions,
						  uint32_t count)
{
	bool is_outermost = level + 1 == site->level_count;
	const struct crash_position *only = NULL;
	uint32_t final_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		bool is_address_taken = false;

		for (uint32_t l = 0; l < level && !is_address_taken; l++) /* inlined into itself: the innermost one */
			is_address_taken = site->levels[l].position == &positions[i];
		if (is_address_taken)
			continue;
		if (is_final(image, positions[i].function)) {
			only = &positions[i];
			final_count++;
			if (!is_outermost)
				continue;
		}
		if (is_called_so(image, positions[i].function, site->levels[level].function))
			return &positions[i];
	}
	return is_outermost && final_count == 1 ? only : NULL; /* whatever the machine function is called */
}

/* ---- by the line ---- */

/* The metadata of a place: `function` is NULL in the function's own code. */
struct place {
	const char *function;
	uint32_t line, column;
};

static struct place place_of(const struct crash_image *image, const struct crash_site *site, uint32_t level)
{
	const struct crash_level *l = &site->levels[level];
	struct place p = {.line = l->line, .column = l->column};

	if (is_final(image, l->index) && level > 0) {
		l = &site->levels[0];
		p = (struct place){.function = l->function, .line = l->line, .column = l->column};
	}
	return p;
}

static bool is_at(const struct place *p, const char *function, uint32_t line, uint32_t column, bool is_exact)
{
	if (p->line == 0 || p->line != line || (is_exact && p->column != column))
		return false;
	return p->function ? is_same(p->function, function) : !function;
}

static struct error *add_node(struct crash_number_vec *v, uint32_t node)
{
	if (v->count && v->items[v->count - 1] == node)
		return NULL;
	return crash_number_vec_append(v, node);
}

static struct error *find_call_nodes(const struct tracemeta_function *meta, const struct place *p,
				     struct crash_number_vec *ret)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < meta->call_count && !err; i++) {
		const struct tracemeta_call *call = &meta->calls[i];

		if (is_at(p, call->function, call->line, call->column, true))
			err = add_node(ret, call->node);
	}
	return err;
}

static struct error *find_line_nodes(const struct pathmeta_function *flow, const struct place *p, bool is_exact,
				     struct crash_number_vec *ret)
{
	struct error *err = NULL;

	for (uint32_t node = 0; node < flow->cfg.node_count && !err; node++) {
		for (uint32_t i = flow->first_line[node]; i < flow->first_line[node + 1] && !err; i++) {
			const struct pathmeta_line *line = &flow->lines[i];

			if (is_at(p, line->function, line->line, line->column, is_exact))
				err = add_node(ret, node);
		}
	}
	return err;
}

/* Control is at the machine function's first instruction: nothing of it has run. */
static bool is_at_entry(const struct crash_image *image, const struct crash_site *site, uint32_t level, bool is_call)
{
	uint32_t block;
	const struct bbmap_function *f = bbmap_find(&image->trace.blocks, site->pc, &block);

	return f && f->address == site->pc && !is_call && level + 1 == site->level_count;
}

/* The level is in a call of its flow: in the source's, that of what was inlined, too. */
static bool is_in_call(const struct crash_image *image, const struct crash_site *site, uint32_t level, bool is_call)
{
	return is_call || (level > 0 && !is_final(image, site->levels[level].index));
}

/* By the calls that control may be in, else by the line: with its column first. *ret_kind: which of them. */
static struct error *search_nodes(const struct crash_image *image, const struct crash_site *site, uint32_t level,
				  bool is_call, enum crash_position_kind *ret_kind, struct crash_number_vec *ret)
{
	const struct crash_level *l = &site->levels[level];
	const struct pathmeta_function *flow = image->trace.flows[l->index];
	struct place p = place_of(image, site, level);
	struct error *err = NULL;

	*ret_kind = CRASH_POSITION_CALL;
	if (is_in_call(image, site, level, is_call))
		err = find_call_nodes(&image->trace.meta.functions[l->index], &p, ret);
	if (err || ret->count)
		return err;
	*ret_kind = CRASH_POSITION_LINE;
	err = find_line_nodes(flow, &p, true, ret);
	if (err || ret->count)
		return err;
	return find_line_nodes(flow, &p, false, ret);
}

static struct error *find_nodes(struct crash *c, struct crash_site *site, uint32_t level, bool is_call)
{
	static const uint32_t first_node;
	const struct crash_image *image = &c->images[site->image];
	struct crash_level *l = &site->levels[level];
	CLEANUP(crash_number_vec_deinit) struct crash_number_vec nodes = {0};
	struct error *err;

	if (is_at_entry(image, site, level, is_call)) {
		l->kind = CRASH_POSITION_POINTS;
		l->nodes = &first_node;
		l->node_count = 1;
		return NULL;
	}
	err = search_nodes(image, site, level, is_call, &l->kind, &nodes);
	if (err)
		return err;
	if (!nodes.count) {
		l->kind = CRASH_POSITION_NONE;
		return NULL;
	}
	l->nodes = arena_copy(&c->arena, nodes.items, nodes.count, sizeof *nodes.items);
	l->node_count = (uint32_t)nodes.count;
	return l->nodes ? NULL : &error_no_memory;
}

struct error *crash_name_levels(struct crash *c, struct crash_site *site, const struct crash_position *positions,
				uint32_t position_count, bool is_call)
{
	const struct crash_image *image = &c->images[site->image];
	struct error *err = NULL;

	for (uint32_t i = 0; i < site->level_count && !err; i++) {
		struct crash_level *l = &site->levels[i];

		l->position = take_position(image, site, i, positions, position_count);
		if (l->position) {
			l->index = l->position->function;
			if (l->position->scheme & WM1_SCHEME_PATHS)
				continue;
		} else {
			l->index = find_by_name(image, l);
		}
		if (l->index == CRASH_NONE)
			continue;
		if (is_final(image, l->index) && i + 1 < site->level_count)
			l->index = CRASH_NONE; /* what was inlined is part of the outermost one's flow */
		else
			err = find_nodes(c, site, i, is_call);
	}
	return err;
}

static bool has_node(const struct crash_frame *frame, uint32_t node)
{
	if (!frame->node_count)
		return true;
	for (uint32_t i = 0; i < frame->node_count; i++)
		if (frame->nodes[i] == node)
			return true;
	return false;
}

uint32_t crash_find_call(const struct crash_image *image, const struct crash_site *site, uint32_t level,
			 const struct crash_frame *frame, const char *inner)
{
	const struct tracemeta_function *meta = frame->meta;
	struct place p = place_of(image, site, level);
	uint32_t found = CRASH_NONE, named = CRASH_NONE, count = 0, named_count = 0;

	if (!is_in_call(image, site, level, !frame->machine->is_activation))
		return CRASH_NONE;
	for (uint32_t i = 0; i < meta->call_count; i++) {
		const struct tracemeta_call *call = &meta->calls[i];

		if (!has_node(frame, call->node) || !is_at(&p, call->function, call->line, call->column, true))
			continue;
		found = i;
		count++;
		if (is_same(call->callee, inner)) {
			named = i;
			named_count++;
		}
	}
	if (count == 1)
		return found;
	return named_count == 1 ? named : CRASH_NONE;
}
