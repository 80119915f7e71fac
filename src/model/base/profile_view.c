/*
 * profile_view.c - cells of the profile to rows: one pass to find the rows, then filter, sort, cut. Names are compared once, as the order
 * of a tree's nodes, not at each comparison of two rows.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/base/frame_module.h"
#include "model/base/profile_view.h"

static const uint32_t BY_NAME = UINT32_MAX;

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
	return profile_find_metric(p, name, ret) ? NULL : unknown_metric(p, name);
}

/* Of CPU time, time by the clock and that of waiting the first one. */
static int rank_of_time(const struct metric *m)
{
	static const char *const names[] = {"cpu", "wall", "off-cpu"};

	for (int i = 0; i < 3; i++)
		if (strcmp(m->name, names[i]) == 0)
			return i;
	return 3;
}

/* Bytes of the heap or time, whichever is first, else the event that happened most often. */
static uint32_t default_metric(const struct profile *p)
{
	const struct metric *time = NULL;
	uint32_t best = 0;

	for (uint32_t i = 0; i < p->metrics.count; i++) {
		const struct metric *m = &p->metrics.items[i];

		if (!time && m->unit == UNIT_BYTES && strcmp(m->name, "bytes") == 0 && m->total)
			return i;
		if (m->unit == UNIT_TIME && m->total && (!time || rank_of_time(m) < rank_of_time(time)))
			time = m;
		if (m->unit == UNIT_COUNT &&
		    m->total > (p->metrics.items[best].unit == UNIT_COUNT ? p->metrics.items[best].total : 0))
			best = i;
	}
	return time ? (uint32_t)(time - p->metrics.items) : best;
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

/* Groups the cells by node, in rows by first appearance of the node. */
static struct error *fill_rows(struct view *v)
{
	const struct profile *p = v->profile;
	uint32_t *row_of = calloc(p->nodes.count, sizeof *row_of);
	size_t rows = 0;
	uint32_t at = 0;

	if (!row_of)
		return &error_no_memory;
	for (size_t i = 0; i < p->cells.count; i++)
		if (!row_of[p->cells.items[i].node])
			row_of[p->cells.items[i].node] = (uint32_t)++rows;
	v->rows = calloc(rows + 1, sizeof *v->rows);
	v->cells = malloc((p->cells.count + 1) * sizeof *v->cells);
	if (!v->rows || !v->cells) {
		free(row_of);
		return &error_no_memory;
	}
	for (size_t i = 0; i < p->cells.count; i++)
		v->rows[row_of[p->cells.items[i].node] - 1].cell_count++;
	for (size_t i = 0; i < rows; i++) {
		v->rows[i].first_cell = at;
		at += v->rows[i].cell_count;
		v->rows[i].cell_count = 0;
	}
	for (size_t i = 0; i < p->cells.count; i++) {
		struct view_row *row = &v->rows[row_of[p->cells.items[i].node] - 1];

		row->node = p->cells.items[i].node;
		v->cells[row->first_cell + row->cell_count++] = (uint32_t)i;
	}
	v->row_count = rows;
	free(row_of);
	return NULL;
}

static int compare_groups(const void *left, const void *right, void *data)
{
	const struct cell *cells = data;

	return compare_u64(cells[*(const uint32_t *)left].group, cells[*(const uint32_t *)right].group);
}

static void sort_cells(struct view *v)
{
	for (size_t i = 0; i < v->row_count; i++)
		if (v->rows[i].cell_count > 1)
			qsort_r(v->cells + v->rows[i].first_cell, v->rows[i].cell_count, sizeof *v->cells,
				compare_groups, v->profile->cells.items);
}

static int compare_note(const void *name, const void *note)
{
	return strcmp(name, ((const struct function_note *)note)->function);
}

const char *view_function_note(const struct view *v, const char *function)
{
	const struct function_note *note =
		v->notes && v->notes->count
			? bsearch(function, v->notes->items, v->notes->count, sizeof *v->notes->items, compare_note)
			: NULL;

	return note ? note->text : NULL;
}

uint64_t view_value(const struct view *v, const struct view_row *row, uint32_t metric)
{
	const struct profile *p = v->profile;
	uint32_t group = p->metrics.items[metric].group;
	size_t low = 0, high = row->cell_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct cell *cell = &p->cells.items[v->cells[row->first_cell + middle]];

		if (cell->group == group)
			return p->values.items[cell->first + metric - group];
		if (cell->group < group)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

void view_values(const struct view *v, const struct view_row *row, uint64_t *ret)
{
	const struct profile *p = v->profile;

	memset(ret, 0, p->metrics.count * sizeof *ret);
	for (uint32_t i = 0; i < row->cell_count; i++) {
		const struct cell *cell = &p->cells.items[v->cells[row->first_cell + i]];

		memcpy(ret + cell->group, p->values.items + cell->first,
		       p->metrics.items[cell->group].group_size * sizeof *ret);
	}
}

struct error *view_node_values(const struct view *v, uint64_t **ret)
{
	uint64_t *values = calloc(v->profile->nodes.count, sizeof *values);

	if (!values)
		return &error_no_memory;
	for (size_t i = 0; i < v->matching_rows; i++)
		values[v->rows[i].node] = v->rows[i].value;
	*ret = values;
	return NULL;
}

static bool has_patterns(const struct pattern_vec *patterns)
{
	return patterns && patterns->count;
}

static bool matches(const struct frame *f, const struct view_options *o)
{
	if (has_patterns(o->functions) && !patterns_match(o->functions, f->name) &&
	    !patterns_match(o->functions, f->link_name))
		return false;
	return !has_patterns(o->modules) || frame_is_of_module(f, o->modules);
}

static struct error *nothing_matches(const struct view_options *o)
{
	if (!has_patterns(o->modules))
		return error_create(ERROR_NOT_FOUND, "--function %s: no function has this name",
				    o->functions->items[0].text);
	return error_create(ERROR_NOT_FOUND, "--module %s: no %sfunction is of this module", o->modules->items[0].text,
			    has_patterns(o->functions) ? "such " : "");
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
	return is_any || o->may_match_nothing ? NULL : nothing_matches(o);
}

/* By node; *ret is NULL where nothing is to be suppressed. */
static struct error *mark_suppressed(const struct view *v, const struct view_options *o, bool **ret)
{
	bool *has_row;
	struct error *err;

	*ret = NULL;
	if (!o->suppressions || !o->suppressions->all.count)
		return NULL;
	has_row = calloc(v->profile->nodes.count, sizeof *has_row);
	if (!has_row)
		return &error_no_memory;
	for (size_t i = 0; i < v->row_count; i++)
		has_row[v->rows[i].node] = true;
	err = suppressions_mark(o->suppressions, v->profile, has_row, ret);
	free(has_row);
	return err;
}

static void add_limited(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

static struct error *filter_rows(struct view *v, const struct view_options *o)
{
	bool *suppressed = NULL;
	const bool *marked;
	double least = v->has_metric ? o->min * (double)v->profile->metrics.items[v->metric].total / 100 : 0;
	size_t kept = 0;
	struct error *err = NULL;

	v->is_filtered = has_patterns(o->functions) || has_patterns(o->modules);
	if (v->is_filtered)
		err = mark_matching(v->profile, o, &v->matching_nodes);
	if (!err)
		err = mark_suppressed(v, o, &suppressed);
	if (err)
		return err;
	marked = v->matching_nodes;
	for (size_t i = 0; i < v->row_count; i++) {
		struct view_row *row = &v->rows[i];
		uint64_t value = row->value = view_value(v, row, v->metric);

		if ((marked && !marked[v->rows[i].node]) || (!value && !o->keeps_zeros))
			continue;
		if (suppressed && suppressed[row->node]) {
			v->suppressed_rows++;
			add_limited(&v->suppressed_total, value);
			continue;
		}
		if ((double)value < least) {
			v->small_rows++;
			continue;
		}
		row->sort_value = v->sort == BY_NAME ? 0 : view_value(v, row, v->sort);
		v->rows[kept++] = *row;
		if (v->profile->metrics.items[v->metric].is_maximum)
			v->matching_total = value > v->matching_total ? value : v->matching_total;
		else
			add_limited(&v->matching_total, value);
	}
	free(suppressed);
	v->row_count = v->matching_rows = kept;
	return NULL;
}

/* ---- the order of names ---- */

struct name {
	const char *text;
	uint32_t frame;
};

static int compare_texts(const void *left, const void *right)
{
	const struct name *a = left, *b = right;

	return a->text == b->text ? 0 : strcmp(a->text, b->text);
}

/* By frame, where its name is among all names. */
static struct error *rank_names(const struct profile *p, uint32_t **ret)
{
	struct name *names = calloc(p->frames.count + 1, sizeof *names);
	uint32_t *ranks = calloc(p->frames.count + 1, sizeof *ranks), rank = 0;

	if (!names || !ranks) {
		free(names);
		free(ranks);
		return &error_no_memory;
	}
	for (uint32_t i = 0; i < p->frames.count; i++)
		names[i] = (struct name){p->frames.items[i].name, i};
	qsort(names, p->frames.count, sizeof *names, compare_texts);
	for (size_t i = 0; i < p->frames.count; i++) {
		rank += i && names[i].text != names[i - 1].text; /* interned */
		ranks[names[i].frame] = rank;
	}
	free(names);
	*ret = ranks;
	return NULL;
}

struct sibling_order {
	const struct tree_node *nodes;
	const uint32_t *name_ranks;
};

static int compare_siblings(const void *left, const void *right, void *data)
{
	const struct sibling_order *order = data;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return compare_u64(order->name_ranks[order->nodes[a].frame], order->name_ranks[order->nodes[b].frame])
		       ?: compare_u64(a, b);
}

/*
 * Numbers the nodes in depth-first order with siblings by name: contexts compare frame by frame from the root. Children come after their
 * parents, so sizes of subtrees are summed from the end, and ranks go down from the beginning.
 *
 * start, children: of node n, children[start[n]] to children[start[n + 1] - 1]. ranks: sizes at first.
 */
static void rank_nodes(const struct profile *p, const struct sibling_order *order, uint32_t *start, uint32_t *children,
		       uint32_t *ranks)
{
	uint32_t count = (uint32_t)p->nodes.count;

	for (uint32_t n = 1; n < count; n++)
		start[p->nodes.items[n].parent]++;
	for (uint32_t n = 1; n <= count; n++)
		start[n] += start[n - 1];
	for (uint32_t n = count; n-- > 1;) /* from the ends of the nodes' parts down to their starts */
		children[--start[p->nodes.items[n].parent]] = n;
	for (uint32_t n = 0; n < count; n++)
		ranks[n] = 1;
	for (uint32_t n = count; n-- > 1;)
		ranks[p->nodes.items[n].parent] += ranks[n];
	ranks[0] = 0;
	for (uint32_t n = 0; n < count; n++) {
		uint32_t *first = children + start[n], *end = children + start[n + 1];
		uint32_t next = ranks[n] + 1;

		if (end - first > 1)
			qsort_r(first, (size_t)(end - first), sizeof *first, compare_siblings, (void *)order);
		for (; first < end; first++) {
			uint32_t size = ranks[*first];

			ranks[*first] = next;
			next += size;
		}
	}
}

static struct error *rank_rows(struct view *v)
{
	const struct profile *p = v->profile;
	struct sibling_order order = {.nodes = p->nodes.items};
	uint32_t *start, *children, *ranks, *name_ranks;
	struct error *err = rank_names(p, &name_ranks);

	if (err)
		return err;
	order.name_ranks = name_ranks;
	start = calloc(p->nodes.count + 1, sizeof *start);
	children = malloc((p->nodes.count + 1) * sizeof *children);
	ranks = malloc((p->nodes.count + 1) * sizeof *ranks);
	if (start && children && ranks) {
		rank_nodes(p, &order, start, children, ranks);
		for (size_t i = 0; i < v->row_count; i++)
			v->rows[i].rank = ranks[v->rows[i].node];
	} else {
		err = &error_no_memory;
	}
	free(start);
	free(children);
	free(ranks);
	free(name_ranks);
	return err;
}

static int compare_rows(const void *left, const void *right)
{
	const struct view_row *a = left, *b = right;

	return compare_u64(b->sort_value, a->sort_value) ?: compare_u64(a->rank, b->rank);
}

/* ---- what a view may cost ---- */

enum {
	SIZE_MIN = 1 << 28, /* bytes that may be written of files of any size */
	SIZE_PER_BYTE = 64,
};

struct error *view_check_size(const struct view *v, uint64_t bytes)
{
	uint64_t limit = SIZE_MIN + v->profile->file_bytes * SIZE_PER_BYTE;

	if (bytes <= limit)
		return NULL;
	return error_create(ERROR_OVERFLOW,
			    "contexts of %" PRIu64 " bytes of recordings would take %" PRIu64
			    " bytes here, more than such files should: --top, --function and --max-depth show fewer",
			    v->profile->file_bytes, bytes);
}

struct error *view_text_lengths(const struct profile *p, uint64_t **ret)
{
	uint64_t *of_frames = calloc(p->frames.count + 1, sizeof *of_frames);
	uint64_t *lengths = calloc(p->nodes.count, sizeof *lengths);

	if (!of_frames || !lengths) {
		free(of_frames);
		free(lengths);
		return &error_no_memory;
	}
	for (size_t i = 0; i < p->frames.count; i++)
		of_frames[i] = strlen(p->frames.items[i].name) + 1;
	for (size_t i = 1; i < p->nodes.count; i++)
		lengths[i] = lengths[p->nodes.items[i].parent] + of_frames[p->nodes.items[i].frame];
	free(of_frames);
	*ret = lengths;
	return NULL;
}

struct error *view_check_stacks(const struct view *v, bool is_of_rows, const struct profile_event *const *events,
				size_t event_count)
{
	const struct profile *p = v->profile;
	uint64_t *lengths, sum = 0;
	struct error *err = view_text_lengths(p, &lengths);

	if (err)
		return err;
	for (size_t i = 0; i < event_count; i++)
		sum += lengths[events[i]->node] + strlen(p->metrics.items[events[i]->metric].name);
	for (size_t i = 0; i < v->row_count && is_of_rows; i++)
		sum += lengths[v->rows[i].node];
	free(lengths);
	return view_check_size(v, sum);
}

uint64_t view_depths(const struct view *v)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < v->row_count; i++)
		sum += v->profile->nodes.items[v->rows[i].node].depth;
	return sum;
}

/* ---- events ---- */

static int compare_events(const void *left, const void *right)
{
	const struct profile_event *a = *(const struct profile_event *const *)left;
	const struct profile_event *b = *(const struct profile_event *const *)right;

	return compare_u64(a->realtime_ns, b->realtime_ns)
		       ?: compare_u64((uintptr_t)a, (uintptr_t)b); /* as they were recorded */
}

struct error *view_events(const struct view *v, const struct profile_event ***ret, size_t *ret_count)
{
	const struct profile *p = v->profile;
	const struct profile_event **events = calloc(p->events.count + 1, sizeof *events);
	size_t count = 0;

	if (!events)
		return &error_no_memory;
	for (size_t i = 0; i < p->events.count; i++)
		if (!v->matching_nodes || v->matching_nodes[p->events.items[i].node])
			events[count++] = &p->events.items[i];
	qsort(events, count, sizeof *events, compare_events);
	*ret = events;
	*ret_count = count;
	return NULL;
}

struct error *view_metric_events(const struct view *v, const struct profile_event ***ret, size_t *ret_count)
{
	const struct profile *p = v->profile;
	const struct profile_event **events;
	size_t count, kept = 0;
	struct error *err = view_events(v, &events, &count);

	if (err)
		return err;
	for (size_t i = 0; i < count && v->has_metric; i++)
		if (events[i]->metric == p->metrics.items[v->metric].group)
			events[kept++] = events[i];
	*ret = events;
	*ret_count = kept;
	return NULL;
}

uint64_t view_event_value(const struct view *v, const struct profile_event *e)
{
	return v->metric == e->metric ? 1 : e->value;
}

struct error *view_create(const struct profile *p, const struct view_options *options, const char *producer,
			  struct view *ret)
{
	struct view v = {.profile = p,
			 .producer = producer,
			 .top = options->top,
			 .min = options->min,
			 .is_coloured = options->is_coloured};
	struct error *err = choose_metrics(&v, options);

	if (!err)
		err = fill_rows(&v);
	if (!err) {
		sort_cells(&v);
		err = filter_rows(&v, options);
	}
	if (!err && v.row_count > 1)
		err = rank_rows(&v);
	if (err) {
		view_deinit(&v);
		return err;
	}
	qsort(v.rows, v.row_count, sizeof *v.rows, compare_rows);
	if (options->top && v.row_count > options->top)
		v.row_count = options->top;
	*ret = v;
	return NULL;
}

void view_deinit(struct view *v)
{
	free(v->rows);
	free(v->cells);
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
