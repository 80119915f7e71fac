/* path_view.c - chooses, sorts and sums up. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/paths/path_view.h"

bool path_view_matches(const struct path_view_options *options, const struct path_function *f)
{
	for (size_t i = 0; i < options->function_count; i++)
		if (fnmatch(options->functions[i], f->name, 0) == 0 ||
		    fnmatch(options->functions[i], f->link_name, 0) == 0)
			return true;
	return options->function_count == 0;
}

bool path_view_matches_any(const struct path_view_options *options, const struct path_profile *p)
{
	for (size_t i = 0; i < p->functions.count; i++)
		if (path_view_matches(options, &p->functions.items[i]))
			return true;
	return false;
}

double path_alpha(const struct path_function *f)
{
	if (!f->meta || f->meta->kind != WM1_PATHS_PLAN || !f->meta->interesting)
		return 0;
	return (double)f->meta->interval / (double)f->meta->interesting;
}

uint32_t path_splits(const struct path_function *f)
{
	return f->meta ? cfg_count_cuts(&f->meta->cfg, CFG_CUT_SPLIT) : 0;
}

static int compare_functions(const void *a, const void *b)
{
	const struct path_function *x = *(const struct path_function *const *)a;
	const struct path_function *y = *(const struct path_function *const *)b;

	return compare_u64(y->total, x->total) ?: compare_u64(y->activations, x->activations) ?: strcmp(x->name, y->name) ?:
	       compare_u64(x->name_key, y->name_key) ?: compare_u64(x->cfg_key, y->cfg_key) ?: compare_u64(x->image, y->image);
}

static int compare_rows(const void *a, const void *b)
{
	const struct path_view_row *x = a, *y = b;
	const struct path_function *const fx = x->function, *const fy = y->function;

	return compare_u64(y->entry->count, x->entry->count) ?: compare_functions(&fx, &fy) ?:
	       compare_u64(x->entry->number, y->entry->number);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int compare_entries(const void *a, const void *b)
{
	const struct path_entry *x = *(const struct path_entry *const *)a;
	const struct path_entry *y = *(const struct path_entry *const *)b;

	return compare_u64(y->count, x->count) ?: compare_u64(x->number, y->number);
}

struct error *path_hottest(const struct path_function *f, size_t top, const struct path_entry ***ret, size_t *ret_count)
{
	const struct path_entry **hottest = calloc((size_t)f->run_count + 1, sizeof *hottest);
	size_t count = 0;

	if (!hottest)
		return &error_no_memory;
	for (uint32_t i = 0; i < f->entry_count; i++)
		if (f->entries[i].count)
			hottest[count++] = &f->entries[i];
	qsort(hottest, count, sizeof *hottest, compare_entries);
	*ret = hottest;
	*ret_count = top && top < count ? top : count;
	return NULL;
}

static struct error *choose_functions(struct path_view *v, const struct path_view_options *options)
{
	const struct path_profile *p = v->profile;

	v->functions = calloc(p->functions.count + 1, sizeof *v->functions);
	if (!v->functions)
		return &error_no_memory;
	for (size_t i = 0; i < p->functions.count; i++) {
		const struct path_function *f = &p->functions.items[i];

		if (!f->is_superseded && path_view_matches(options, f))
			v->functions[v->function_count++] = f;
	}
	qsort(v->functions, v->function_count, sizeof *v->functions, compare_functions);
	return NULL;
}

static struct error *choose_rows(struct path_view *v)
{
	size_t count = 0;

	for (size_t i = 0; i < v->function_count; i++)
		count += v->functions[i]->run_count;
	v->rows = calloc(count + 1, sizeof *v->rows);
	if (!v->rows)
		return &error_no_memory;
	for (size_t i = 0; i < v->function_count; i++) {
		const struct path_function *f = v->functions[i];

		for (uint32_t j = 0; j < f->entry_count; j++)
			if (f->entries[j].count)
				v->rows[v->matching_rows++] = (struct path_view_row){f, &f->entries[j]};
	}
	qsort(v->rows, v->matching_rows, sizeof *v->rows, compare_rows);
	v->row_count = v->top && v->top < v->matching_rows ? v->top : v->matching_rows;
	return NULL;
}

static void add_graph(struct path_summary *s, const struct path_function *f)
{
	const struct cfg *g = &f->meta->cfg;

	s->blocks += g->node_count;
	for (uint32_t i = 0; i < g->node_count; i++)
		s->blocks_run += f->blocks[i] != 0;
	for (uint32_t i = 0; i < g->edge_count; i++) {
		s->edges += f->edges[i] != PATH_UNKNOWN;
		s->edges_run += f->edges[i] != PATH_UNKNOWN && f->edges[i];
	}
}

static struct error *sum_up(struct path_view *v)
{
	struct path_summary *s = &v->summary;
	double *alphas = calloc(v->function_count + 1, sizeof *alphas);

	if (!alphas)
		return &error_no_memory;
	for (size_t i = 0; i < v->function_count; i++) {
		const struct path_function *f = v->functions[i];
		bool has_run = f->total || f->activations;

		s->total += f->total;
		s->residual += f->residual;
		if (!f->meta) {
			s->unknown_functions++;
			s->unknown_total += f->total;
			continue;
		}
		s->functions++;
		s->functions_run += has_run;
		s->functions_unknown += !path_count_is_known(f->calls, f->is_part);
		s->optimized += has_run && f->meta->is_optimized;
		if (has_run)
			path_choices_add(&s->choices, v->profile, f);
		s->paths_run += f->run_count;
		s->paths_possible += (double)f->path_count;
		s->activations += f->activations;
		s->unfinished += f->unfinished;
		s->kinds[has_run && f->kind <= WM1_PATHS_PLAN ? f->kind : 0]++;
		s->split_functions += path_splits(f) != 0;
		add_graph(s, f);
		s->plan_functions += f->meta->has_plan || f->meta->kind == WM1_PATHS_PLAN;
		if (path_alpha(f) > 0)
			alphas[s->alpha_functions++] = path_alpha(f);
	}
	qsort(alphas, s->alpha_functions, sizeof *alphas, compare_doubles);
	if (s->alpha_functions) {
		s->alpha_median = alphas[s->alpha_functions / 2];
		s->alpha_most = alphas[s->alpha_functions - 1];
	}
	free(alphas);
	for (size_t i = 0; i < v->profile->images.count; i++)
		s->skipped += v->profile->images.items[i]->meta.skipped_count;
	return NULL;
}

struct error *path_view_create(const struct path_profile *p, const struct path_view_options *options,
			       const char *producer, struct path_view *ret)
{
	struct path_view v = {
		.profile = p, .is_filtered = options->function_count != 0, .top = options->top, .producer = producer};
	struct error *err;

	err = choose_functions(&v, options) ?: choose_rows(&v) ?: sum_up(&v);
	if (err)
		path_view_deinit(&v);
	else
		*ret = v;
	return err;
}

void path_view_deinit(struct path_view *v)
{
	free(v->functions);
	free(v->rows);
	*v = (struct path_view){0};
}
