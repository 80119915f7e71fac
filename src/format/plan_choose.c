/*
 * plan_choose.c - which paths of one function a plan means.
 *
 * With a profile: its counted paths, the most frequent first, up to the share that `hot` asks for; then those that `function`
 * and `line` leave. Without one: all paths that pass a wanted line, in the order of their numbers. How many those are, and
 * where the next one is, follows from the number of paths from each node that avoid all wanted lines: whole ranges of numbers
 * are passed over, and the paths need not be tried one by one (there may be 2^44).
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "format/plan_model.h"

/* The function at work. */
struct chooser {
	const struct plan *plan;
	const struct pathmeta_function *f;
	const struct path_numbering *n;
	bool is_whole;    /* all its paths are wanted */
	bool *is_wanted;  /* [node]: has a wanted line */
	uint64_t *avoids; /* [node]: paths from it that pass no such node */
};

static bool is_named(const struct plan *plan, const struct pathmeta_function *f)
{
	for (size_t i = 0; i < plan->globs.count; i++)
		if (fnmatch(plan->globs.items[i], f->name, 0) == 0 ||
		    fnmatch(plan->globs.items[i], f->link_name, 0) == 0)
			return true;
	return false;
}

static bool is_same_file(const char *path, const char *end)
{
	size_t path_len = strlen(path), end_len = strlen(end);

	return end_len <= path_len && strcmp(path + path_len - end_len, end) == 0 &&
	       (end_len == path_len || end[0] == '/' || path[path_len - end_len - 1] == '/');
}

static bool is_wanted_line(const struct plan *plan, const struct pathmeta_line *l)
{
	for (size_t i = 0; l->file && i < plan->lines.count; i++) {
		const struct plan_line *wanted = &plan->lines.items[i];

		if (l->line >= wanted->first && l->line <= wanted->last && is_same_file(l->file, wanted->file))
			return true;
	}
	return false;
}

static uint64_t count_avoiding(const struct chooser *c, uint32_t node)
{
	const struct cfg *g = &c->f->cfg;
	uint64_t sum = 0;

	if (c->is_wanted[node])
		return 0;
	if (cfg_node_ends(g, node))
		return 1 + g->may_be_left;
	sum = g->may_be_left;
	for (uint32_t e = g->first_edge[node]; e < g->first_edge[node + 1]; e++)
		sum += cfg_edge_ends(&g->edges[e]) ? 1 : c->avoids[g->edges[e].to];
	return sum;
}

static struct error *mark_nodes(struct chooser *c, struct arena *scratch)
{
	const struct pathmeta_function *f = c->f;
	uint32_t count = f->cfg.node_count;
	uint32_t *order = arena_calloc(scratch, count, sizeof *order);
	struct error *err;

	c->is_wanted = arena_calloc(scratch, count, sizeof *c->is_wanted);
	c->avoids = arena_calloc(scratch, count, sizeof *c->avoids);
	if (!order || !c->is_wanted || !c->avoids)
		return &error_no_memory;
	for (uint32_t node = 0; node < count; node++)
		for (uint32_t i = f->first_line[node]; i < f->first_line[node + 1]; i++)
			c->is_wanted[node] |= is_wanted_line(c->plan, &f->lines[i]);
	err = cfg_order(&f->cfg, order);
	if (err)
		return err;
	for (uint32_t i = count; i-- > 0;)
		c->avoids[order[i]] = count_avoiding(c, order[i]);
	return NULL;
}

/* Whether the path passes a wanted node; if not, *next is a higher number below which none does. */
static bool passes(const struct chooser *c, uint64_t number, uint64_t *next)
{
	const struct cfg *g = &c->f->cfg;
	uint32_t start = path_find_value(c->n->start_values, 0, c->n->start_count, number);
	uint64_t base = c->n->start_values[start];
	uint32_t node = c->n->starts[start];

	for (;;) {
		uint32_t e;

		*next = base + c->n->node_paths[node];
		if (c->is_wanted[node])
			return true;
		if (c->avoids[node] == c->n->node_paths[node])
			return false;
		if (g->may_be_left && number + 1 == *next)
			return false;
		e = path_find_value(c->n->edge_values, g->first_edge[node], g->first_edge[node + 1], number - base);
		base += c->n->edge_values[e];
		if (cfg_edge_ends(&g->edges[e])) {
			*next = base + 1;
			return false;
		}
		node = g->edges[e].to;
	}
}

/* Without a profile. */
static struct error *choose_all(const struct chooser *c, struct arena *arena, struct plan_choice *choice)
{
	uint64_t total = c->n->path_count, number = 0;

	if (!c->is_whole)
		for (uint32_t i = 0; i < c->n->start_count; i++)
			total -= c->avoids[c->n->starts[i]];
	choice->count = total < PLAN_UNPROFILED_MAX ? (uint32_t)total : PLAN_UNPROFILED_MAX;
	choice->left_out = total - choice->count;
	choice->paths = arena_calloc(arena, choice->count, sizeof *choice->paths);
	choice->counts = arena_calloc(arena, choice->count, sizeof *choice->counts);
	if (!choice->paths || !choice->counts)
		return &error_no_memory;
	for (uint32_t i = 0; i < choice->count; i++, number++) {
		uint64_t next;

		if (!c->is_whole)
			while (!passes(c, number, &next))
				number = next;
		choice->paths[i] = number;
	}
	return NULL;
}

static int compare_frequent(const void *a, const void *b)
{
	const struct plan_count *i = a, *j = b;

	return compare_u64(j->count, i->count) ?: compare_u64(i->number, j->number);
}

/* How many of the most frequent paths make up the share that is wanted. */
static size_t hot_part(const struct plan *plan, const struct plan_count *sorted, size_t count)
{
	unsigned __int128 total = 0, sum = 0;
	size_t kept = 0;

	if (!plan->has_hot)
		return count;
	for (size_t i = 0; i < count; i++)
		total += sorted[i].count;
	while (kept < count && sum * PLAN_HOT_ALL < total * plan->hot)
		sum += sorted[kept++].count;
	return kept;
}

/* counted: what the profile has of the function. */
static struct error *choose_counted(const struct chooser *c, const struct plan_count *counted, size_t count,
				    struct arena *arena, struct plan_choice *choice)
{
	struct plan_count *sorted = calloc(count + 1, sizeof *sorted);
	uint64_t next;

	choice->paths = arena_calloc(arena, count < PLAN_PATHS_MAX ? count : PLAN_PATHS_MAX, sizeof *choice->paths);
	choice->counts = arena_calloc(arena, count < PLAN_PATHS_MAX ? count : PLAN_PATHS_MAX, sizeof *choice->counts);
	if (!sorted || !choice->paths || !choice->counts) {
		free(sorted);
		return &error_no_memory;
	}
	if (count) {
		memcpy(sorted, counted, count * sizeof *sorted);
		qsort(sorted, count, sizeof *sorted, compare_frequent);
	}
	count = hot_part(c->plan, sorted, count);
	for (size_t i = 0; i < count; i++) {
		if (!c->is_whole && !passes(c, sorted[i].number, &next))
			continue;
		if (choice->count == PLAN_PATHS_MAX) {
			choice->left_out++;
			continue;
		}
		choice->paths[choice->count] = sorted[i].number;
		choice->counts[choice->count++] = sorted[i].count;
	}
	free(sorted);
	return NULL;
}

/* The first count that is not before these keys. */
static size_t lower_bound(const struct plan *plan, uint64_t name_key, uint64_t cfg_key)
{
	size_t low = 0, high = plan->counts.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct plan_count *at = &plan->counts.items[middle];

		if (at->name_key < name_key || (at->name_key == name_key && at->cfg_key < cfg_key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Finds what the profile has of f. False: it has another function of that name. */
static bool find_counts(const struct plan *plan, const struct pathmeta_function *f, uint64_t path_count, size_t *first,
			size_t *count)
{
	const struct plan_count *items = plan->counts.items;
	size_t end;

	*first = lower_bound(plan, f->name_key, f->cfg_key);
	for (end = *first;
	     end < plan->counts.count && items[end].name_key == f->name_key && items[end].cfg_key == f->cfg_key; end++)
		if (items[end].number >= path_count)
			return false;
	*count = end - *first;
	if (*count)
		return true;
	end = lower_bound(plan, f->name_key, 0);
	return end == plan->counts.count || items[end].name_key != f->name_key;
}

struct error *plan_choose(const struct plan *plan, const struct pathmeta_function *f, const struct path_numbering *n,
			  struct arena *arena, struct plan_choice *ret)
{
	struct chooser c = {.plan = plan, .f = f, .n = n};
	struct plan_choice choice = {.state = PLAN_KNOWN};
	size_t first = 0, count = 0;
	struct arena scratch;
	struct error *err = NULL;

	if (plan->has_profile && !find_counts(plan, f, n->path_count, &first, &count)) {
		choice.state = PLAN_CHANGED;
		*ret = choice;
		return NULL;
	}
	arena_init(&scratch);
	c.is_whole = (!plan->globs.count && !plan->lines.count) || is_named(plan, f);
	if (!c.is_whole)
		err = mark_nodes(&c, &scratch);
	if (!err)
		err = plan->has_profile ? choose_counted(&c, plan->counts.items + first, count, arena, &choice)
					: choose_all(&c, arena, &choice);
	arena_deinit(&scratch);
	if (!err)
		*ret = choice;
	return err;
}
