/*
 * crash_position.c - which point of an instrumented function control passed last. Points say what holds from an address on
 * (waymark/trace.h); machine blocks say how control gets from one address to another (format/bbmap.h). So: backwards over the
 * machine blocks, from the address, up to the first point on each way. Each block is looked at once for each function that
 * has points there.
 *
 *      A: NODE 1 |-------.            C: ...at the address...
 *                         >-- C       last points: NODE 1 (of A), NODE 2 (of B)
 *      B: NODE 2 |-------'
 *
 * A handler of exceptions is entered from calls in the middle of blocks: all points of such a block can be the last ones.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/crash/crash_build.h"

enum {
	PADDING_MAX = 64,
};

struct search {
	const struct object_trace *t;
	const struct bbmap_function *f;
	uint32_t *first_before; /* [block_count + 1]: predecessors of b are before[first_before[b]] to ... */
	uint32_t *before;
	uint8_t *is_seen; /* [block_count] */
	struct crash_number_vec work;
	struct crash_number_vec found;
};

/* The first point at or behind an address. */
static uint32_t first_point(const struct tracepoints *p, uint64_t address)
{
	return (uint32_t)COUNT_BELOW(p->points, p->count, address, address);
}

/* The end of a block with the padding that aligns the next one: control falls through it, and points may stand there. */
static uint64_t block_end(const struct bbmap_function *f, uint32_t block)
{
	const struct bbmap_block *b = &f->blocks[block];
	uint64_t end = b->address + b->len_bytes;

	if (block + 1 < f->block_count && b[1].address > end && b[1].address - end < PADDING_MAX)
		end = b[1].address;
	return end;
}

static const struct bbmap_function *find_block(const struct bbmap *m, uint64_t pc, uint32_t *ret)
{
	const struct bbmap_function *f = bbmap_find(m, pc, ret);

	for (uint64_t back = 1; !f && back < PADDING_MAX && back <= pc; back++) {
		f = bbmap_find(m, pc - back, ret);
		if (f && block_end(f, *ret) <= pc)
			return NULL;
	}
	return f;
}

static struct error *link_before(struct search *s)
{
	const struct bbmap_function *f = s->f;
	uint32_t count = f->has_successors ? f->block_count : 0, total = 0;

	s->first_before = calloc((size_t)f->block_count + 2, sizeof *s->first_before);
	s->is_seen = calloc((size_t)f->block_count + 1, 1);
	if (!s->first_before || !s->is_seen)
		return &error_no_memory;
	for (uint32_t b = 0; b < count; b++)
		for (uint32_t i = 0; i < f->blocks[b].successor_count; i++, total++)
			s->first_before[f->blocks[b].successors[i] + 2]++;
	for (uint32_t b = 2; b < f->block_count + 2; b++)
		s->first_before[b] += s->first_before[b - 1];
	s->before = calloc((size_t)total + 1, sizeof *s->before);
	if (!s->before)
		return &error_no_memory;
	for (uint32_t b = 0; b < count; b++)
		for (uint32_t i = 0; i < f->blocks[b].successor_count; i++)
			s->before[s->first_before[f->blocks[b].successors[i] + 1]++] = b;
	return NULL;
}

/* Points of different sorts do not hide each other. */
enum sort {
	SORT_PATH, /* where in its paths the function is */
	SORT_RECORD,
	SORT_COVERED, /* the activation's beginning, too: code that was inlined follows that of other activations */
};

static bool is_wanted(const struct tracepoint *p, uint32_t function, enum sort sort)
{
	if (p->function != function)
		return false;
	switch (sort) {
	case SORT_RECORD:
		return p->kind == WM1_POINT_FRAME;
	case SORT_COVERED:
		return p->kind == WM1_POINT_COVERED || p->kind == WM1_POINT_ENTRY;
	default:
		return p->kind != WM1_POINT_FRAME && p->kind != WM1_POINT_COVERED;
	}
}

/* The last point in [start, end); all of them when is_all. *ret: there is one. */
static struct error *look(struct search *s, uint32_t function, enum sort sort, uint64_t start, uint64_t end,
			  bool is_all, bool *ret)
{
	const struct tracepoints *p = &s->t->points;
	struct error *err = NULL;

	*ret = false;
	for (uint32_t i = first_point(p, end); i > 0 && p->points[i - 1].address >= start && !err; i--) {
		if (!is_wanted(&p->points[i - 1], function, sort))
			continue;
		*ret = true;
		err = crash_number_vec_append(&s->found, i - 1);
		if (!is_all)
			break;
	}
	return err;
}

static struct error *push_before(struct search *s, uint32_t block, uint32_t function, enum sort sort, bool *is_before)
{
	bool is_handler = s->f->blocks[block].is_landing_pad;
	struct error *err = NULL;

	assert(s->before);
	if (block == 0)
		*is_before = true;
	for (uint32_t i = s->first_before[block]; i < s->first_before[block + 1] && !err; i++) {
		const struct bbmap_block *b = &s->f->blocks[s->before[i]];
		bool is_found;

		if (is_handler) {
			err = look(s, function, sort, b->address, block_end(s->f, s->before[i]), true, &is_found);
			if (err)
				return err;
		}
		if (s->is_seen[s->before[i]])
			continue;
		s->is_seen[s->before[i]] = true;
		err = crash_number_vec_append(&s->work, s->before[i]);
	}
	return err;
}

/* Points of a function, of one sort, that can be the last ones at pc, which is in `block`. */
static struct error *search_back(struct search *s, uint32_t block, uint64_t pc, uint32_t function, enum sort sort,
				 bool *is_before)
{
	const struct bbmap_block *b = &s->f->blocks[block];
	bool is_found;
	struct error *err;

	memset(s->is_seen, 0, s->f->block_count);
	s->work.count = 0;
	s->found.count = 0;
	*is_before = false;
	err = look(s, function, sort, b->address, pc + 1, false, &is_found);
	if (!err && !is_found)
		err = push_before(s, block, function, sort, is_before);
	while (!err && s->work.count) {
		uint32_t at = s->work.items[--s->work.count];

		b = &s->f->blocks[at];
		err = look(s, function, sort, b->address, block_end(s->f, at), false, &is_found);
		if (!err && !is_found)
			err = push_before(s, at, function, sort, is_before);
	}
	return err;
}

static int by_number(const void *a, const void *b)
{
	return compare_u64(*(const uint32_t *)a, *(const uint32_t *)b);
}

static struct error *keep(struct crash_number_vec *v, struct arena *arena, const uint32_t **ret, uint32_t *ret_count)
{
	uint32_t *copy = arena_calloc(arena, v->count + 1, sizeof *copy);
	uint32_t count = 0;

	if (!copy)
		return &error_no_memory;
	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, by_number);
	for (size_t i = 0; i < v->count; i++)
		if (!count || copy[count - 1] != v->items[i])
			copy[count++] = v->items[i];
	*ret = copy;
	*ret_count = count;
	return NULL;
}

/* Functions of the source with points in the machine function, each once, rising. */
static struct error *find_functions(const struct search *s, struct crash_number_vec *ret)
{
	const struct tracepoints *p = &s->t->points;
	struct error *err = NULL;
	size_t count = 0;

	for (uint32_t b = 0; b < s->f->block_count && !err; b++) {
		const struct bbmap_block *block = &s->f->blocks[b];

		for (uint32_t i = first_point(p, block->address);
		     i < p->count && p->points[i].address < block_end(s->f, b) && !err; i++)
			if (!ret->count || ret->items[ret->count - 1] != p->points[i].function)
				err = crash_number_vec_append(ret, p->points[i].function);
	}
	if (err || !ret->count)
		return err;
	qsort(ret->items, ret->count, sizeof *ret->items, by_number);
	for (size_t i = 0; i < ret->count; i++)
		if (!count || ret->items[count - 1] != ret->items[i])
			ret->items[count++] = ret->items[i];
	ret->count = count;
	return NULL;
}

static uint8_t scheme_of(const struct search *s, uint32_t function)
{
	const struct tracepoints *p = &s->t->points;

	for (uint32_t b = 0; b < s->f->block_count; b++) {
		const struct bbmap_block *block = &s->f->blocks[b];

		for (uint32_t i = first_point(p, block->address);
		     i < p->count && p->points[i].address < block_end(s->f, b); i++)
			if (p->points[i].function == function)
				return p->points[i].scheme;
	}
	return WM1_SCHEME_NONE;
}

static struct error *find_position(struct search *s, uint32_t block, uint64_t pc, struct arena *arena,
				   struct crash_position *ret)
{
	struct error *err = search_back(s, block, pc, ret->function, SORT_RECORD, &ret->is_before_record);

	ret->scheme = scheme_of(s, ret->function);
	if (!err)
		err = keep(&s->found, arena, &ret->records, &ret->record_count);
	if (!err)
		err = search_back(s, block, pc, ret->function, SORT_COVERED, &ret->is_before_covered);
	if (!err)
		err = keep(&s->found, arena, &ret->covered, &ret->covered_count);
	if (!err)
		err = search_back(s, block, pc, ret->function, SORT_PATH, &ret->is_before);
	if (!err)
		err = keep(&s->found, arena, &ret->points, &ret->point_count);
	return err;
}

struct error *crash_positions_find(const struct object_trace *t, uint64_t pc, struct arena *arena,
				   struct crash_position **ret, uint32_t *ret_count)
{
	struct search s = {.t = t};
	struct crash_number_vec functions = {0};
	struct crash_position *positions = NULL;
	struct error *err = NULL;
	uint32_t block;

	*ret_count = 0;
	s.f = find_block(&t->blocks, pc, &block);
	if (!s.f)
		return NULL;
	err = find_functions(&s, &functions);
	if (!err && functions.count) {
		positions = arena_calloc(arena, functions.count, sizeof *positions);
		err = positions ? link_before(&s) : &error_no_memory;
	}
	for (size_t i = 0; i < functions.count && !err; i++) {
		positions[i].function = functions.items[i];
		err = find_position(&s, block, pc, arena, &positions[i]);
	}
	if (!err) {
		*ret = positions;
		*ret_count = (uint32_t)functions.count;
	}
	crash_number_vec_deinit(&functions);
	crash_number_vec_deinit(&s.work);
	crash_number_vec_deinit(&s.found);
	free(s.first_before);
	free(s.before);
	free(s.is_seen);
	return err;
}
