/*
 * crash_fold.c - rounds of a recursion are found by their places: a frame is one of them when the frames one and two periods
 * further in stand where it does. The shortest period that goes on long enough is taken.
 */
#include <string.h>

#include "base/text.h"
#include "model/crash/crash_fold.h"

enum {
	PERIOD_MAX = 8, /* functions of a recursion that is folded */
	FOLD_MIN = 6,   /* frames */
};

VEC_DECLARE(crash_row_vec, struct crash_row);

static bool is_same_place(const struct crash_frame *a, const struct crash_frame *b)
{
	return a->machine->pc == b->machine->pc && a->is_inlined == b->is_inlined &&
	       text_equal(a->function, b->function) && a->line == b->line;
}

/* Frames from `at` on that say the same again: two rounds are shown before them and one behind. */
static uint32_t folded_at(const struct crash_thread *t, uint32_t at, uint32_t *ret_period)
{
	for (uint32_t period = 1; period <= PERIOD_MAX; period++) {
		uint32_t same = 0;

		if (at < 2 * period)
			continue;
		while (at + same < t->frame_count &&
		       is_same_place(&t->frames[at + same], &t->frames[at + same - 2 * period]) &&
		       is_same_place(&t->frames[at + same], &t->frames[at + same - period]))
			same++;
		if (same < FOLD_MIN + period)
			continue;
		*ret_period = period;
		return (same - period) / period * period;
	}
	return 0;
}

static struct error *fold(const struct crash_thread *t, bool is_whole, struct crash_row_vec *rows)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < t->frame_count && !err;) {
		struct crash_row row = {.frame = i, .count = 1};
		uint32_t count = is_whole ? 0 : folded_at(t, i, &row.period);

		if (count)
			row.count = count;
		err = crash_row_vec_append(rows, row);
		i += row.count;
	}
	return err;
}

void crash_frames_left_out(uint32_t count, uint32_t frame_limit, uint32_t *ret_from, uint32_t *ret_to)
{
	uint32_t outer = frame_limit / 4;

	*ret_from = *ret_to = count;
	if (!frame_limit || count <= frame_limit)
		return;
	*ret_from = frame_limit - outer;
	*ret_to = count - outer;
}

struct error *crash_rows_of(const struct crash_thread *t, uint32_t frame_limit, bool is_whole, struct arena *arena,
			    struct crash_rows *ret)
{
	struct crash_row_vec rows = {0};
	struct error *err = fold(t, is_whole, &rows);
	uint32_t from, to, count = 0;

	*ret = (struct crash_rows){0};
	if (!err && rows.count) {
		ret->items = arena_calloc(arena, rows.count, sizeof *ret->items);
		err = ret->items ? NULL : &error_no_memory;
	}
	if (!err) {
		crash_frames_left_out((uint32_t)rows.count, frame_limit, &from, &to);
		for (uint32_t i = 0; i < rows.count; i++) {
			if (i <= from || i >= to)
				ret->items[count++] = rows.items[i];
			if (i < from || i >= to)
				continue;
			ret->items[count - 1].period = 0;
			ret->items[count - 1].count =
				rows.items[i].frame + rows.items[i].count - ret->items[count - 1].frame;
		}
		ret->count = count;
	}
	crash_row_vec_deinit(&rows);
	return err;
}

bool crash_paths_alike(const struct crash_path *a, const struct crash_path *b)
{
	const struct path *x = &a->path, *y = &b->path;

	return a->is_complete == b->is_complete && a->is_current == b->is_current &&
	       a->is_iterations == b->is_iterations && a->follows_gap == b->follows_gap && x->start == y->start &&
	       x->end_node == y->end_node && x->end_edge == y->end_edge && x->edge_count == y->edge_count &&
	       (!x->edge_count || memcmp(x->edges, y->edges, x->edge_count * sizeof *x->edges) == 0);
}

static bool is_same_coverage(const uint8_t *a, const uint8_t *b, uint32_t count)
{
	return a == b || (a && b && memcmp(a, b, count) == 0);
}

static bool frames_alike(const struct crash_frame *a, const struct crash_frame *b)
{
	if (!is_same_place(a, b) || a->meta != b->meta || a->variant != b->variant || a->trace != b->trace ||
	    a->ended != b->ended || a->path_count != b->path_count || !text_equal(a->why, b->why) ||
	    !text_equal(a->context, b->context))
		return false;
	for (uint32_t i = 0; i < a->path_count; i++)
		if (!crash_paths_alike(&a->paths[i], &b->paths[i]))
			return false;
	return !a->meta || (is_same_coverage(a->calls_used, b->calls_used, a->meta->call_count) &&
			    is_same_coverage(a->nodes_used, b->nodes_used, a->flow->cfg.node_count));
}

bool crash_threads_alike(const struct crash_thread *a, const struct crash_thread *b)
{
	if (a->frame_count != b->frame_count || (a->machine->is_first && a->machine->signal) ||
	    (b->machine->is_first && b->machine->signal) || !text_equal(a->machine->cut, b->machine->cut))
		return false;
	for (uint32_t i = 0; i < a->frame_count; i++)
		if (!frames_alike(&a->frames[i], &b->frames[i]))
			return false;
	return true;
}

bool crash_calls_alike(const struct tracemeta_call *a, const struct tracemeta_call *b)
{
	return a->line == b->line && a->column == b->column && a->kind == b->kind && text_equal(a->callee, b->callee);
}

bool crash_call_is_repeat(const struct crash_frame *f, uint32_t index)
{
	const struct tracemeta_call *call = &f->meta->calls[index];

	for (uint32_t i = 0; i < f->meta->call_count; i++) {
		bool is_before = f->calls_used[i] == f->calls_used[index] && i < index;
		bool is_better = f->calls_used[i] == POINT_USED && f->calls_used[index] == POINT_UNUSED;

		if ((is_before || is_better) && crash_calls_alike(&f->meta->calls[i], call))
			return true;
	}
	return false;
}
