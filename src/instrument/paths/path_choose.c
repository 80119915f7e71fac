/*
 * path_choose.c - how the paths of a function are counted: in an array while there are few; else in pairs, found by a hash or,
 * with a plan, by a packed number (path_plan.c). When contexts are recorded too, a plan always makes pairs: what it does not
 * choose must get to the runtime, which looks at the context.
 */
#include <stdlib.h>

#include "base/order.h"
#include "instrument/paths/path.h"

static bool fits_array(const struct path_graph *g, const struct path_numbering *n)
{
	return n->path_count <= g->m->options->array_limit && n->path_count <= WM1_PATHS_MAX_COUNTERS;
}

static struct error *choose_array_or_hash(struct path_graph *g, const struct path_numbering *n, struct path_choice *ret)
{
	ret->start_values = n->start_values;
	ret->edge_values = n->edge_values;
	if (fits_array(g, n)) {
		ret->kind = WM1_PATHS_ARRAY;
		ret->entry_count = (uint32_t)n->path_count;
		if (n->path_count == 1 && !g->may_stop)
			ret->flags = WM1_PATHS_AT_ENTRY;
		return NULL;
	}
	/* 0 marks a free pair, so numbers are one more than Ball and Larus's. */
	uint64_t *starts = arena_calloc(g->scratch, n->start_count, sizeof *starts);
	if (!starts)
		return &error_no_memory;
	for (uint32_t i = 0; i < n->start_count; i++)
		starts[i] = n->start_values[i] + 1;
	ret->kind = WM1_PATHS_HASH;
	ret->start_values = starts;
	if (!g->m->options->hash_calls) {
		ret->bits = WM1_PATHS_HASH_BITS_DEFAULT;
		ret->entry_count = 1u << WM1_PATHS_HASH_BITS_DEFAULT;
	}
	return NULL;
}

static int compare_numbers(const void *a, const void *b)
{
	return compare_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Nothing is cheaper than a small array: a plan only says which edges run often, and to readers which paths it chose. */
static struct error *choose_planned_array(struct path_graph *g, const struct path_numbering *n,
					  const struct plan_choice *planned, struct path_choice *ret)
{
	g->meta.has_plan = true;
	g->meta.planned_count = planned->count;
	if (planned->count) {
		g->meta.planned =
			arena_copy(&g->m->meta.arena, planned->paths, planned->count, sizeof *g->meta.planned);
		if (!g->meta.planned)
			return &error_no_memory;
		qsort(g->meta.planned, planned->count, sizeof *g->meta.planned, compare_numbers);
	}
	struct error *err = choose_array_or_hash(g, n, ret);
	return err ? err : path_plan_count_edges(g, n, planned, ret);
}

struct error *path_choose(struct path_graph *g, const struct path_numbering *n, struct path_choice *ret)
{
	struct path_choice choice = {0};
	struct plan_choice planned = {.state = PLAN_CHANGED};
	struct error *err = NULL;
	if (g->m->plan)
		err = path_plan_ask(g, n, &planned);
	if (err)
		return err;
	if (planned.state != PLAN_KNOWN)
		err = choose_array_or_hash(g, n, &choice);
	else if (fits_array(g, n) && !g->m->options->with_contexts)
		err = choose_planned_array(g, n, &planned, &choice);
	else
		err = path_plan_choose(g, n, &planned, &choice);
	if (!err)
		*ret = choice;
	return err;
}
