/* path_compare_text.c - field against tests for reading: a summary, then three lists. */
#include <inttypes.h>
#include <string.h>

#include "base/number_text.h"
#include "report/paths/path_compare_renderer.h"
#include "report/paths/path_renderer.h"
#include "model/base/context_text.h"
#include "model/base/profile_view.h"

enum {
	CONTEXTS_MAX = 3, /* of one path */
};

struct text {
	const struct path_comparison *c;
	const struct path_style *style;
	FILE *out;
};

static const char *style(const struct text *t, const char *code)
{
	return t->style->is_coloured ? code : "";
}

static const char bold[] = "\033[1m", plain[] = "\033[0m";

static void print_side(const struct text *t, const char *name, const struct path_profile *p, bool is_known,
		       uint64_t total, uint64_t paths)
{
	char a[DIGITS_MAX], b[DIGITS_MAX];

	fprintf(t->out, "%s  %zu %s, %s %s ran, %s %s in all\n", name, p->recordings.count,
		noun_of(p->recordings.count, "file", "files"), digits_grouped(paths, a),
		noun_of(paths, "path", "paths"), digits_grouped(total, b), noun_of(total, "time", "times"));
	path_notes_print(p, "  ! ", t->out);
	if (!is_known)
		fputs("  ! a program was not found (see above): which functions it has that did not run is not known\n",
		      t->out);
}

static void print_heading(const struct text *t, const char *text, size_t count)
{
	char a[DIGITS_MAX], b[DIGITS_MAX];
	size_t shown = t->c->top && t->c->top < count ? t->c->top : count;

	fprintf(t->out, "\n%s%s%s: %s", style(t, bold), text, style(t, plain), digits_grouped(shown, a));
	if (shown < count)
		fprintf(t->out, " of %s", digits_grouped(count, b));
	putc('\n', t->out);
}

static void print_function(const struct text *t, const struct path_function *f)
{
	path_listing_render_function(t->out, f, t->style, 60);
}

static struct error *print_path(const struct text *t, const struct path_pair *pair, const char *remark)
{
	char a[DIGITS_MAX];

	fprintf(t->out, "\n     path %" PRIu64 " of %s%s", pair->number, digits_rough(pair->function->path_count, a),
		remark);
	if (!pair->function->meta) {
		fputs("; neither program has metadata of this function\n", t->out);
		return NULL;
	}
	return path_listing_render(t->out, pair->profile, pair->function, pair->number, t->style);
}

static bool is_of_pair(const struct path_profile *p, const struct path_residual *r, const struct path_pair *pair)
{
	const struct path_function *f = &p->functions.items[r->function];

	return r->node && r->number == pair->number && f->name_key == pair->function->name_key &&
	       f->cfg_key == pair->function->cfg_key;
}

/* Where the field came from, when it was recorded with a plan and contexts. */
static struct error *print_contexts(const struct text *t, const struct path_pair *pair)
{
	const struct path_profile *p = t->c->field;
	struct frame_vec frames = {0};
	struct error *err = NULL;
	size_t shown = 0;
	char a[DIGITS_MAX];

	for (size_t i = 0; i < p->residuals.count && shown < CONTEXTS_MAX && !err; i++) {
		const struct path_residual *r = &p->residuals.items[i];

		if (!is_of_pair(p, r, pair))
			continue;
		shown++;
		frames.count = 0;
		err = view_frames(&p->contexts, r->node, &frames);
		if (err)
			break;
		fprintf(t->out, "     %s %s in this calling context\n", digits_grouped(r->count, a),
			r->count == 1 ? "time" : "times");
		stack_print_lines(t->out, "       ", frames.items, frames.count, t->style->is_coloured);
	}
	frame_vec_deinit(&frames);
	return err;
}

static struct error *print_news(const struct text *t)
{
	static const char *const remarks[] = {
		[PATH_NOVEL_PATH] = "",
		[PATH_NOVEL_FUNCTION] = "; no test entered this function",
		[PATH_NOVEL_BODY] = "; no test entered this function, but maybe where it was inlined",
		[PATH_NOVEL_UNTESTED] = "; the tested programs do not have this function",
	};
	const struct path_pair_vec *v = &t->c->news;
	struct error *err = NULL;
	char a[DIGITS_MAX], b[DIGITS_MAX];

	print_heading(t, "Paths of the field that no test ran", v->count);
	for (size_t i = 0; i < v->count && (!t->c->top || i < t->c->top) && !err; i++) {
		const struct path_pair *pair = &v->items[i];

		fprintf(t->out, "\n%s%3zu. %8s  %s %s%s  ", style(t, bold), i + 1,
			digits_percent(pair->field, t->c->field_total, a), digits_grouped(pair->field, b),
			pair->field == 1 ? "time" : "times", style(t, plain));
		print_function(t, pair->function);
		err = print_path(t, pair, remarks[pair->news]);
		if (!err)
			err = print_contexts(t, pair);
	}
	return err;
}

static struct error *print_cold(const struct text *t)
{
	const struct path_pair_vec *v = &t->c->cold;
	struct error *err = NULL;
	char a[DIGITS_MAX], b[DIGITS_MAX], c[DIGITS_MAX];

	print_heading(t, "Hot paths of the tests that are cold in the field", v->count);
	for (size_t i = 0; i < v->count && (!t->c->top || i < t->c->top) && !err; i++) {
		const struct path_pair *pair = &v->items[i];

		fprintf(t->out, "\n%s%3zu. %8s of the tests, %s of the field (%s %s)%s  ", style(t, bold), i + 1,
			digits_percent(pair->tested, t->c->tested_total, a),
			digits_percent(pair->field, t->c->field_total, b), digits_grouped(pair->field, c),
			pair->field == 1 ? "time" : "times", style(t, plain));
		print_function(t, pair->function);
		err = print_path(t, pair, "");
	}
	return err;
}

static void print_changes(const struct text *t)
{
	const struct path_change_vec *v = &t->c->changes;
	char a[DIGITS_MAX];

	if (!v->count)
		return;
	print_heading(t, "Functions that changed between the builds: their paths cannot be compared", v->count);
	putc('\n', t->out);
	for (size_t i = 0; i < v->count && (!t->c->top || i < t->c->top); i++) {
		const struct path_change *change = &v->items[i];
		const struct path_function *named = change->field->meta ? change->field : change->tested;

		fprintf(t->out, "%15s times  ", digits_grouped(change->count, a));
		print_function(t, named);
		putc('\n', t->out);
	}
}

static void print_blurs(const struct text *t)
{
	const struct path_blur_vec *v = &t->c->blurs;

	if (!v->count)
		return;
	print_heading(t, "Functions of the field with choices that are no branches", v->count);
	putc('\n', t->out);
	for (size_t i = 0; i < v->count && (!t->c->top || i < t->c->top); i++) {
		const struct path_function *f = v->items[i].function;

		fputs("     ", t->out);
		print_function(t, f);
		fputs("  ", t->out);
		path_choices_print_counts(f->meta->selects, f->meta->switch_tables, t->out);
		putc('\n', t->out);
	}
}

static void print_verdict(const struct text *t)
{
	const struct path_comparison *c = t->c;
	char a[DIGITS_MAX], b[DIGITS_MAX], d[DIGITS_MAX];

	switch (path_comparison_verdict(c)) {
	case PATH_VERDICT_COVERED:
		fputs("Every path that ran in the field ran in the tests.\n", t->out);
		break;
	case PATH_VERDICT_UNKNOWN:
		fputs("No counted path is new in the field. Whether the tests ran all that the field ran is not known.\n",
		      t->out);
		break;
	case PATH_VERDICT_NEW:
		fprintf(t->out, "New in the field: %s %s, %s of what it ran (%s %s)\n",
			digits_grouped(c->news.count, a), c->news.count == 1 ? "path" : "paths",
			digits_percent(c->news_total, c->field_total, b), digits_grouped(c->news_total, d),
			noun_of(c->news_total, "time", "times"));
	}
	if (c->changes.count)
		fprintf(t->out, "Not comparable:   %s %s that changed, %s of what it ran\n",
			digits_grouped(c->changes.count, a), c->changes.count == 1 ? "function" : "functions",
			digits_percent(c->changes_total, c->field_total, b));
	if (path_choices_hide(&c->choices)) {
		fputs("Counted as one:   ", t->out);
		path_choices_print(&c->choices, "\n                  ", t->out);
		putc('\n', t->out);
	}
	if (c->lost)
		fprintf(t->out, "Not recorded:     part of what ran, in %s of the field's files (see above)\n",
			digits_grouped(c->lost, a));
}

struct error *path_compare_text(const struct path_comparison *c, const struct path_style *path_style, FILE *out)
{
	struct text t = {.c = c, .style = path_style, .out = out};
	struct error *err;

	print_side(&t, "tested:", c->tested, c->is_tested_known, c->tested_total, c->tested_paths);
	print_side(&t, "field: ", c->field, c->is_field_known, c->field_total, c->field_paths);
	putc('\n', out);
	print_verdict(&t);
	err = c->news.count ? print_news(&t) : NULL;
	if (!err && c->cold.count)
		err = print_cold(&t);
	if (!err)
		print_changes(&t);
	if (!err)
		print_blurs(&t);
	return err;
}
