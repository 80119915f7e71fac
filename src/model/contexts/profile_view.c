/* profile_view.c - cells of the profile to rows: one pass to find the rows, then filter, sort, cut. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/contexts/profile_view.h"

static const uint32_t BY_NAME = UINT32_MAX;

struct row_order {
	const struct view *view;
};

static struct error *unknown_metric(const struct profile *p, const char *name)
{
	struct buffer list = {0};
	struct error *err;

	for (size_t i = 0; i < p->metrics.count; i++)
		buffer_printf(&list, "%s%s", i ? ", " : "", p->metrics.items[i].name);
	buffer_u8(&list, 0);
	err = buffer_error(&list);
	if (!err)
		err = error_create(ERROR_ARGUMENT, "nothing recorded is called %s; there is: %s", name,
				   p->metrics.count ? (char *)list.bytes : "nothing");
	buffer_deinit(&list);
	return err;
}

static struct error *find_metric(const struct profile *p, const char *name, uint32_t *ret)
{
	for (size_t i = 0; i < p->metrics.count; i++) {
		if (strcmp(p->metrics.items[i].name, name) == 0) {
			*ret = (uint32_t)i;
			return NULL;
		}
	}
	return unknown_metric(p, name);
}

/* Bytes of the heap if there are any, else the event that happened most often. */
static uint32_t default_metric(const struct profile *p)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < p->metrics.count; i++) {
		const struct metric *m = &p->metrics.items[i];

		if (m->unit == UNIT_BYTES && strcmp(m->name, "bytes") == 0 && m->total)
			return i;
		if (m->unit == UNIT_COUNT &&
		    m->total > (p->metrics.items[best].unit == UNIT_COUNT ? p->metrics.items[best].total : 0))
			best = i;
	}
	return best;
}

static struct error *choose_metrics(struct view *v, const struct view_options *o)
{
	const struct profile *p = v->profile;
	struct error *err = NULL;

	v->has_metric = p->metrics.count > 0;
	if (v->has_metric)
		v->metric = default_metric(p);
	if (o->metric)
		err = find_metric(p, o->metric, &v->metric);
	v->sort = v->metric;
	if (!err && o->sort && strcmp(o->sort, "name") == 0)
		v->sort = BY_NAME;
	else if (!err && o->sort)
		err = find_metric(p, o->sort, &v->sort);
	if (!err && o->adds_up && v->has_metric && p->metrics.items[v->metric].is_maximum)
		err = error_create(
			ERROR_ARGUMENT,
			"%s: the largest values of contexts were not reached at one time, so they do not add up: "
			"--format=text and json show them",
			p->metrics.items[v->metric].name);
	return err;
}

static struct error *fill_rows(struct view *v)
{
	const struct profile *p = v->profile;
	uint32_t *row_of = calloc(p->nodes.count, sizeof *row_of);
	size_t rows = 0;

	if (!row_of)
		return &error_no_memory;
	for (size_t i = 0; i < p->cells.count; i++)
		if (!row_of[p->cells.items[i].node])
			row_of[p->cells.items[i].node] = (uint32_t)++rows;
	v->rows = calloc(rows + 1, sizeof *v->rows);
	v->values = calloc(rows * p->metrics.count + 1, sizeof *v->values);
	if (!v->rows || !v->values) {
		free(row_of);
		return &error_no_memory;
	}
	for (size_t i = 0; i < p->cells.count; i++) {
		const struct cell *c = &p->cells.items[i];
		size_t row = row_of[c->node] - 1;

		v->rows[row].node = c->node;
		v->rows[row].values = v->values + row * p->metrics.count;
		v->values[row * p->metrics.count + c->metric] = c->value;
	}
	v->row_count = rows;
	free(row_of);
	return NULL;
}

static bool matches(const struct frame *f, const struct view_options *o)
{
	for (size_t i = 0; i < o->function_count; i++)
		if (fnmatch(o->functions[i], f->name, 0) == 0 || fnmatch(o->functions[i], f->link_name, 0) == 0)
			return true;
	return false;
}

/* Marks nodes that have a matching frame on their way from the root; parents come before children. */
static struct error *mark_matching(const struct profile *p, const struct view_options *o, bool **ret)
{
	bool *frame_matches = calloc(p->frames.count + 1, sizeof *frame_matches);
	bool *marked = calloc(p->nodes.count, sizeof *marked);
	bool is_any = false;

	if (!frame_matches || !marked) {
		free(frame_matches);
		free(marked);
		return &error_no_memory;
	}
	for (size_t i = 0; i < p->frames.count; i++)
		is_any |= frame_matches[i] = matches(&p->frames.items[i], o);
	for (size_t i = 1; i < p->nodes.count; i++)
		marked[i] = marked[p->nodes.items[i].parent] || frame_matches[p->nodes.items[i].frame];
	free(frame_matches);
	*ret = marked;
	return is_any ? NULL
		      : error_create(ERROR_NOT_FOUND, "--function %s: no function has this name", o->functions[0]);
}

static struct error *filter_rows(struct view *v, const struct view_options *o)
{
	const bool *marked;
	size_t kept = 0;
	struct error *err = NULL;

	v->is_filtered = o->function_count > 0;
	if (v->is_filtered)
		err = mark_matching(v->profile, o, &v->matching_nodes);
	if (err)
		return err;
	marked = v->matching_nodes;
	for (size_t i = 0; i < v->row_count; i++) {
		uint64_t value = v->rows[i].values[v->metric];

		if ((marked && !marked[v->rows[i].node]) || (!value && !o->keeps_zeros))
			continue;
		v->rows[kept++] = v->rows[i];
		if (v->profile->metrics.items[v->metric].is_maximum)
			v->matching_total = value > v->matching_total ? value : v->matching_total;
		else if (__builtin_add_overflow(v->matching_total, value, &v->matching_total))
			v->matching_total = UINT64_MAX;
	}
	v->row_count = v->matching_rows = kept;
	return NULL;
}

/* By name: frame by frame from the root. Both are walked up to one depth first, then to their fork. */
static int compare_names(const struct profile *p, uint32_t a, uint32_t b)
{
	const struct tree_node *n = p->nodes.items;
	uint32_t depth_a = n[a].depth, depth_b = n[b].depth;

	while (n[a].depth > depth_b)
		a = n[a].parent;
	while (n[b].depth > depth_a)
		b = n[b].parent;
	if (a == b)
		return compare_u64(depth_a, depth_b);
	while (n[a].parent != n[b].parent) {
		a = n[a].parent;
		b = n[b].parent;
	}
	return strcmp(p->frames.items[n[a].frame].name, p->frames.items[n[b].frame].name) ?: compare_u64(a, b);
}

static int compare_rows(const void *left, const void *right, void *data)
{
	const struct row_order *order = data;
	const struct view_row *a = left, *b = right;
	uint32_t by = order->view->sort;

	return (by == BY_NAME ? 0 : compare_u64(b->values[by], a->values[by]))
		       ?: compare_names(order->view->profile, a->node, b->node);
}

struct error *view_create(const struct profile *p, const struct view_options *options, const char *producer,
			  struct view *ret)
{
	struct view v = {.profile = p, .producer = producer, .is_coloured = options->is_coloured};
	struct row_order order = {.view = &v};
	struct error *err = choose_metrics(&v, options);

	if (!err)
		err = fill_rows(&v);
	if (!err)
		err = filter_rows(&v, options);
	if (err) {
		view_deinit(&v);
		return err;
	}
	qsort_r(v.rows, v.row_count, sizeof *v.rows, compare_rows, &order);
	if (options->top && v.row_count > options->top)
		v.row_count = options->top;
	*ret = v;
	return NULL;
}

void view_deinit(struct view *v)
{
	free(v->rows);
	free(v->values);
	free(v->matching_nodes);
	*v = (struct view){0};
}

struct error *view_frames(const struct profile *p, uint32_t node, struct frame_vec *frames)
{
	uint32_t depth = p->nodes.items[node].depth;
	struct error *err = frame_vec_reserve(frames, (size_t)depth + 1);

	if (err)
		return err;
	frames->count = depth;
	for (; node; node = p->nodes.items[node].parent)
		frames->items[p->nodes.items[node].depth - 1] = p->frames.items[p->nodes.items[node].frame];
	return NULL;
}
