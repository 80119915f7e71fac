/* flame_tree.c - a tree by names from the tree by frames: names are pointers to interned strings, so merging compares numbers. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/base/flame_tree.h"
#include "base/hashmap.h"

struct builder {
	const struct view *v;
	struct hashmap map; /* (parent box, name) -> box - 1 */
	uint32_t *box_of;   /* node of the profile -> box; 0: not asked for yet */
	struct flame *f;
	size_t capacity;
	uint32_t *path; /* scratch */
	size_t path_capacity;
};

/* What the box says of its place is what all of its frames have. Equal strings are equal pointers. */
static void join_places(struct flame_box *box, const struct frame *frame)
{
	if (box->file != frame->file || box->line != frame->line)
		box->line = 0;
	if (box->file != frame->file)
		box->file = NULL;
	if (box->image != frame->image)
		box->image = NULL;
}

static struct error *add_box(struct builder *b, uint32_t parent, const struct frame *frame, uint32_t *ret)
{
	struct key key = {{parent, (uint64_t)(uintptr_t)frame->name, 0}};
	uint32_t box;
	struct error *err = hashmap_add(&b->map, &key, &box);

	if (err)
		return err;
	box++;
	if (box >= b->f->count) {
		if (b->f->count >= b->capacity) {
			struct flame_box *grown =
				vec_grow(b->f->boxes, &b->capacity, (size_t)b->f->count + 1, sizeof *grown);

			if (!grown)
				return &error_no_memory;
			b->f->boxes = grown;
		}
		b->f->boxes[box] = (struct flame_box){.name = frame->name,
						      .flags = frame->flags,
						      .file = frame->file,
						      .image = frame->image,
						      .line = frame->line,
						      .parent = parent,
						      .depth = b->f->boxes[parent].depth + 1};
		b->f->count++;
		if (b->f->boxes[box].depth > b->f->deepest)
			b->f->deepest = b->f->boxes[box].depth;
	}
	join_places(&b->f->boxes[box], frame);
	*ret = box;
	return NULL;
}

/* The box of a node; its ancestors' boxes first. */
static struct error *find_box(struct builder *b, uint32_t node, uint32_t *ret)
{
	const struct profile *p = b->v->profile;
	size_t len = 0;
	uint32_t box = 0;
	struct error *err = NULL;

	if (p->nodes.items[node].depth > b->path_capacity) {
		uint32_t *grown = vec_grow(b->path, &b->path_capacity, p->nodes.items[node].depth, sizeof *grown);

		if (!grown)
			return &error_no_memory;
		b->path = grown;
	}
	for (; node && !b->box_of[node]; node = p->nodes.items[node].parent)
		b->path[len++] = node;
	if (node)
		box = b->box_of[node];
	while (len && !err) {
		node = b->path[--len];
		err = add_box(b, box, &p->frames.items[p->nodes.items[node].frame], &box);
		if (!err)
			b->box_of[node] = box;
	}
	if (!err)
		*ret = box;
	return err;
}

/* What does not fit stays at the largest number. */
static void add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

/* Children come after their parents, so one pass from the end sums up. */
static void sum_up(struct flame *f)
{
	for (uint32_t i = f->count; i-- > 1;) {
		struct flame_box *parent = &f->boxes[f->boxes[i].parent];

		add(&parent->total, f->boxes[i].total);
		add(&parent->before, f->boxes[i].before);
		add(&parent->after, f->boxes[i].after);
	}
}

static void add_row(const struct view *v, const struct view_row *row, struct flame_box *box)
{
	add(&box->total, row->value);
	if (!v->has_change)
		return;
	add(&box->before, view_value(v, row, v->before));
	add(&box->after, view_value(v, row, v->after));
}

static int compare_boxes(const void *left, const void *right, void *data)
{
	const struct flame_box *boxes = data;
	const struct flame_box *a = &boxes[*(const uint32_t *)left], *b = &boxes[*(const uint32_t *)right];

	return compare_u64(a->parent, b->parent) ?: compare_u64(b->total, a->total) ?: strcmp(a->name, b->name);
}

/* Sorted, the children of a box stand together: links them and gives each its place. */
static struct error *place_boxes(struct flame *f)
{
	uint32_t *order = calloc(f->count, sizeof *order);
	double whole = f->boxes[0].total ? (double)f->boxes[0].total : 1;
	double *free_x = calloc(f->count, sizeof *free_x); /* in a box, where its next child goes */

	if (!order || !free_x) {
		free(order);
		free(free_x);
		return &error_no_memory;
	}
	for (uint32_t i = 0; i < f->count; i++)
		order[i] = i;
	qsort_r(order + 1, f->count - 1, sizeof *order, compare_boxes, f->boxes);
	for (uint32_t i = f->count; i-- > 1;) { /* backwards, so that the first comes to the front of the list */
		struct flame_box *box = &f->boxes[order[i]];

		box->next_sibling = f->boxes[box->parent].first_child;
		f->boxes[box->parent].first_child = order[i];
	}
	for (uint32_t i = 1; i < f->count; i++) { /* parents of lower numbers were placed before */
		struct flame_box *box = &f->boxes[order[i]];

		box->x = free_x[box->parent];
		free_x[box->parent] += (double)box->total / whole;
		free_x[order[i]] = box->x;
	}
	free(order);
	free(free_x);
	return NULL;
}

struct error *flame_create(const struct view *v, struct flame *ret)
{
	struct flame f = {0};
	struct builder b = {.v = v, .f = &f, .capacity = 1};
	struct error *err = NULL;

	f.boxes = calloc(1, sizeof *f.boxes);
	b.box_of = calloc(v->profile->nodes.count, sizeof *b.box_of);
	if (!f.boxes || !b.box_of)
		err = &error_no_memory;
	else
		f.boxes[f.count++].name = "all";
	for (size_t i = 0; i < v->row_count && !err; i++) {
		uint32_t box;

		if (!v->rows[i].value)
			continue;
		err = find_box(&b, v->rows[i].node, &box);
		if (!err)
			add_row(v, &v->rows[i], &f.boxes[box]);
	}
	if (!err) {
		sum_up(&f);
		err = place_boxes(&f);
	}
	hashmap_deinit(&b.map);
	free(b.box_of);
	vec_free(b.path);
	if (err)
		flame_deinit(&f);
	else
		*ret = f;
	return err;
}

void flame_deinit(struct flame *f)
{
	vec_free(f->boxes);
	*f = (struct flame){0};
}
