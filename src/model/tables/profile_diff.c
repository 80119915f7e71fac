/*
 * profile_diff.c - joins two views in one profile whose frames are plain names; the sums over that profile, for each side, are those of
 * tables.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/text.h"
#include "model/tables/frame_keys.h"
#include "model/tables/profile_diff.h"
#include "model/tables/tree_sums.h"

uint64_t diff_change(uint64_t before, uint64_t after)
{
	return before > after ? before - after : after - before;
}

/* ---- names ---- */

/* The length of a part ".word.12.3" that a compiler has added; 0: there is none at text. */
static size_t added_len(const char *text)
{
	static const char *const words[] = {".constprop", ".isra", ".part", ".cold", ".lto_priv", ".llvm", ".clone"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t len = strlen(words[i]);

		if (!text_begins(text, words[i]))
			continue;
		while (text[len] == '.' && isdigit((unsigned char)text[len + 1]))
			len += 1 + strspn(text + len + 1, "0123456789");
		if (isalnum((unsigned char)text[len]) || text[len] == '_') /* a longer word */
			continue;
		return len;
	}
	return 0;
}

/* " [clone .constprop.0]", as demanglers write it. */
static size_t clone_len(const char *text)
{
	static const char clone[] = " [clone ";
	const char *end = text_begins(text, clone) ? strchr(text, ']') : NULL;

	return end ? (size_t)(end + 1 - text) : 0;
}

void diff_plain_name(const char *name, char *ret)
{
	while (*name) {
		size_t len = *name == '.' ? added_len(name) : *name == ' ' ? clone_len(name) : 0;

		if (len)
			name += len;
		else
			*ret++ = *name++;
	}
	*ret = '\0';
}

/* The number in `both` of a frame with plain names. */
static struct error *add_frame(struct profile *both, const struct frame *f, uint32_t *ret)
{
	char *name = malloc(strlen(f->name) + 1), *link_name = malloc(strlen(f->link_name) + 1);
	struct error *err = &error_no_memory;

	if (name && link_name) {
		struct frame plain = {.name = name,
				      .link_name = link_name,
				      .flags = f->flags & (FRAME_FOREIGN | FRAME_ROOT | FRAME_ELIDED | FRAME_METHOD)};

		diff_plain_name(f->name, name);
		diff_plain_name(f->link_name, link_name);
		err = profile_intern_frame(both, &plain, ret);
	}
	free(name);
	free(link_name);
	return err;
}

/* ---- contexts ---- */

/* By node of the view's profile, the node of `both`. */
static struct error *add_nodes(struct profile *both, const struct profile *p, uint32_t **ret)
{
	uint32_t *nodes = calloc(p->nodes.count, sizeof *nodes);
	uint32_t *frames = calloc(p->frames.count + 1, sizeof *frames);
	struct error *err = nodes && frames ? NULL : &error_no_memory;

	for (size_t i = 0; i < p->frames.count && !err; i++)
		err = add_frame(both, &p->frames.items[i], &frames[i]);
	for (size_t n = 1; n < p->nodes.count && !err; n++)
		err = profile_add_node(both, nodes[p->nodes.items[n].parent], frames[p->nodes.items[n].frame],
				       &nodes[n]);
	free(frames);
	if (err)
		free(nodes);
	else
		*ret = nodes;
	return err;
}

static struct error *add_side(struct profile_diff *d, const struct view *v, enum diff_side side)
{
	uint32_t *nodes;
	struct error *err = add_nodes(&d->both, v->profile, &nodes);

	if (err)
		return err;
	for (size_t i = 0; i < v->matching_rows && !err; i++) {
		uint32_t node = nodes[v->rows[i].node];
		uint64_t values[DIFF_SIDES] = {0};

		values[side] = v->rows[i].value;
		err = profile_add_values(&d->both, node, d->metric[DIFF_OLD], values);
		d->total[side] = sum_limited(d->total[side], v->rows[i].value);
	}
	free(nodes);
	return err;
}

static struct error *add_widest(struct profile_diff *d)
{
	struct profile *p = &d->both;
	size_t count = p->cells.count; /* those of the two sides */
	struct error *err = NULL;

	for (size_t i = 0; i < count && !err; i++) {
		const uint64_t *values = &p->values.items[p->cells.items[i].first];
		uint64_t larger = values[DIFF_OLD] > values[DIFF_NEW] ? values[DIFF_OLD] : values[DIFF_NEW];

		err = profile_add_value(p, p->cells.items[i].node, d->widest, larger);
	}
	return err;
}

static int compare_contexts(const void *left, const void *right)
{
	const struct diff_context *a = left, *b = right;

	return compare_u64(diff_change(b->value[DIFF_OLD], b->value[DIFF_NEW]),
			   diff_change(a->value[DIFF_OLD], a->value[DIFF_NEW]))
		       ?: compare_u64(a->rank, b->rank);
}

static struct error *fill_contexts(struct profile_diff *d)
{
	struct view v;
	struct error *err = view_create(&d->both, &(struct view_options){.sort = "name", .keeps_zeros = true}, "", &v);

	if (err)
		return err;
	d->contexts = calloc(v.row_count + 1, sizeof *d->contexts);
	for (size_t i = 0; i < v.row_count && d->contexts; i++) {
		struct diff_context *context = &d->contexts[d->context_count];

		*context = (struct diff_context){.node = v.rows[i].node, .rank = (uint32_t)i};
		for (int side = 0; side < DIFF_SIDES; side++)
			context->value[side] = view_value(&v, &v.rows[i], d->metric[side]);
		d->context_count += context->value[DIFF_OLD] != context->value[DIFF_NEW];
	}
	view_deinit(&v);
	if (!d->contexts)
		return &error_no_memory;
	qsort(d->contexts, d->context_count, sizeof *d->contexts, compare_contexts);
	return NULL;
}

/* ---- functions ---- */

static struct error *sum_side(const struct profile_diff *d, const struct frame_keys *keys, const uint32_t *self_keys,
			      enum diff_side side, struct key_sums *ret)
{
	const struct profile *p = &d->both;
	uint64_t *values = calloc(p->nodes.count, sizeof *values);
	struct error *err;

	if (!values)
		return &error_no_memory;
	for (size_t i = 0; i < p->cells.count; i++)
		if (p->cells.items[i].group == d->metric[DIFF_OLD])
			values[p->cells.items[i].node] = p->values.items[p->cells.items[i].first + side];
	err = tree_sums(p->nodes.items, p->nodes.count, keys->of_nodes, self_keys, keys->count, values, ret);
	free(values);
	return err;
}

static struct error *sum_sides(struct profile_diff *d, const struct frame_keys *keys)
{
	const struct profile *p = &d->both;
	struct key_sums *sums = calloc((size_t)keys->count + 1, sizeof *sums);
	uint32_t *self_keys = NULL;
	struct error *err = sums ? NULL : &error_no_memory;

	if (!err)
		err = frame_keys_self(p, &p->metrics.items[d->metric[DIFF_OLD]], keys->of_nodes, &self_keys);
	for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES && !err; side++) {
		err = sum_side(d, keys, self_keys, side, sums);
		for (uint32_t key = 0; key < keys->count && !err; key++) {
			d->functions[key].name = keys->names[key];
			d->functions[key].self[side] = sums[key].self;
			d->functions[key].total[side] = sums[key].total;
		}
	}
	free(self_keys);
	free(sums);
	return err;
}

/* Where the functions of a side are: the first frame of each that knows says it. */
static struct error *find_files(struct profile_diff *d, const struct view *v, enum diff_side side,
				const struct hashmap *numbers)
{
	const struct profile *p = v->profile;
	struct error *err = NULL;

	for (size_t i = 0; i < p->frames.count && !err; i++) {
		const struct frame *f = &p->frames.items[i];
		const char *file = f->file ? f->file : f->image, *name;
		char *plain = malloc(strlen(f->name) + 1);
		uint32_t number;

		if (!plain)
			return &error_no_memory;
		diff_plain_name(f->name, plain);
		err = profile_copy_string(&d->both, plain, &name);
		free(plain);
		if (!err && file && hashmap_find(numbers, &(struct key){{(uint64_t)(uintptr_t)name, 0, 0}}, &number) &&
		    !d->functions[number].file[side])
			err = profile_copy_string(&d->both, file, &d->functions[number].file[side]);
	}
	return err;
}

static int compare_functions(const void *left, const void *right)
{
	const struct diff_function *a = left, *b = right;

	return compare_u64(diff_change(b->self[DIFF_OLD], b->self[DIFF_NEW]),
			   diff_change(a->self[DIFF_OLD], a->self[DIFF_NEW]))
		       ?: compare_u64(diff_change(b->total[DIFF_OLD], b->total[DIFF_NEW]),
				      diff_change(a->total[DIFF_OLD], a->total[DIFF_NEW]))
		       ?: strcmp(a->name, b->name);
}

static bool is_changed(const struct diff_function *f)
{
	return f->self[DIFF_OLD] != f->self[DIFF_NEW] || f->total[DIFF_OLD] != f->total[DIFF_NEW];
}

/* A file of the same name in another directory is that of another checkout. */
static bool is_moved(const struct diff_function *f)
{
	const char *old = f->file[DIFF_OLD], *new = f->file[DIFF_NEW];

	return old && new && !text_equal(text_base_name(old), text_base_name(new));
}

static struct error *find_all_files(struct profile_diff *d, const struct view *old, const struct view *new)
{
	struct hashmap numbers = {0};
	uint32_t number;
	struct error *err = NULL;

	for (size_t i = 0; i < d->function_count && !err; i++)
		err = hashmap_add(&numbers, &(struct key){{(uint64_t)(uintptr_t)d->functions[i].name, 0, 0}}, &number);
	err = err ?: find_files(d, old, DIFF_OLD, &numbers) ?: find_files(d, new, DIFF_NEW, &numbers);
	hashmap_deinit(&numbers);
	for (size_t i = 0; i < d->function_count; i++)
		d->functions[i].is_moved = is_moved(&d->functions[i]);
	return err;
}

static struct error *fill_functions(struct profile_diff *d, const struct view *old, const struct view *new)
{
	struct frame_keys keys;
	size_t kept = 0;
	struct error *err = frame_keys_create(&d->both, KEY_FUNCTION, &keys);

	if (err)
		return err;
	d->functions = calloc((size_t)keys.count + 1, sizeof *d->functions);
	d->function_count = keys.count;
	err = d->functions ? sum_sides(d, &keys) : &error_no_memory;
	err = err ?: find_all_files(d, old, new);
	frame_keys_deinit(&keys);
	if (err)
		return err;
	for (size_t i = 0; i < d->function_count; i++)
		if (is_changed(&d->functions[i]))
			d->functions[kept++] = d->functions[i];
	d->function_count = kept;
	qsort(d->functions, kept, sizeof *d->functions, compare_functions);
	return NULL;
}

/* ---- both ---- */

static struct error *add_metrics(struct profile_diff *d, const struct metric *m)
{
	struct metric rows[] = {*m, *m, *m};
	struct error *err;

	rows[0].name = "old";
	rows[1].name = "new";
	rows[2].name = "widest";
	err = profile_add_metrics(&d->both, rows, 2, &d->metric[DIFF_OLD])
		      ?: profile_add_metrics(&d->both, &rows[2], 1, &d->widest);
	d->metric[DIFF_NEW] = d->metric[DIFF_OLD] + 1;
	for (size_t i = 0; i < d->both.metrics.count; i++)
		d->both.metrics.items[i].total = 0;
	return err;
}

struct error *profile_diff_create(const struct view *old, const struct view *new, struct profile_diff *ret)
{
	struct profile_diff d = {0};
	struct error *err = profile_init(&d.both);

	if (err)
		return err;
	d.both.file_bytes = old->profile->file_bytes + new->profile->file_bytes;
	err = add_metrics(&d, &old->profile->metrics.items[old->metric])
		      ?: add_side(&d, old, DIFF_OLD)
		      ?: add_side(&d, new, DIFF_NEW)
		      ?: add_widest(&d);
	profile_finish(&d.both);
	err = err ?: fill_contexts(&d) ?: fill_functions(&d, old, new);
	if (err)
		profile_diff_deinit(&d);
	else
		*ret = d;
	return err;
}

void profile_diff_deinit(struct profile_diff *d)
{
	free(d->functions);
	free(d->contexts);
	profile_deinit(&d->both);
	*d = (struct profile_diff){0};
}
