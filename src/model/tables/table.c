/* table.c - keys of nodes, sums of keys, rows of sums; then order and cut. */
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"
#include "base/order.h"
#include "model/base/context_text.h"
#include "model/tables/table.h"
#include "model/tables/tree_sums.h"

enum {
	CONTEXT_NAME_BYTES = 16, /* of a frame, about */
};

static const struct table_kind kinds[] = {
	{.by = {"function", NULL}, .heading = "Functions", .column = "function", .key = KEY_FUNCTION},
	{.by = {"line", NULL}, .heading = "Lines", .column = "line", .key = KEY_LINE},
	{.by = {"module", NULL}, .heading = "Modules", .column = "module", .key = KEY_MODULE},
	{.by = {"image", NULL}, .heading = "Images", .column = "image", .key = KEY_IMAGE},
	{.by = {"thread", NULL}, .heading = "Threads", .column = "thread", .key = KEY_THREAD},
	{.by = {"context", NULL}, .heading = "Contexts", .column = "context", .key = KEY_CONTEXT},
	{.by = {0}},
};

const struct word_table table_kinds = {kinds, sizeof *kinds};

static struct error *sum_keys(const struct view *v, const struct frame_keys *keys, bool *ret_skips,
			      struct key_sums **ret)
{
	const struct profile *p = v->profile;
	struct key_sums *sums = calloc((size_t)keys->count + 1, sizeof *sums);
	uint64_t *values = NULL;
	uint32_t *self_keys = NULL;
	struct error *err =
		sums ? view_node_values(v, &values)
				?: frame_keys_self(p, &p->metrics.items[v->metric], keys->of_nodes, &self_keys)
		     : &error_no_memory;

	if (!err)
		err = tree_sums(p->nodes.items, p->nodes.count, keys->of_nodes, self_keys, keys->count, values, sums);
	*ret_skips = self_keys != NULL;
	free(values);
	free(self_keys);
	if (err)
		free(sums);
	else
		*ret = sums;
	return err;
}

static int compare_names(const struct table_row *a, const struct table_row *b)
{
	const char *left = a->frame->file ? a->frame->file : "", *right = b->frame->file ? b->frame->file : "";

	return strcmp(a->name, b->name)
		       ?: strcmp(left, right)
		       ?: compare_u64(a->frame->line, b->frame->line)
		       ?: compare_u64(a->frame->column, b->frame->column);
}

static int compare_rows(const void *left, const void *right, void *data)
{
	const struct table_row *a = left, *b = right;
	enum table_order order = *(const enum table_order *)data;
	int result = 0;

	if (order == TABLE_BY_SELF)
		result = compare_u64(b->self, a->self) ?: compare_u64(b->total, a->total);
	else if (order == TABLE_BY_TOTAL)
		result = compare_u64(b->total, a->total) ?: compare_u64(b->self, a->self);
	return result ?: compare_names(a, b) ?: compare_u64(a->node, b->node);
}

/* Rows of keys that have something. */
static void fill_rows(const struct profile *p, const struct frame_keys *keys, const struct key_sums *sums, double least,
		      struct table *t)
{
	for (uint32_t key = 0; key < keys->count; key++) {
		if (!sums[key].total && !sums[key].self)
			continue;
		t->all_rows++;
		if ((double)sums[key].total < least)
			continue;
		t->rows[t->row_count++] = (struct table_row){.name = keys->names[key],
							     .frame = &p->frames.items[keys->examples[key]],
							     .self = sums[key].self,
							     .total = sums[key].total,
							     .node = keys->nodes ? keys->nodes[key] : 0};
	}
}

/* Of those that are shown: all of a profile's contexts have too many names. */
static struct error *name_contexts(const struct view *v, struct table *t)
{
	struct frame_vec frames = {0};
	uint64_t frame_count = 0;
	struct error *err;

	for (size_t i = 0; i < t->row_count; i++)
		frame_count += v->profile->nodes.items[t->rows[i].node].depth;
	err = view_check_size(v, frame_count * CONTEXT_NAME_BYTES);
	for (size_t i = 0; i < t->row_count && !err; i++) {
		char *text;

		err = view_frames(v->profile, t->rows[i].node, &frames)
			      ?: stack_folded_text(frames.items, frames.count, &text);
		if (err)
			break;
		t->rows[i].name = arena_strdup(&t->arena, text);
		free(text);
		err = t->rows[i].name ? NULL : &error_no_memory;
	}
	frame_vec_deinit(&frames);
	return err;
}

struct error *table_create(const struct view *v, const struct table_options *options, struct table *ret)
{
	const struct profile *p = v->profile;
	struct table t = {.kind = options->kind, .order = options->order};
	struct frame_keys keys;
	struct key_sums *sums;
	struct error *err = frame_keys_create(p, options->kind->key, &keys);

	if (err)
		return err;
	err = sum_keys(v, &keys, &t.skips_allocators, &sums);
	if (!err) {
		t.rows = calloc((size_t)keys.count + 1, sizeof *t.rows);
		if (t.rows)
			fill_rows(p, &keys, sums, options->min * (double)p->metrics.items[v->metric].total / 100, &t);
		else
			err = &error_no_memory;
		free(sums);
	}
	t.arena = keys.arena;
	arena_init(&keys.arena);
	frame_keys_deinit(&keys);
	if (err) {
		table_deinit(&t);
		return err;
	}
	qsort_r(t.rows, t.row_count, sizeof *t.rows, compare_rows, &t.order);
	if (options->top && t.row_count > options->top)
		t.row_count = options->top;
	if (t.kind->key == KEY_CONTEXT)
		err = name_contexts(v, &t);
	if (err)
		table_deinit(&t);
	else
		*ret = t;
	return err;
}

void table_deinit(struct table *t)
{
	free(t->rows);
	arena_deinit(&t->arena);
	*t = (struct table){0};
}
