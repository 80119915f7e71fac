/* slice_order.c - lines by distance, breadth-first, and by the last paths of frames (slice_order.h). */
#include "model/slices/slice_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

#define FAR UINT32_MAX

struct ranked {
	uint32_t line, distance;
	uint32_t then; /* by which those at the same distance are sorted: lines that depend on it, or how late it ran */
};

struct ordering {
	const struct slice_order_request *request;
	const struct slice_lines *lines;
	struct ranked *ranked; /* [line] */
	uint32_t *first_edge;  /* [line] */
	uint32_t *waiting;     /* scratch, [line] */
	struct ranked *latest; /* lines that ran last */
	bool *is_latest;       /* [line] it is there */
	uint32_t latest_count;
};

/* ---- the nearest ---- */

static int compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return compare_u64(x->distance, y->distance) ?: compare_u64(x->then, y->then) ?: compare_u64(x->line, y->line);
}

/* A criterion that has no line: what is in the slice because of no other line. */
static bool is_start(const struct slice_line *line, bool has_criterion)
{
	return line->is_in && (has_criterion ? line->reason == SLICE_CRITERION : line->of == SLICE_NO_LINE);
}

/* The edges of a line follow each other. */
static void find_distances(struct ordering *o)
{
	const struct slice_edge_vec *edges = &o->request->graph->edges;
	const struct slice_lines *l = o->lines;
	struct ranked *ranked = o->ranked;
	bool has_criterion = false;
	uint32_t count = 0;

	for (size_t i = edges->count; i-- > 0;) {
		o->first_edge[edges->items[i].line] = (uint32_t)i;
		ranked[edges->items[i].on].then++;
	}
	for (uint32_t i = 0; i < l->count; i++)
		has_criterion |= l->items[i].is_in && l->items[i].reason == SLICE_CRITERION;
	for (uint32_t i = 0; i < l->count; i++) {
		ranked[i].line = i;
		ranked[i].distance = is_start(&l->items[i], has_criterion) ? 0 : FAR;
		if (!ranked[i].distance)
			o->waiting[count++] = i;
	}
	for (uint32_t at = 0; at < count; at++) {
		uint32_t line = o->waiting[at];

		for (size_t i = o->first_edge[line]; i < edges->count && edges->items[i].line == line; i++) {
			uint32_t on = edges->items[i].on;

			if (ranked[on].distance != FAR)
				continue;
			ranked[on].distance = ranked[line].distance + 1;
			o->waiting[count++] = on;
		}
	}
}

/* ---- the latest ---- */

/* The line that the block ends in, which has decided where control went: all lines of blocks would be many. */
static void add_latest(struct ordering *o, uint32_t first, uint32_t end)
{
	uint32_t line = SLICE_NO_LINE;

	for (uint32_t i = end; i-- > first && line == SLICE_NO_LINE;)
		line = o->lines->line_of[i];
	if (line == SLICE_NO_LINE || !o->lines->items[line].is_in || o->is_latest[line])
		return;
	o->is_latest[line] = true;
	o->latest[o->latest_count] = (struct ranked){line, o->ranked[line].distance, o->latest_count};
	o->latest_count++;
}

static struct error *add_frame(struct ordering *o, const struct crash_frame *f)
{
	const struct crash_code *m = o->request->code;
	uint32_t function = f->path_count ? crash_code_function(m, f) : CODE_NONE, *nodes;

	if (function == CODE_NONE || !m->fits[function])
		return NULL;
	nodes = malloc(((size_t)f->flow->cfg.node_count + 1) * sizeof *nodes);
	if (!nodes)
		return &error_no_memory;
	for (uint32_t path = f->path_count; path-- > 0;)
		for (uint32_t k = crash_path_nodes(m->crash, f, &f->paths[path], nodes); k-- > 0;) {
			uint32_t first, end;

			if (ran_instructions(&m->nodes[function], nodes[k], &first, &end))
				add_latest(o, first, end);
		}
	free(nodes);
	return NULL;
}

static struct error *find_latest(struct ordering *o)
{
	const struct crash_thread *t = &o->request->code->crash->threads[o->request->thread];
	struct error *err = NULL;

	for (uint32_t i = o->request->frame; i < t->frame_count && !err; i++)
		err = add_frame(o, &t->frames[i]);
	return err;
}

/* ---- both ---- */

static void add(struct slice_order *order, uint32_t line)
{
	if (order->places[line])
		return;
	order->lines[order->count++] = line;
	order->places[line] = order->count;
}

static void merge(const struct ordering *o, struct slice_order *order)
{
	uint32_t latest = 0;

	for (uint32_t i = 0; i < o->lines->count; i++) {
		if (!o->lines->items[o->ranked[i].line].is_in)
			continue;
		add(order, o->ranked[i].line);
		if (latest < o->latest_count)
			add(order, o->latest[latest++].line);
	}
}

static struct error *make(struct ordering *o, struct slice_order *order)
{
	size_t count = (size_t)o->lines->count + 1;
	struct error *err;

	o->ranked = calloc(count, sizeof *o->ranked);
	o->first_edge = malloc(count * sizeof *o->first_edge);
	o->waiting = malloc(count * sizeof *o->waiting);
	o->latest = malloc(count * sizeof *o->latest);
	o->is_latest = calloc(count, sizeof *o->is_latest);
	order->lines = calloc(count, sizeof *order->lines);
	order->places = calloc(count, sizeof *order->places);
	if (!o->ranked || !o->first_edge || !o->waiting || !o->latest || !o->is_latest || !order->lines ||
	    !order->places)
		return &error_no_memory;
	memset(o->first_edge, 0xff, count * sizeof *o->first_edge);
	find_distances(o);
	err = find_latest(o);
	if (err)
		return err;
	qsort(o->ranked, o->lines->count, sizeof *o->ranked, compare);
	qsort(o->latest, o->latest_count, sizeof *o->latest, compare);
	merge(o, order);
	return NULL;
}

struct error *slice_order_make(const struct slice_order_request *request, struct slice_order *ret)
{
	struct ordering o = {.request = request, .lines = request->lines};
	struct slice_order order = {0};
	struct error *err = make(&o, &order);

	free(o.ranked);
	free(o.first_edge);
	free(o.waiting);
	free(o.latest);
	free(o.is_latest);
	if (err)
		slice_order_deinit(&order);
	else
		*ret = order;
	return err;
}

void slice_order_deinit(struct slice_order *o)
{
	free(o->lines);
	free(o->places);
	*o = (struct slice_order){0};
}
