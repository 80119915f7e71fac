/*
 * crash.c - from machine frames to frames of the source with all that is known of them. What follows from an address is worked out
 * once (struct crash_site), so that deep recursion costs little more than reading its stack.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "object/demangle.h"
#include "model/crash/crash_build.h"
#include "waymark/abi.h"

struct error *crash_note(struct crash *c, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = arena_vprintf(&c->arena, format, args);
	va_end(args);
	return text ? crash_note_vec_append(&crash_builder(c)->notes, text) : &error_no_memory;
}

/* ---- metadata ---- */

static struct error *name_functions(struct crash_image *image, struct arena *arena)
{
	const struct object_trace *t = &image->trace;
	uint32_t count = t->meta.function_count;
	struct error *err = NULL;

	image->numberings = arena_calloc(arena, (size_t)count + 1, sizeof *image->numberings);
	image->own_calls = arena_calloc(arena, (size_t)count + 1, sizeof *image->own_calls);
	image->own_blocks = arena_calloc(arena, (size_t)count + 1, sizeof *image->own_blocks);
	image->first_of_name = arena_calloc(arena, (size_t)count + 1, sizeof *image->first_of_name);
	image->next_of_name = arena_calloc(arena, (size_t)count + 1, sizeof *image->next_of_name);
	if (!image->numberings || !image->own_calls || !image->own_blocks || !image->first_of_name ||
	    !image->next_of_name)
		return &error_no_memory;
	for (uint32_t i = 0; i < count && !err; i++) {
		struct key key = key_of_text(t->flows[i]->name);
		uint32_t before = image->names.count, number;

		err = hashmap_add(&image->names, &key, &number);
		if (err)
			break;
		image->next_of_name[i] = number < before ? image->first_of_name[number] : CRASH_NONE;
		image->first_of_name[number] = i;
	}
	return err;
}

/* Only the program says that it has none: shared libraries of the system never do. */
static struct error *note_untraced(struct crash *c, uint32_t index, struct error *why)
{
	struct error *err = NULL;

	if (why->code != ERROR_NOT_FOUND || index == c->stopped->main_module)
		err = crash_note(c, "%s", why->message);
	error_destroy(why);
	return err;
}

static struct error *read_image(struct crash *c, uint32_t index)
{
	const struct snapshot_module *m = &c->stopped->modules[index];
	struct crash_image *image = &c->images[index];
	struct object_wanted wanted = {.path = m->file ? m->file : m->path, .build_id = m->build_id};
	struct error *err;

	if (m->path[0] == '[' || !m->file)
		return NULL;
	err = object_find_trace(c->search, &wanted, &image->trace);
	if (err)
		return err->code == ERROR_NO_MEMORY ? err : note_untraced(c, index, err);
	image->is_traced = true;
	if (image->trace.why)
		err = crash_note(c, "%s", image->trace.why->message);
	return err ? err : name_functions(image, &c->arena);
}

/* ---- sites ---- */

/* Clones for other schemes have symbols of their own, f.wm and f.wm.SCHEME; f is meant. */
static const char *source_name(const char *name, struct arena *arena)
{
	const char *end = strstr(name, ".wm");

	if (!end || end == name || (end[3] && end[3] != '.'))
		return name;
	return arena_strndup(arena, name, (size_t)(end - name));
}

static struct error *make_levels(struct crash *c, struct crash_site *site)
{
	site->levels = arena_calloc(&c->arena, site->level_count, sizeof *site->levels);
	if (!site->levels)
		return &error_no_memory;
	for (uint32_t i = 0; i < site->level_count; i++) {
		const struct debug_line *line = &site->lines[i];

		site->levels[i] = (struct crash_level){
			.function = line->function ? source_name(line->function, &c->arena) : NULL,
			.file = line->file,
			.line = line->line,
			.column = line->column,
			.index = CRASH_NONE,
		};
		if (!line->function)
			continue;
		if (site->levels[i].function)
			site->levels[i].name = demangle(&c->arena, site->levels[i].function);
		if (!site->levels[i].name)
			return &error_no_memory;
	}
	return NULL;
}

static struct error *make_site(struct crash *c, const struct snapshot_frame *frame, struct crash_site **ret)
{
	struct crash_site *site = arena_calloc(&c->arena, 1, sizeof *site);
	struct crash_position *positions = NULL;
	uint32_t count = 0;
	struct error *err;

	if (!site)
		return &error_no_memory;
	err = snapshot_lines(c->stopped, frame, &site->lines, &site->level_count);
	if (!err)
		err = make_levels(c, site);
	if (err)
		return err;
	site->image = frame->module;
	if (site->image != CRASH_NONE && c->images[site->image].is_traced && !frame->is_trampoline) {
		site->pc = frame->pc - !frame->is_activation - c->stopped->modules[site->image].bias;
		err = crash_positions_find(&c->images[site->image].trace, site->pc, &c->arena, &positions, &count);
		if (!err)
			err = crash_name_levels(c, site, positions, count, !frame->is_activation);
	}
	*ret = site;
	return err;
}

static struct error *find_site(struct crash *c, const struct snapshot_frame *frame, struct crash_site **ret)
{
	struct crash_builder *b = crash_builder(c);
	struct key key = {{frame->pc, frame->is_activation, frame->is_trampoline}};
	struct crash_site *site;
	uint32_t index;
	struct error *err = hashmap_add(&b->sites, &key, &index);

	if (err)
		return err;
	if (index < b->known_sites.count) {
		*ret = b->known_sites.items[index];
		return NULL;
	}
	err = make_site(c, frame, &site);
	if (!err)
		err = crash_site_vec_append(&b->known_sites, site);
	if (!err)
		*ret = site;
	return err;
}

/* ---- frames ---- */

VEC_DECLARE(crash_frame_vec, struct crash_frame);

static struct error *fill_frame(struct crash *c, const struct crash_site *site, uint32_t level,
				const struct snapshot_frame *machine, const char *inner, struct crash_frame *ret)
{
	const struct crash_level *l = &site->levels[level];
	struct error *err = NULL;

	*ret = (struct crash_frame){
		.function = l->function,
		.name = l->name,
		.file = l->file,
		.line = l->line,
		.column = l->column,
		.is_inlined = level + 1 < site->level_count,
		.machine = machine,
		.image = site->image,
		.call = CRASH_NONE,
	};
	if (l->index == CRASH_NONE)
		return NULL;
	ret->meta = &c->images[site->image].trace.meta.functions[l->index];
	ret->flow = c->images[site->image].trace.flows[l->index];
	ret->position = l->kind;
	ret->nodes = l->nodes;
	ret->node_count = l->node_count;
	if (l->position)
		err = crash_read_frame(c, l, ret);
	else if (ret->flow->cfg.node_count == 1)
		err = crash_take_only_node(c, l, ret);
	if (!err)
		ret->call = crash_find_call(&c->images[site->image], site, level, ret, inner);
	return err;
}

/* Code of ours between a function and what it calls. */
static bool is_call_bound(const struct crash_site *site)
{
	const char *function = site->levels[site->level_count - 1].function;

	return function && strcmp(function, WM1_CALL_BOUND) == 0;
}

/* Appends the functions inlined at an address, and the function itself. *inner is the callee of the machine frame. */
static struct error *append_levels(struct crash *c, const struct crash_site *site, const struct snapshot_frame *machine,
				   bool calls_bound, const char **inner, struct crash_frame_vec *frames)
{
	struct error *err = NULL;

	for (uint32_t level = 0; !err && level < site->level_count; level++) {
		struct crash_frame frame;

		err = fill_frame(c, site, level, machine, *inner, &frame);
		if (err)
			break;
		frame.calls_bound = calls_bound;
		err = crash_frame_vec_append(frames, frame);
		*inner = frame.function;
	}
	if (machine->is_trampoline)
		*inner = NULL;
	return err;
}

static struct error *make_thread(struct crash *c, const struct snapshot_thread *machine, struct crash_thread *ret)
{
	struct crash_frame_vec frames = {0};
	const char *inner = NULL;
	bool was_bound = false;
	struct error *err = NULL;

	ret->machine = machine;
	for (uint32_t i = 0; i < machine->frame_count && !err; i++) {
		const struct snapshot_frame *frame = &machine->frames[i];
		struct crash_site *site;
		bool is_bound;

		err = find_site(c, frame, &site);
		is_bound = !err && is_call_bound(site);
		if (!err && (!is_bound || frame->is_activation))
			err = append_levels(c, site, frame, was_bound, &inner, &frames);
		was_bound = is_bound;
	}
	if (!err) {
		ret->frames = arena_copy(&c->arena, frames.items, frames.count, sizeof *ret->frames);
		ret->frame_count = (uint32_t)frames.count;
		err = ret->frames ? NULL : &error_no_memory;
	}
	crash_frame_vec_deinit(&frames);
	return err;
}

static struct error *make_threads(struct crash *c)
{
	struct error *err = NULL;

	c->threads = arena_calloc(&c->arena, (size_t)c->stopped->thread_count + 1, sizeof *c->threads);
	if (!c->threads)
		return &error_no_memory;
	c->thread_count = c->stopped->thread_count;
	for (uint32_t i = 0; i < c->thread_count && !err; i++)
		err = make_thread(c, &c->stopped->threads[i], &c->threads[i]);
	return err;
}

/* Debug information that is not where the module says. */
static struct error *note_lost(struct crash *c)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < c->stopped->module_count && !err; i++) {
		const struct error *why = snapshot_lost(c->stopped, i);

		if (why)
			err = crash_note(c, "%s", why->message);
	}
	return err;
}

static struct error *fill(struct crash *c)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < c->stopped->note_count && !err; i++)
		err = crash_note_vec_append(&crash_builder(c)->notes, c->stopped->notes[i]);
	c->images = arena_calloc(&c->arena, (size_t)c->stopped->module_count + 1, sizeof *c->images);
	if (!c->images)
		return &error_no_memory;
	for (uint32_t i = 0; i < c->stopped->module_count && !err; i++)
		err = read_image(c, i);
	if (!err)
		err = crash_read_coverage(c);
	if (!err)
		err = make_threads(c);
	if (!err)
		err = note_lost(c);
	c->notes = crash_builder(c)->notes.items;
	c->note_count = (uint32_t)crash_builder(c)->notes.count;
	return err;
}

struct error *crash_create(struct snapshot *s, const struct object_search *search, struct crash *ret)
{
	struct crash c = {.stopped = s, .search = search, .builder = calloc(1, sizeof(struct crash_builder))};
	struct error *err;

	if (!c.builder)
		return &error_no_memory;
	arena_init(&c.arena);
	err = fill(&c);
	if (err)
		crash_deinit(&c);
	else
		*ret = c;
	return err;
}

void crash_deinit(struct crash *c)
{
	struct crash_builder *b = c->builder;

	for (uint32_t i = 0; c->images && i < c->stopped->module_count; i++) {
		if (c->images[i].is_traced)
			object_trace_deinit(&c->images[i].trace);
		hashmap_deinit(&c->images[i].names);
	}
	if (b) {
		hashmap_deinit(&b->sites);
		hashmap_deinit(&b->paths);
		crash_site_vec_deinit(&b->known_sites);
		crash_known_path_vec_deinit(&b->known_paths);
		hashmap_deinit(&b->partials);
		crash_partial_vec_deinit(&b->known_partials);
		crash_number_vec_deinit(&b->scratch);
		crash_note_vec_deinit(&b->notes);
		free(b);
	}
	arena_deinit(&c->arena);
	*c = (struct crash){0};
}

uint32_t crash_function_id(const struct crash *c, const struct crash_frame *f)
{
	return c->first_function[f->image] + (uint32_t)(f->meta - c->images[f->image].trace.meta.functions);
}
