/* annotation.c - sums by line of the chosen functions alone: all other frames share one key, which is left out. */
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "base/sum.h"
#include "base/text.h"
#include "model/tables/annotation.h"
#include "model/tables/frame_keys.h"
#include "model/tables/tree_sums.h"

enum {
	KEY_OTHER, /* of frames of other functions */
	KEY_FIRST,
};

struct line_keys {
	uint32_t *of_frames;
	uint32_t *of_nodes;
	uint32_t *self_keys; /* NULL: of_nodes */
	uint32_t *examples;  /* by key: a frame that has it */
	uint32_t count;
};

static void keys_free(struct line_keys *keys)
{
	free(keys->of_frames);
	free(keys->of_nodes);
	free(keys->self_keys);
	free(keys->examples);
}

static bool is_chosen(const struct frame *f, const struct pattern_vec *functions)
{
	return patterns_match(functions, f->name) || patterns_match(functions, f->link_name);
}

static struct error *number_lines(const struct profile *p, const struct pattern_vec *functions, struct line_keys *keys)
{
	struct hashmap map = {0};
	struct error *err = NULL;

	keys->count = KEY_FIRST;
	for (uint32_t i = 0; i < p->frames.count && !err; i++) {
		const struct frame *f = &p->frames.items[i];
		const char *file = f->line ? f->file : NULL; /* interned */
		uint32_t number;

		if (!is_chosen(f, functions))
			continue;
		err = hashmap_add(&map, &(struct key){{(uint64_t)(uintptr_t)file, file ? f->line : 0, 0}}, &number);
		keys->of_frames[i] = KEY_FIRST + number;
		if (err || keys->of_frames[i] < keys->count)
			continue;
		keys->examples[keys->count++] = i;
	}
	hashmap_deinit(&map);
	if (!err && keys->count == KEY_FIRST)
		err = error_create(ERROR_NOT_FOUND, "%s: no function has this name", functions->items[0].text);
	return err;
}

static struct error *keys_create(const struct view *v, const struct pattern_vec *functions, struct line_keys *ret)
{
	const struct profile *p = v->profile;
	struct line_keys keys = {.of_frames = calloc(p->frames.count + 1, sizeof(uint32_t)),
				 .of_nodes = calloc(p->nodes.count, sizeof(uint32_t)),
				 .examples = calloc(p->frames.count + 1 + KEY_FIRST, sizeof(uint32_t))};
	uint32_t *self_keys = NULL;
	struct error *err =
		keys.of_frames && keys.of_nodes && keys.examples ? number_lines(p, functions, &keys) : &error_no_memory;

	for (size_t n = 1; n < p->nodes.count && !err; n++)
		keys.of_nodes[n] = keys.of_frames[p->nodes.items[n].frame];
	if (!err)
		err = frame_keys_self(p, &p->metrics.items[v->metric], keys.of_nodes, &self_keys);
	keys.self_keys = self_keys;
	if (err)
		keys_free(&keys);
	else
		*ret = keys;
	return err;
}

/* Each context in which one of the functions is, once. */
static uint64_t total_of(const struct profile *p, const struct line_keys *keys, const uint64_t *whole)
{
	uint64_t total = 0;
	bool *is_inside = calloc(p->nodes.count, sizeof *is_inside);

	for (size_t n = 1; n < p->nodes.count && is_inside; n++) {
		bool is_above = is_inside[p->nodes.items[n].parent], is_here = keys->of_nodes[n] != KEY_OTHER;

		is_inside[n] = is_above || is_here;
		if (is_here && !is_above)
			total = sum_limited(total, whole[n]);
	}
	free(is_inside);
	return total;
}

static int compare_lines(const void *left, const void *right)
{
	const struct annotated_line *a = left, *b = right;

	if (!a->file || !b->file)
		return (a->file == NULL) - (b->file == NULL);
	return strcmp(a->file, b->file) ?: compare_u64(a->line, b->line);
}

static void fill_lines(const struct profile *p, const struct line_keys *keys, const struct key_sums *sums,
		       struct annotation *a)
{
	for (uint32_t key = KEY_FIRST; key < keys->count; key++) {
		const struct frame *f = &p->frames.items[keys->examples[key]];

		if (!sums[key].total && !sums[key].self)
			continue;
		a->lines[a->line_count++] = (struct annotated_line){.file = f->line ? f->file : NULL,
								    .line = f->file ? f->line : 0,
								    .self = sums[key].self,
								    .total = sums[key].total};
		a->self = sum_limited(a->self, sums[key].self);
	}
	qsort(a->lines, a->line_count, sizeof *a->lines, compare_lines);
}

static int compare_files(const void *left, const void *right)
{
	const struct annotated_file *a = left, *b = right;

	return compare_u64(b->self, a->self) ?: compare_u64(a->first, b->first);
}

static void fill_files(struct annotation *a)
{
	for (size_t i = 0; i < a->line_count; i++) {
		struct annotated_file *file = a->file_count ? &a->files[a->file_count - 1] : NULL;

		if (!file || !text_equal(file->name, a->lines[i].file)) {
			file = &a->files[a->file_count++];
			*file = (struct annotated_file){.name = a->lines[i].file, .first = i};
		}
		file->count++;
		file->self = sum_limited(file->self, a->lines[i].self);
	}
	qsort(a->files, a->file_count, sizeof *a->files, compare_files);
}

static struct error *fill(const struct view *v, const struct line_keys *keys, struct annotation *a)
{
	const struct profile *p = v->profile;
	struct key_sums *sums = calloc(keys->count, sizeof *sums);
	uint64_t *values = NULL;
	struct error *err;

	a->lines = calloc(keys->count, sizeof *a->lines);
	a->files = calloc(keys->count, sizeof *a->files);
	err = sums && a->lines && a->files ? view_node_values(v, &values) : &error_no_memory;
	if (!err)
		err = tree_sums(p->nodes.items, p->nodes.count, keys->of_nodes, keys->self_keys, keys->count, values,
				sums);
	if (!err) {
		fill_lines(p, keys, sums, a);
		fill_files(a);
		a->total = total_of(p, keys, values);
	}
	free(values);
	free(sums);
	return err;
}

struct error *annotation_create(const struct view *v, const struct pattern_vec *functions, struct annotation *ret)
{
	struct annotation a = {0};
	struct line_keys keys;
	struct error *err = keys_create(v, functions, &keys);

	if (err)
		return err;
	err = fill(v, &keys, &a);
	keys_free(&keys);
	if (err)
		annotation_deinit(&a);
	else
		*ret = a;
	return err;
}

void annotation_deinit(struct annotation *a)
{
	free(a->lines);
	free(a->files);
	*a = (struct annotation){0};
}
