/*
 * crash_lines.c - collects (file, line, state) of every block's lines, sorts, and keeps the most certain of each line.
 */
#include <stdlib.h>
#include <string.h>

#include "report/crash_lines.h"
#include "report/crash_renderer.h"

#define ALL_BEGUN UINT32_MAX

struct collect {
	const struct crash *c;
	const struct activity_result *activity;
	struct crash_lines *l;
	uint32_t **
		not_begun; /* [function][node]: of the lines of a node where control is, the first one that was not begun;
				 NULL, ALL_BEGUN: nothing is known of such */
};

const char *crash_state_name(uint8_t state)
{
	static const char *const names[] = {
		[ACTIVITY_NO] = "no",
		[ACTIVITY_MAYBE] = "maybe",
		[ACTIVITY_YES] = "yes",
		[CRASH_LINE_UNKNOWN] = "unknown",
	};

	return names[state];
}

static struct key text_key(const char *text)
{
	size_t len = strlen(text);

	return (struct key){{pathmeta_hash(PATHMETA_HASH, text, len), len, 0}};
}

struct error *crash_lines_file(struct crash_lines *l, const char *name, uint32_t *ret)
{
	struct key key = text_key(name);
	uint32_t spelled, file;
	const char *plain;
	struct error *err = keymap_add(&l->spelled_map, &key, &spelled);

	if (err)
		return err;
	if (spelled < l->spelled.count) {
		*ret = l->spelled.items[spelled];
		return NULL;
	}
	plain = path_show_plain_name(name, &l->arena);
	if (!plain)
		return &error_no_memory;
	key = text_key(plain);
	err = keymap_add(&l->file_map, &key, &file);
	if (!err && file == l->files.count)
		err = crash_line_file_vec_append(&l->files, (struct crash_line_file){.name = plain});
	if (!err)
		err = crash_file_number_vec_append(&l->spelled, file);
	if (!err)
		*ret = file;
	return err;
}

/* ---- where control is ---- */

static struct error *note_frame(struct collect *k, const struct crash_thread *t, const struct crash_frame *f)
{
	uint32_t id = crash_function_id(k->c, f);
	struct path_walk walk = crash_path_walk(k->c, t, f, NULL);
	bool is_found;

	walk.is_partial = true;
	if (!k->not_begun[id]) {
		k->not_begun[id] = arena_alloc(&k->l->arena, f->flow->cfg.node_count * sizeof **k->not_begun);
		if (!k->not_begun[id])
			return &error_no_memory;
		memset(k->not_begun[id], 0xff, f->flow->cfg.node_count * sizeof **k->not_begun);
	}
	for (uint32_t i = 0; i < f->node_count; i++) {
		uint32_t node = f->nodes[i], begun = path_lines_begun(&walk, node, &is_found);

		if (!walk.stop_line)
			begun = f->flow->first_line[node]; /* none of them for sure */
		if (begun < k->not_begun[id][node])
			k->not_begun[id][node] = begun;
	}
	return NULL;
}

/* Nodes of paths that have ended ran to their ends. */
static void note_complete(struct collect *k, const struct crash_frame *f, uint32_t *nodes)
{
	uint32_t *not_begun = k->not_begun[crash_function_id(k->c, f)];

	for (uint32_t i = 0; i < f->path_count; i++) {
		uint32_t count = crash_path_nodes(k->c, f, &f->paths[i], nodes);

		count -= count && f->paths[i].is_current;
		for (uint32_t n = 0; n < count; n++)
			not_begun[nodes[n]] = ALL_BEGUN;
	}
}

static struct error *note_frames(struct collect *k)
{
	struct error *err = NULL;

	for (uint32_t t = 0; t < k->c->thread_count && !err; t++) {
		const struct crash_thread *thread = &k->c->threads[t];

		for (uint32_t i = 0; i < thread->frame_count && !err; i++)
			if (thread->frames[i].flow)
				err = note_frame(k, thread, &thread->frames[i]);
	}
	for (uint32_t t = 0; t < k->c->thread_count && !err; t++) {
		const struct crash_thread *thread = &k->c->threads[t];

		for (uint32_t i = 0; i < thread->frame_count && !err; i++) {
			const struct crash_frame *f = &thread->frames[i];
			uint32_t *nodes;

			if (f->trace != CRASH_TRACE_WHOLE && f->trace != CRASH_TRACE_LAST)
				continue;
			nodes = calloc((size_t)f->flow->cfg.node_count + 1, sizeof *nodes);
			if (!nodes)
				return &error_no_memory;
			note_complete(k, f, nodes);
			free(nodes);
		}
	}
	return err;
}

/* ---- lines ---- */

static uint8_t state_of(const struct collect *k, uint32_t id, uint32_t node, uint32_t line)
{
	uint8_t state = k->activity ? k->activity->nodes[id][node] : CRASH_LINE_UNKNOWN;

	if (state == ACTIVITY_YES && k->not_begun[id] && line >= k->not_begun[id][node])
		state = ACTIVITY_MAYBE;
	return state;
}

static struct error *add_line(struct collect *k, const char *file, uint32_t line, uint8_t state)
{
	struct crash_line piece = {.line = line, .state = state};
	struct error *err;

	if (!file || !line)
		return NULL;
	err = crash_lines_file(k->l, file, &piece.file);
	return err ? err : crash_line_vec_append(&k->l->lines, piece);
}

static struct error *add_function(struct collect *k, uint32_t id, const struct pathmeta_function *flow)
{
	struct crash_line_function function = {.file = UINT32_MAX, .line = flow->line, .id = id, .flow = flow};
	struct error *err = flow->file && flow->line ? crash_lines_file(k->l, flow->file, &function.file) : NULL;

	for (uint32_t node = 0; node < flow->cfg.node_count && !err; node++) {
		function.blocks[k->activity ? k->activity->nodes[id][node] : CRASH_LINE_UNKNOWN]++;
		for (uint32_t i = flow->first_line[node]; i < flow->first_line[node + 1] && !err; i++)
			err = add_line(k, flow->lines[i].file, flow->lines[i].line, state_of(k, id, node, i));
	}
	function.state = k->activity ? k->activity->functions[id] : CRASH_LINE_UNKNOWN;
	return err ? err : crash_line_function_vec_append(&k->l->functions, function);
}

static int compare_lines(const void *a, const void *b)
{
	const struct crash_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (int)y->state - (int)x->state; /* the most certain first */
}

static void fold_lines(struct crash_lines *l)
{
	size_t count = 0;

	qsort(l->lines.items, l->lines.count, sizeof *l->lines.items, compare_lines);
	for (size_t i = 0; i < l->lines.count; i++) {
		const struct crash_line *line = &l->lines.items[i];
		struct crash_line_file *file = &l->files.items[line->file];

		if (count && l->lines.items[count - 1].file == line->file &&
		    l->lines.items[count - 1].line == line->line)
			continue;
		if (!file->line_count++)
			file->first_line = count;
		file->states[line->state]++;
		l->lines.items[count++] = *line;
	}
	l->lines.count = count;
}

/* ---- functions ---- */

static int compare_places(const struct crash_line_function *x, const struct crash_line_function *y)
{
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(x->flow->link_name, y->flow->link_name);
}

static int compare_functions(const void *a, const void *b)
{
	const struct crash_line_function *x = a, *y = b;
	int order = compare_places(x, y);

	if (order)
		return order;
	if (x->state != y->state)
		return x->state > y->state ? -1 : 1;
	if (x->blocks[ACTIVITY_YES] != y->blocks[ACTIVITY_YES])
		return x->blocks[ACTIVITY_YES] > y->blocks[ACTIVITY_YES] ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

static void fold_functions(struct crash_lines *l)
{
	size_t count = 0;

	qsort(l->functions.items, l->functions.count, sizeof *l->functions.items, compare_functions);
	for (size_t i = 0; i < l->functions.count; i++) {
		const struct crash_line_function *f = &l->functions.items[i];

		if (f->file != UINT32_MAX && count && compare_places(&l->functions.items[count - 1], f) == 0)
			continue;
		l->functions.items[count] = *f;
		if (f->file != UINT32_MAX) {
			if (!l->files.items[f->file].function_count++)
				l->files.items[f->file].first_function = count;
			l->placed_functions = count + 1;
		}
		count++;
	}
	l->functions.count = count;
}

struct error *crash_lines_create(const struct crash *c, const struct activity_result *activity, struct crash_lines *ret)
{
	struct collect k = {.c = c, .activity = activity, .l = ret};
	uint32_t total = c->first_function[c->stopped->module_count];
	struct error *err;

	*ret = (struct crash_lines){0};
	arena_init(&ret->arena);
	k.not_begun = arena_calloc(&ret->arena, (size_t)total + 1, sizeof *k.not_begun);
	err = k.not_begun ? note_frames(&k) : &error_no_memory;
	for (uint32_t i = 0; i < c->stopped->module_count; i++)
		for (uint32_t id = c->first_function[i]; id < c->first_function[i + 1] && !err; id++)
			err = add_function(&k, id, c->images[i].trace.flows[id - c->first_function[i]]);
	if (err) {
		crash_lines_deinit(ret);
		return err;
	}
	fold_lines(ret);
	fold_functions(ret);
	return NULL;
}

void crash_lines_deinit(struct crash_lines *l)
{
	keymap_deinit(&l->spelled_map);
	crash_file_number_vec_deinit(&l->spelled);
	keymap_deinit(&l->file_map);
	crash_line_file_vec_deinit(&l->files);
	crash_line_vec_deinit(&l->lines);
	crash_line_function_vec_deinit(&l->functions);
	arena_deinit(&l->arena);
}

const struct crash_line *crash_lines_find(const struct crash_lines *l, uint32_t file, uint32_t line)
{
	size_t low = l->files.items[file].first_line, end = low + l->files.items[file].line_count, high = end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->lines.items[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && l->lines.items[low].line == line ? &l->lines.items[low] : NULL;
}
