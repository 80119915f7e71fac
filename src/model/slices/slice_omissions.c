/* slice_omissions.c - distances of a slice's instructions, breadth-first over depends.h, and omissions as lines (slice_omissions.h). */
#include "model/slices/slice_omissions.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

enum {
	STEPS_MAX = 40000000, /* that searches for stores go through, besides those of the chain */
	OWN_MAX = 16,         /* instructions without lines that lead to one with a line */
};

/* ---- distances ---- */

struct walk {
	struct depends *d;
	const struct slice_lines *lines;
	uint32_t instruction_count;
	uint32_t *distances; /* [instruction or argument] */
	uint32_t *line_at;   /* [instruction or argument] the line that the way to it ends in */
	bool *is_done;
	/* Stores of the slice by line. */
	uint32_t *first_store; /* [line + 1] in stores */
	uint32_t *stores;
	struct function_ids level, next; /* at this distance, and at one more */
};

static struct error *reach(struct walk *w, uint32_t number, uint32_t line, uint32_t distance)
{
	uint32_t own = number < w->instruction_count ? w->lines->line_of[number] : SLICE_NO_LINE;
	bool is_next = own != SLICE_NO_LINE && line != SLICE_NO_LINE && own != line;

	distance += is_next;
	if (w->distances[number] <= distance)
		return NULL;
	w->distances[number] = distance;
	w->line_at[number] = own != SLICE_NO_LINE ? own : line;
	return function_ids_append(is_next ? &w->next : &w->level, number);
}

/*
 * Readers come by rising distance, and a store is at most one line further than the first reader that finds it. So a further reader brings it nearer
 * only if it is of the reader's own line, and was found from another line at the same distance.
 */
static bool brings_own_store_nearer(const struct walk *w, uint32_t reader)
{
	const struct regions *r = w->d->regions;
	uint32_t line = w->line_at[reader];

	if (reader >= w->instruction_count || !r->reads[reader])
		return false;
	if (line == SLICE_NO_LINE)
		return true;
	for (uint32_t i = w->first_store[line]; i < w->first_store[line + 1]; i++)
		if (w->distances[w->stores[i]] == w->distances[reader] + 1 &&
		    id_set_meets(region_set(r, r->changes[w->stores[i]]), region_set(r, r->reads[reader])))
			return true;
	return false;
}

static struct error *expand(struct walk *w, uint32_t number)
{
	struct dependence_vec found = {0};
	struct error *err = brings_own_store_nearer(w, number) ? depends_on(w->d, number, &found)
							       : depends_on_new(w->d, number, &found);

	for (size_t i = 0; i < found.count && !err; i++) {
		const struct dependence *x = &found.items[i];

		if (x->on != CODE_NONE)
			err = reach(w, x->on, w->line_at[number], w->distances[number]);
		if (!err && x->through != CODE_NONE)
			err = reach(w, x->through, w->line_at[number], w->distances[number]);
	}
	dependence_vec_deinit(&found);
	return err;
}

static struct error *walk(struct walk *w, const struct slice_request *request)
{
	uint64_t limit = w->d->steps + STEPS_MAX;
	struct error *err = NULL;

	for (uint32_t i = 0; i < request->criterion_count && !err; i++)
		err = reach(w, request->criteria[i], SLICE_NO_LINE, 0);
	while (!err && w->level.count && w->d->steps < limit) {
		uint32_t number = w->level.items[--w->level.count];

		if (!w->is_done[number])
			err = expand(w, number);
		w->is_done[number] = true;
		if (!w->level.count) {
			struct function_ids empty = w->level;

			w->level = w->next;
			w->next = empty;
		}
	}
	return err;
}

static bool is_store(const struct walk *w, uint32_t instruction)
{
	return w->d->slice->why[instruction].reason && w->d->regions->changes[instruction] &&
	       w->lines->line_of[instruction] != SLICE_NO_LINE;
}

/* Filled from the end of each line, and so first_store[] becomes what it is to be. */
static void list_stores(struct walk *w)
{
	for (uint32_t i = 0; i < w->instruction_count; i++)
		if (is_store(w, i))
			w->first_store[w->lines->line_of[i]]++;
	for (uint32_t line = 0; line < w->lines->count; line++)
		w->first_store[line + 1] += w->first_store[line];
	for (uint32_t i = w->instruction_count; i-- > 0;)
		if (is_store(w, i))
			w->stores[--w->first_store[w->lines->line_of[i]]] = i;
}

struct error *slice_distances_find(struct depends *d, const struct slice_lines *l, const struct slice_request *request,
				   uint32_t **ret)
{
	const struct code *c = d->regions->memory->code;
	size_t count = (size_t)c->instruction_count + c->argument_count + 1;
	struct walk w = {.d = d,
			 .lines = l,
			 .instruction_count = c->instruction_count,
			 .distances = malloc(count * sizeof *w.distances),
			 .line_at = calloc(count, sizeof *w.line_at),
			 .is_done = calloc(count, sizeof *w.is_done),
			 .first_store = calloc((size_t)l->count + 1, sizeof *w.first_store),
			 .stores = calloc(count, sizeof *w.stores)};
	struct error *err =
		w.distances && w.line_at && w.is_done && w.first_store && w.stores ? NULL : &error_no_memory;

	if (!err) {
		list_stores(&w);
		memset(w.distances, 0xff, count * sizeof *w.distances);
		err = walk(&w, request);
	}
	function_ids_deinit(&w.level);
	function_ids_deinit(&w.next);
	free(w.line_at);
	free(w.is_done);
	free(w.first_store);
	free(w.stores);
	if (err)
		free(w.distances);
	else
		*ret = w.distances;
	return err;
}

/* ---- lines ---- */

static uint32_t line_of_block(const struct code *c, const struct slice_lines *l, uint32_t block)
{
	if (block == CODE_NONE)
		return SLICE_NO_LINE;
	for (uint32_t i = 0; i < c->blocks[block].instruction_count; i++)
		if (l->line_of[c->blocks[block].first_instruction + i] != SLICE_NO_LINE)
			return l->line_of[c->blocks[block].first_instruction + i];
	return SLICE_NO_LINE;
}

/* The compiler's own instructions have no line: then that of what uses them. */
static uint32_t line_of_reader(const struct omissions_request *request, const struct slice_lines *l, uint32_t reader)
{
	for (int i = 0; i < OWN_MAX && reader != CODE_NONE && l->line_of[reader] == SLICE_NO_LINE; i++)
		reader = request->slice->why[reader].of;
	return reader == CODE_NONE ? SLICE_NO_LINE : l->line_of[reader];
}

static struct error *add_line(const struct omissions_request *request, const struct slice_lines *l,
			      const struct omission *x, struct slice_omission_vec *ret)
{
	const struct code *c = request->all->memory->code;
	struct slice_omission omission = {.line = l->line_of[x->branch],
					  .went = line_of_block(c, l, x->went),
					  .omitted = l->line_of[x->omitted],
					  .reader = line_of_reader(request, l, x->reader),
					  .distance = request->distances[x->reader],
					  .by = x->by};

	if (omission.omitted == SLICE_NO_LINE)
		omission.omitted = line_of_block(c, l, c->instructions[x->omitted].block);
	if (omission.line == SLICE_NO_LINE || omission.omitted == SLICE_NO_LINE)
		return NULL;
	omission.is_in = l->items[omission.line].is_in;
	return slice_omission_vec_append(ret, omission);
}

static int compare_near(const void *a, const void *b)
{
	const struct slice_omission *x = a, *y = b;

	return compare_u64(x->by, y->by) ?: compare_u64(x->distance, y->distance)
	       ?: compare_u64(x->line, y->line) ?: compare_u64(x->omitted, y->omitted);
}

static int compare_shown(const void *a, const void *b)
{
	const struct slice_omission *x = a, *y = b;

	return compare_u64(x->is_in, y->is_in) ?: compare_near(a, b);
}

/* Of each line the nearest. */
static struct error *merge(struct slice_omission_vec *v, uint32_t line_count)
{
	bool *is_there = calloc((size_t)line_count + 1, sizeof *is_there);
	size_t kept = 0;

	if (!is_there)
		return &error_no_memory;
	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, compare_near);
	for (size_t i = 0; i < v->count; i++) {
		if (is_there[v->items[i].line])
			continue;
		is_there[v->items[i].line] = true;
		v->items[kept++] = v->items[i];
	}
	v->count = kept;
	if (kept)
		qsort(v->items, kept, sizeof *v->items, compare_shown);
	free(is_there);
	return NULL;
}

struct error *slice_omissions_make(const struct omissions_request *request, const struct slice_lines *l,
				   struct slice_omissions *ret)
{
	struct slice_omissions o = {.is_known = true};
	struct omission_vec found = {0};
	struct error *err = omissions_find(request, &found);

	for (size_t i = 0; i < found.count && !err; i++)
		err = add_line(request, l, &found.items[i], &o.items);
	omission_vec_deinit(&found);
	if (!err)
		err = merge(&o.items, l->count);
	for (size_t i = 0; i < o.items.count; i++) {
		o.count_new += !o.items.items[i].is_in && o.items.items[i].by != OMISSION_VAGUE;
		o.count_vague += !o.items.items[i].is_in && o.items.items[i].by == OMISSION_VAGUE;
	}
	if (err)
		slice_omissions_deinit(&o);
	else
		*ret = o;
	return err;
}

void slice_omissions_deinit(struct slice_omissions *o)
{
	slice_omission_vec_deinit(&o->items);
	*o = (struct slice_omissions){0};
}
