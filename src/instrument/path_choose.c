/*
 * path_choose.c - how the paths of a function are counted without a plan: in an array while there are few, else in pairs
 * found by a hash.
 */
#include "instrument/path.h"

static struct error *choose_array_or_hash(struct path_graph *g, const struct path_numbering *n, struct path_choice *ret)
{
	const struct path_options *options = g->m->options;
	ret->start_values = n->start_values;
	ret->edge_values = n->edge_values;
	if (n->path_count <= options->array_limit && n->path_count <= WM1_PATHS_MAX_COUNTERS) {
		ret->kind = WM1_PATHS_ARRAY;
		ret->entry_count = (uint32_t)n->path_count;
		if (n->path_count == 1 && !g->runs_unknown)
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
	if (!options->hash_calls) {
		ret->bits = WM1_PATHS_HASH_BITS_DEFAULT;
		ret->entry_count = 1u << WM1_PATHS_HASH_BITS_DEFAULT;
	}
	return NULL;
}

struct error *path_choose(struct path_graph *g, const struct path_numbering *n, struct path_choice *ret)
{
	struct path_choice choice = {0};
	bool is_planned = false;
	struct error *err = NULL;
	if (g->m->plan)
		err = path_choose_planned(g, n, &is_planned, &choice);
	if (!err && !is_planned)
		err = choose_array_or_hash(g, n, &choice);
	if (!err)
		*ret = choice;
	return err;
}
