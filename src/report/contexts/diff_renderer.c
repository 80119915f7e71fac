/* diff_renderer.c - the formats, and how much of a difference they show. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "model/base/context_text.h"
#include "report/contexts/diff_renderer.h"
#include "report/contexts/renderer.h"
#include "report/view/view_page.h"

static const struct diff_renderer renderers[] = {
	{.format = {"text", "functions and contexts by their change, for reading"},
	 .default_top = 20,
	 .has_notes = true,
	 .render = diff_render_text},
	{.format = {"json", "the same for programs; docs/format.md describes it"}, .render = diff_render_json},
	{.format = {"folded", "one context a line: main;f OLD NEW"}, .render = diff_render_folded},
	{.format = {"svg", "a flame graph: red has grown, blue has shrunk"}, .render = diff_render_svg},
	{.format = {"view", "a page as `waymark view` makes it, with the change in colours"},
	 .render = diff_render_view},
	{.format = {0}},
};

const struct word_table diff_formats = {renderers, sizeof *renderers};

static bool is_enough(const struct diff_report *r, uint64_t before, uint64_t after)
{
	return (double)diff_change(before, after) >= r->min * (double)r->diff->total[DIFF_OLD] / 100;
}

static size_t limit(const struct diff_report *r, size_t count)
{
	return r->top && count > r->top ? r->top : count;
}

size_t diff_functions_shown(const struct diff_report *r)
{
	const struct diff_function *f = r->diff->functions;
	size_t count = 0;

	while (count < r->diff->function_count && (is_enough(r, f[count].self[DIFF_OLD], f[count].self[DIFF_NEW]) ||
						   is_enough(r, f[count].total[DIFF_OLD], f[count].total[DIFF_NEW])))
		count++;
	return limit(r, count);
}

size_t diff_contexts_shown(const struct diff_report *r)
{
	const struct diff_context *c = r->diff->contexts;
	size_t count = 0;

	while (count < r->diff->context_count && is_enough(r, c[count].value[DIFF_OLD], c[count].value[DIFF_NEW]))
		count++;
	return limit(r, count);
}

/* A line, the sum of those of equal names: contexts that differ in their sites stand together. */
struct folded_line {
	char *text;
	uint64_t value[DIFF_SIDES];
};

static void print_folded(const struct folded_line *line, FILE *out)
{
	if (line->text)
		fprintf(out, "%s %" PRIu64 " %" PRIu64 "\n", line->text, line->value[DIFF_OLD], line->value[DIFF_NEW]);
}

/* Takes over text. */
static void add_folded(struct folded_line *line, char *text, const uint64_t value[DIFF_SIDES], FILE *out)
{
	if (line->text && strcmp(line->text, text) == 0) {
		for (int side = 0; side < DIFF_SIDES; side++)
			line->value[side] = sum_limited(line->value[side], value[side]);
		free(text);
		return;
	}
	print_folded(line, out);
	free(line->text);
	*line = (struct folded_line){text, {value[DIFF_OLD], value[DIFF_NEW]}};
}

/* Every context, changed or not: a reader of folded stacks adds them up. */
struct error *diff_render_folded(const struct diff_report *r, FILE *out)
{
	const struct profile_diff *d = r->diff;
	struct frame_vec frames = {0};
	struct folded_line line = {0};
	struct view v;
	struct error *err = view_create(&d->both, &(struct view_options){.metric = "widest", .sort = "name"}, "", &v);

	if (err)
		return err;
	for (size_t i = 0; i < v.row_count && !err; i++) {
		const uint64_t value[] = {view_value(&v, &v.rows[i], d->metric[DIFF_OLD]),
					  view_value(&v, &v.rows[i], d->metric[DIFF_NEW])};
		char *text;

		err = view_frames(&d->both, v.rows[i].node, &frames)
			      ?: stack_folded_text(frames.items, frames.count, &text);
		if (!err)
			add_folded(&line, text, value, out);
	}
	print_folded(&line, out);
	free(line.text);
	frame_vec_deinit(&frames);
	view_deinit(&v);
	return err;
}

static struct error *render_change(const struct diff_report *r,
				   struct error *(*render)(const struct view *v, FILE *out), FILE *out)
{
	const struct profile_diff *d = r->diff;
	struct view v;
	struct error *err =
		view_create(&d->both, &(struct view_options){.metric = "widest"}, r->views[DIFF_OLD]->producer, &v);

	if (err)
		return err;
	v.has_change = true;
	v.before = d->metric[DIFF_OLD];
	v.after = d->metric[DIFF_NEW];
	v.notes = &d->notes;
	err = render(&v, out);
	view_deinit(&v);
	return err;
}

struct error *diff_render_svg(const struct diff_report *r, FILE *out)
{
	return render_change(r, render_svg, out);
}

struct error *diff_render_view(const struct diff_report *r, FILE *out)
{
	return render_change(r, render_view_page, out);
}
