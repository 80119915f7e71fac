/*
 * path_text.c - paths for reading: what was recorded, a summary, then the hottest paths as source, or a table of functions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"
#include "base/plain_text.h"
#include "model/paths/path_coverage.h"
#include "report/paths/path_renderer.h"
#include "model/paths/path_steps.h"
#include "model/base/context_text.h"
#include "model/base/profile_view.h"

enum {
	SPLITS_MAX = 12, /* lines named at which a function was split */
	LIST_MAX = 5,    /* functions named in a line of the summary */
};

struct text {
	const struct path_report *r;
	const struct path_view *v;
	FILE *out;
};

static const char *style(const struct text *t, const char *code)
{
	return t->r->style.is_coloured ? code : "";
}

static const char bold[] = "\033[1m", dim[] = "\033[2m", plain[] = "\033[0m";

static void print_recording(const struct text *t, const struct path_recording *r)
{
	plain_print(t->out, r->path);
	if (r->header.merged_runs) {
		fprintf(t->out, ": %" PRIu64 " %s of ", r->header.merged_runs,
			noun_of(r->header.merged_runs, "recording", "recordings"));
		plain_print(t->out, r->header.program);
		fputs(", merged\n", t->out);
		return;
	}
	fputs(": ", t->out);
	plain_print(t->out, r->header.program);
	fprintf(t->out, ", pid %" PRIu32 ", %s\n", r->header.pid, recording_end_text(r->end));
}

static void print_name(const struct text *t, const char *name)
{
	fprintf(t->out, "  %-11s ", name);
}

/* unknown: besides them, those of which it is not known. */
static void print_part(const struct text *t, const char *name, uint64_t part, uint64_t whole, uint64_t unknown,
		       const char *what)
{
	char a[DIGITS_MAX], b[DIGITS_MAX], c[DIGITS_MAX];

	print_name(t, name);
	fprintf(t->out, "%s of %s %s (%s)", digits_grouped(part, a), digits_grouped(whole, b), what,
		digits_percent(part, whole, c));
	if (unknown)
		fprintf(t->out, "; of %s more it is not known", digits_grouped(unknown, a));
	putc('\n', t->out);
}

static void print_paths(const struct text *t)
{
	const struct path_summary *s = &t->v->summary;
	char a[DIGITS_MAX];

	print_name(t, "paths");
	fprintf(t->out, "%s ran of ", digits_grouped(s->paths_run, a));
	if (s->paths_possible < 1e7)
		fputs(digits_grouped((uint64_t)s->paths_possible, a), t->out);
	else
		fprintf(t->out, "%.1e", s->paths_possible);
	fprintf(t->out, " possible, %s %s in all\n", digits_grouped(s->total, a), noun_of(s->total, "time", "times"));
}

static struct error *print_lines(const struct text *t)
{
	struct path_lines l;
	uint64_t lines = 0, lines_run = 0, ways = 0, ways_run = 0, unknown_lines = 0, unknown_ways = 0;
	struct error *err = path_lines_create(t->v, &l);

	if (err)
		return err;
	for (size_t i = 0; i < l.files.count; i++) {
		const struct path_line_file *f = &l.files.items[i];

		lines += f->lines_known;
		lines_run += f->lines_hit;
		unknown_lines += f->line_count - f->lines_known;
		ways += f->branches_known;
		ways_run += f->branches_hit;
		unknown_ways += f->branch_count - f->branches_known;
	}
	if (lines + unknown_lines)
		print_part(t, "lines", lines_run, lines, unknown_lines, "ran");
	if (ways + unknown_ways)
		print_part(t, "branches", ways_run, ways, unknown_ways, "outcomes happened");
	path_lines_deinit(&l);
	return NULL;
}

static void print_tables(const struct text *t)
{
	static const char *const names[] = {
		[WM1_PATHS_ARRAY] = "array", [WM1_PATHS_HASH] = "hash table", [WM1_PATHS_PLAN] = "plan"};
	const struct path_summary *s = &t->v->summary;
	const char *before = "";
	char a[DIGITS_MAX], b[DIGITS_MAX];

	if (!s->functions_run)
		return;
	print_name(t, "counted in");
	for (int kind = WM1_PATHS_ARRAY; kind <= WM1_PATHS_PLAN; kind++) {
		if (!s->kinds[kind])
			continue;
		fprintf(t->out, "%s%s: %s %s", before, names[kind], digits_grouped(s->kinds[kind], a),
			s->kinds[kind] == 1 ? "function" : "functions");
		before = ", ";
	}
	putc('\n', t->out);
	if (s->plan_functions) {
		print_name(t, "plan");
		fprintf(t->out, "%s %s", digits_grouped(s->plan_functions, a),
			s->plan_functions == 1 ? "function" : "functions");
		if (s->alpha_functions)
			fprintf(t->out, ", %s numbered for it: alpha %.2f in the median, %.2f at most",
				digits_grouped(s->alpha_functions, a), s->alpha_median, s->alpha_most);
		if (s->residual)
			fprintf(t->out, "; outside it %s %s (%s)", digits_grouped(s->residual, a),
				noun_of(s->residual, "time", "times"), digits_percent(s->residual, s->total, b));
		putc('\n', t->out);
	}
}

/* "name 12, name 3 and 5 more" of the functions for which value is not 0, largest first. */
static void print_list(const struct text *t, uint64_t (*value)(const struct path_function *))
{
	const struct path_function *shown[LIST_MAX] = {0};
	size_t count = 0, in_all = 0;
	char a[DIGITS_MAX];

	for (size_t i = 0; i < t->v->function_count; i++) {
		const struct path_function *f = t->v->functions[i];
		size_t at = count;

		if (!f->meta || !value(f))
			continue;
		in_all++;
		while (at && value(shown[at - 1]) < value(f))
			at--;
		if (at == LIST_MAX)
			continue;
		if (count < LIST_MAX)
			count++;
		memmove(&shown[at + 1], &shown[at], (count - at - 1) * sizeof *shown);
		shown[at] = f;
	}
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", " : ": ", t->out);
		path_listing_print_name(t->out, shown[i]->name, &t->r->style);
		fprintf(t->out, " %s", digits_grouped(value(shown[i]), a));
	}
	if (in_all > count)
		fprintf(t->out, " and %zu more %s", in_all - count, noun_of(in_all - count, "function", "functions"));
}

static uint64_t unfinished_of(const struct path_function *f)
{
	return f->unfinished;
}

static uint64_t splits_of(const struct path_function *f)
{
	return path_splits(f);
}

/* Where a function was split: lines of the cut edges. */
static void print_split_lines(const struct text *t)
{
	for (size_t i = 0, shown = 0; i < t->v->function_count && shown < LIST_MAX; i++) {
		const struct path_function *f = t->v->functions[i];
		uint32_t last = 0, lines = 0;

		if (!path_splits(f))
			continue;
		shown++;
		fprintf(t->out, "              ");
		path_listing_print_name(t->out, f->name, &t->r->style);
		fputs(" at line", t->out);
		for (uint32_t e = 0; e < f->meta->cfg.edge_count; e++) {
			const struct pathmeta_line *line = path_node_place(f->meta, f->meta->cfg.edges[e].to);

			if (f->meta->cfg.edges[e].cut != CFG_CUT_SPLIT || !line || line->line == last)
				continue;
			if (lines++ < SPLITS_MAX || t->r->style.is_full)
				fprintf(t->out, " %" PRIu32, line->line);
			last = line->line;
		}
		fputs(lines > SPLITS_MAX && !t->r->style.is_full ? " ...\n" : "\n", t->out);
	}
}

static uint64_t choices_of(const struct path_function *f)
{
	return f->total || f->activations ? (uint64_t)f->meta->selects + f->meta->switch_tables : 0;
}

/* Prints what the numbers above cannot mean. */
static void print_choices(const struct text *t)
{
	const struct path_choices *c = &t->v->summary.choices;

	if (!path_choices_hide(c))
		return;
	print_name(t, "merged");
	path_choices_print(c, "\n              ", t->out);
	print_list(t, choices_of);
	putc('\n', t->out);
}

static void print_oddities(const struct text *t)
{
	const struct path_summary *s = &t->v->summary;
	char a[DIGITS_MAX], b[DIGITS_MAX];

	if (s->unfinished) {
		print_name(t, "unfinished");
		fprintf(t->out, "%s of %s %s", digits_grouped(s->unfinished, a), digits_grouped(s->activations, b),
			noun_of(s->activations, "activation", "activations"));
		print_list(t, unfinished_of);
		putc('\n', t->out);
	}
	if (s->split_functions) {
		print_name(t, "split");
		fprintf(t->out, "%s %s with too many paths, edges cut", digits_grouped(s->split_functions, a),
			s->split_functions == 1 ? "function" : "functions");
		print_list(t, splits_of);
		putc('\n', t->out);
		print_split_lines(t);
	}
	if (s->unknown_functions) {
		print_name(t, "unknown");
		fprintf(t->out, "%s %s, counted %s %s, of which the programs have no metadata\n",
			digits_grouped(s->unknown_functions, a), noun_of(s->unknown_functions, "function", "functions"),
			digits_grouped(s->unknown_total, b), noun_of(s->unknown_total, "time", "times"));
	}
}

static void print_skipped(const struct text *t)
{
	const struct path_profile *p = t->v->profile;
	size_t shown = 0;
	char a[DIGITS_MAX];

	if (!t->v->summary.skipped)
		return;
	print_name(t, "not counted");
	fprintf(t->out, "%s %s\n", digits_grouped(t->v->summary.skipped, a),
		t->v->summary.skipped == 1 ? "function" : "functions");
	for (size_t i = 0; i < p->images.count; i++) {
		const struct pathmeta *m = &p->images.items[i]->meta;

		for (uint32_t j = 0; j < m->skipped_count; j++) {
			if (shown++ >= LIST_MAX && !t->r->style.is_full)
				continue;
			fprintf(t->out, "              ");
			path_listing_print_name(t->out, m->skipped[j].name, &t->r->style);
			fputs(": ", t->out);
			plain_print(t->out, m->skipped[j].reason);
			putc('\n', t->out);
		}
	}
	if (shown > LIST_MAX && !t->r->style.is_full)
		fprintf(t->out, "              and %zu more (--full)\n", shown - LIST_MAX);
}

static struct error *print_summary(const struct text *t)
{
	const struct path_summary *s = &t->v->summary;
	struct error *err;

	fprintf(t->out, "\n%sSummary%s%s\n", style(t, bold), style(t, plain),
		t->v->is_filtered ? " of the chosen functions" : "");
	print_part(t, "functions", s->functions_run, s->functions - s->functions_unknown, s->functions_unknown, "ran");
	print_paths(t);
	print_part(t, "blocks", s->blocks_run, s->blocks, 0, "ran");
	print_part(t, "edges", s->edges_run, s->edges, 0, "taken");
	err = print_lines(t);
	if (err)
		return err;
	print_choices(t);
	print_tables(t);
	print_oddities(t);
	print_skipped(t);
	return NULL;
}

static void print_row_head(const struct text *t, size_t rank, const struct path_view_row *row)
{
	const struct path_function *f = row->function;
	char a[DIGITS_MAX], b[DIGITS_MAX];

	fprintf(t->out, "\n%s%3zu. %8s  %s %s%s  ", style(t, bold), rank,
		digits_percent(row->entry->count, t->v->summary.total, a), digits_grouped(row->entry->count, b),
		row->entry->count == 1 ? "time" : "times", style(t, plain));
	path_listing_render_function(t->out, f, &t->r->style, 40);
	fprintf(t->out, "\n     path %" PRIu64, row->entry->number);
	fprintf(t->out, " of %s", digits_rough(f->path_count, a));
	if (f->run_count > 1)
		fprintf(t->out, ", %s of this function's", digits_percent(row->entry->count, f->total, a));
}

static struct error *print_row(const struct text *t, size_t rank, const struct path_view_row *row)
{
	const struct path_function *f = row->function;

	print_row_head(t, rank, row);
	if (!f->meta) {
		fputs("; the program has no metadata of this function\n", t->out);
		return NULL;
	}
	return path_listing_render(t->out, t->v->profile, f, row->entry->number, &t->r->style);
}

static struct error *print_rows(const struct text *t)
{
	struct error *err = NULL;
	char a[DIGITS_MAX], b[DIGITS_MAX];

	fprintf(t->out, "\n%sHottest paths%s: %s", style(t, bold), style(t, plain), digits_grouped(t->v->row_count, a));
	if (t->v->row_count < t->v->matching_rows)
		fprintf(t->out, " of %s", digits_grouped(t->v->matching_rows, b));
	putc('\n', t->out);
	for (size_t i = 0; i < t->v->row_count && !err; i++)
		err = print_row(t, i + 1, &t->v->rows[i]);
	return err;
}

static void print_function(const struct text *t, const struct path_function *f)
{
	char a[DIGITS_MAX], b[DIGITS_MAX], c[DIGITS_MAX], d[DIGITS_MAX];
	uint64_t run = 0;

	if (!f->meta) {
		fprintf(t->out, "%9s %15s %15s %12s %12s %8s  ", digits_percent(f->total, t->v->summary.total, a),
			digits_grouped(f->total, b), digits_grouped(f->activations, c), digits_rough(f->run_count, d),
			"?", "?");
		plain_print(t->out, f->name);
		putc('\n', t->out);
		return;
	}
	for (uint32_t i = 0; i < f->meta->cfg.node_count; i++)
		run += f->blocks[i] != 0;
	fprintf(t->out, "%9s %15s %15s", digits_percent(f->total, t->v->summary.total, a), digits_grouped(f->total, b),
		path_count_is_known(f->calls, f->is_part) ? digits_grouped(f->calls, c) : "?");
	fprintf(t->out, " %12s %12s", digits_rough(f->run_count, a), digits_rough(f->path_count, b));
	fprintf(t->out, " %8s  ", digits_percent(run, f->meta->cfg.node_count, a));
	path_listing_render_function(t->out, f, &t->r->style, 0);
	if (f->unfinished)
		fprintf(t->out, "  %s unfinished", digits_grouped(f->unfinished, a));
	if (f->meta->selects || f->meta->switch_tables) {
		fputs("  ", t->out);
		path_choices_print_counts(f->meta->selects, f->meta->switch_tables, t->out);
	}
	if (f->is_part)
		fputs("  may have run in others, too", t->out);
	if (path_alpha(f) > 0)
		fprintf(t->out, "  alpha %.2f", path_alpha(f));
	if (f->residual)
		fprintf(t->out, "  %s outside the plan", digits_grouped(f->residual, a));
	putc('\n', t->out);
}

static void print_functions(const struct text *t)
{
	size_t count = t->v->top && t->v->top < t->v->function_count ? t->v->top : t->v->function_count;
	char a[DIGITS_MAX], b[DIGITS_MAX];

	fprintf(t->out, "\n%sFunctions%s by paths counted: %s", style(t, bold), style(t, plain),
		digits_grouped(count, a));
	if (count < t->v->function_count)
		fprintf(t->out, " of %s", digits_grouped(t->v->function_count, b));
	fprintf(t->out, "\n\n%s%9s %15s %15s %12s %12s %8s  function%s\n", style(t, dim), "share", "counted", "entered",
		"paths run", "possible", "blocks", style(t, plain));
	for (size_t i = 0; i < count; i++)
		print_function(t, t->v->functions[i]);
}

/* Residual paths with the calling contexts that were recorded with them. */
static struct error *print_residuals(const struct text *t)
{
	const struct path_profile *p = t->v->profile;
	struct frame_vec frames = {0};
	struct error *err = NULL;
	size_t shown = 0, with_context = 0;
	char a[DIGITS_MAX];

	for (size_t i = 0; i < p->residuals.count; i++)
		with_context += p->residuals.items[i].node != 0;
	if (!with_context || t->v->is_filtered)
		return NULL;
	fprintf(t->out, "\n%sOutside the plan%s, by calling context\n", style(t, bold), style(t, plain));
	for (size_t i = 0; i < p->residuals.count && shown < (t->v->top ? t->v->top : SIZE_MAX) && !err; i++) {
		const struct path_residual *r = &p->residuals.items[i];

		if (!r->node)
			continue;
		shown++;
		fprintf(t->out, "\n     %s %s  path %" PRIu64 " of ", digits_grouped(r->count, a),
			r->count == 1 ? "time" : "times", r->number);
		path_listing_print_name(t->out, p->functions.items[r->function].name, &t->r->style);
		putc('\n', t->out);
		frames.count = 0;
		err = view_frames(&p->contexts, r->node, &frames);
		if (!err)
			stack_print_lines(t->out, "       ", frames.items, frames.count, t->r->style.is_coloured);
	}
	if (shown < with_context)
		fprintf(t->out, "\n     and %zu more (--top)\n", with_context - shown);
	frame_vec_deinit(&frames);
	return err;
}

/* Text that was changed since does not say what ran. */
static void print_source_notes(const struct text *t)
{
	const struct sources *s = t->r->style.sources;
	uint64_t oldest = UINT64_MAX;

	for (size_t i = 0; i < t->v->profile->recordings.count; i++)
		if (t->v->profile->recordings.items[i].header.start_realtime_ns < oldest)
			oldest = t->v->profile->recordings.items[i].header.start_realtime_ns;
	for (size_t i = 0; i < s->files.count; i++) {
		const struct source_file *f = s->files.items[i];

		if (f->path && f->changed_ns > oldest) {
			fputs("\n! ", t->out);
			plain_print(t->out, f->path);
			fputs(" was changed after the recording: lines may not fit\n", t->out);
		}
	}
	if (sources_are_missing(s))
		putc('\n', t->out);
	path_listing_render_missing(t->out, "! ", &t->r->style);
}

struct error *path_render_text(const struct path_report *r, FILE *out)
{
	struct text t = {.r = r, .v = r->view, .out = out};
	const struct path_profile *p = t.v->profile;
	struct error *err;

	for (size_t i = 0; i < p->recordings.count; i++)
		print_recording(&t, &p->recordings.items[i]);
	path_notes_print(p, "  ! ", out);
	err = print_summary(&t);
	if (err)
		return err;
	if (r->is_by_function) {
		print_functions(&t);
		return NULL;
	}
	err = print_rows(&t);
	if (!err)
		err = print_residuals(&t);
	if (!err)
		print_source_notes(&t);
	return err;
}
