/* diff_text.c - a difference for reading: the totals, functions by the change of their self, contexts by theirs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_text.h"
#include "model/base/context_text.h"
#include "model/contexts/profile_notes.h"
#include "report/contexts/diff_renderer.h"
#include "report/contexts/renderer.h"

static const struct metric *metric_of(const struct diff_report *r)
{
	return &r->diff->both.metrics.items[r->diff->metric[DIFF_OLD]];
}

/* "+1,234 bytes": a number with the sign of the change. Returns buf. */
static const char *change_text(const struct metric *m, uint64_t before, uint64_t after, char buf[METRIC_TEXT_MAX])
{
	char number[METRIC_TEXT_MAX];

	snprintf(buf, METRIC_TEXT_MAX, "%s%.30s",
		 before < after   ? "+"
		 : before > after ? "-"
				  : "",
		 metric_number(m, diff_change(before, after), number));
	return buf;
}

/* "+12.3 %" of what it was; "new" if it was not there. Returns buf. */
static const char *growth_text(uint64_t before, uint64_t after, char buf[DIGITS_MAX])
{
	if (!before)
		return after ? "new" : "0.0 %";
	snprintf(buf, DIGITS_MAX, "%+.1f %%", 100.0 * ((double)after - (double)before) / (double)before);
	return buf;
}

static void print_sources(const struct view *v, const char *side, FILE *out)
{
	const struct profile *p = v->profile;
	char before[16];

	for (size_t i = 0; i < p->sources.count; i++) {
		const struct profile_source *s = &p->sources.items[i];

		fprintf(out, "%s: ", side);
		plain_print(out, s->path);
		fputs(": ", out);
		plain_print(out, s->header.program);
		fprintf(out, ", pid %" PRIu32 "\n", s->header.pid);
	}
	snprintf(before, sizeof before, "  ! %s: ", side);
	notes_print(v, before, out);
}

static void print_total(const struct diff_report *r, FILE *out)
{
	const struct metric *m = metric_of(r);
	const uint64_t *total = r->diff->total;
	char before[METRIC_TEXT_MAX], after[METRIC_TEXT_MAX], change[METRIC_TEXT_MAX], growth[DIGITS_MAX];

	putc('\n', out);
	plain_print(out, r->views[DIFF_OLD]->profile->metrics.items[r->views[DIFF_OLD]->metric].name);
	fprintf(out, ": %s -> %s", metric_number(m, total[DIFF_OLD], before), metric_number(m, total[DIFF_NEW], after));
	fprintf(out, ", %s (%s)\n", change_text(m, total[DIFF_OLD], total[DIFF_NEW], change),
		growth_text(total[DIFF_OLD], total[DIFF_NEW], growth));
}

static void print_shown(const char *what, size_t shown, size_t all, FILE *out)
{
	fprintf(out, "\n%s by change of self: %zu", what, shown);
	if (shown < all)
		fprintf(out, " of %zu that changed", all);
	fputs("\n\n", out);
}

static int width_of(const struct metric *m, const struct diff_function *functions, size_t count)
{
	char number[METRIC_TEXT_MAX];
	int width = (int)strlen("change");

	for (size_t i = 0; i < count; i++) {
		for (int side = 0; side < DIFF_SIDES; side++) {
			int len = (int)strlen(metric_number(m, functions[i].total[side], number)) + 1; /* and a sign */

			width = len > width ? len : width;
		}
	}
	return width;
}

static void print_function(const struct metric *m, const struct diff_function *f, int width, FILE *out)
{
	char number[METRIC_TEXT_MAX], growth[DIGITS_MAX];

	for (int side = 0; side < DIFF_SIDES; side++)
		fprintf(out, "  %*s", width, metric_number(m, f->self[side], number));
	fprintf(out, "  %*s  %9s", width, change_text(m, f->self[DIFF_OLD], f->self[DIFF_NEW], number),
		growth_text(f->self[DIFF_OLD], f->self[DIFF_NEW], growth));
	fprintf(out, "  %*s  ", width, change_text(m, f->total[DIFF_OLD], f->total[DIFF_NEW], number));
	plain_print(out, f->name);
	if (f->old_name || f->is_moved)
		fputs(" (", out);
	if (f->old_name) {
		fputs("renamed from ", out);
		plain_print(out, f->old_name);
		fputs(f->is_moved ? ", " : ")", out);
	}
	if (f->is_moved) {
		fputs("moved from ", out);
		plain_print(out, f->moved[DIFF_OLD]);
		fputs(" to ", out);
		plain_print(out, f->moved[DIFF_NEW]);
		putc(')', out);
	}
	putc('\n', out);
}

static void print_functions(const struct diff_report *r, FILE *out)
{
	const struct metric *m = metric_of(r);
	size_t count = diff_functions_shown(r);
	int width = width_of(m, r->diff->functions, count);

	print_shown("Functions", count, r->diff->function_count, out);
	fprintf(out, "  %*s  %*s  %*s             %*s\n", width, "self", width, "self", width, "change", width,
		"change");
	fprintf(out, "  %*s  %*s  %*s             %*s  function\n", width, "old", width, "new", width, "of self", width,
		"of total");
	for (size_t i = 0; i < count; i++)
		print_function(m, &r->diff->functions[i], width, out);
}

/* Changed or not: that they are one function is a conclusion, which a reader may want to check. */
static void print_renames(const struct diff_report *r, FILE *out)
{
	const struct diff_rename_vec *renames = &r->diff->renames;
	size_t count = r->top && renames->count > r->top ? r->top : renames->count;

	if (!count)
		return;
	fprintf(out, "\nRenamed functions: %zu", count);
	if (count < renames->count)
		fprintf(out, " of %zu", renames->count);
	fputs("\n\n", out);
	for (size_t i = 0; i < count; i++) {
		fputs("  ", out);
		plain_print(out, renames->items[i].names[DIFF_OLD]);
		fputs(" -> ", out);
		plain_print(out, renames->items[i].names[DIFF_NEW]);
		putc('\n', out);
	}
}

/* Where a frame calls, as the name of its file: "a.c:12 (was 9)", or which side alone has it. NULL: no memory. */
static const char *site_text(const struct diff_site *s, struct arena *arena)
{
	const char *file = s->file[s->file[DIFF_NEW] ? DIFF_NEW : DIFF_OLD];

	if (!s->file[DIFF_NEW])
		return arena_printf(arena, "%s:%" PRIu32 " (old)", file, s->line[DIFF_OLD]);
	if (!s->file[DIFF_OLD])
		return arena_printf(arena, "%s:%" PRIu32 " (new)", file, s->line[DIFF_NEW]);
	if (s->line[DIFF_OLD] == s->line[DIFF_NEW])
		return arena_printf(arena, "%s:%" PRIu32, file, s->line[DIFF_NEW]);
	return arena_printf(arena, "%s:%" PRIu32 " (was %" PRIu32 ")", file, s->line[DIFF_NEW], s->line[DIFF_OLD]);
}

/* The frames of a context; equal places are equal pointers, as those of frames are, so that recursion shows once. */
static struct error *frames_with_sites(const struct profile_diff *d, uint32_t node, struct arena *arena,
				       const char **texts, struct frame_vec *frames)
{
	struct error *err = view_frames(&d->both, node, frames);

	for (size_t i = frames->count; i-- > 0 && !err; node = d->both.nodes.items[node].parent) {
		uint32_t site = d->frame_sites.items[d->both.nodes.items[node].frame];

		if (!site)
			continue;
		if (!texts[site])
			texts[site] = site_text(&d->sites.sites.items[site], arena);
		err = texts[site] ? NULL : &error_no_memory;
		frames->items[i].file = texts[site];
		frames->items[i].line = 0;
	}
	return err;
}

static struct error *print_contexts(const struct diff_report *r, FILE *out)
{
	const struct metric *m = metric_of(r);
	size_t count = diff_contexts_shown(r);
	const char **texts = calloc(r->diff->sites.sites.count, sizeof *texts);
	struct frame_vec frames = {0};
	struct arena arena;
	struct error *err = texts ? NULL : &error_no_memory;

	arena_init(&arena);
	fprintf(out, "\nContexts by change: %zu", count);
	if (count < r->diff->context_count)
		fprintf(out, " of %zu that changed", r->diff->context_count);
	putc('\n', out);
	for (size_t i = 0; i < count && !err; i++) {
		const struct diff_context *c = &r->diff->contexts[i];
		char before[METRIC_TEXT_MAX], after[METRIC_TEXT_MAX], change[METRIC_TEXT_MAX], growth[DIGITS_MAX];

		fprintf(out, "\n%s (%s): %s -> %s\n", change_text(m, c->value[DIFF_OLD], c->value[DIFF_NEW], change),
			growth_text(c->value[DIFF_OLD], c->value[DIFF_NEW], growth),
			metric_number(m, c->value[DIFF_OLD], before), metric_number(m, c->value[DIFF_NEW], after));
		err = frames_with_sites(r->diff, c->node, &arena, texts, &frames);
		if (!err)
			stack_print_lines(out, "    ", frames.items, frames.count, r->views[DIFF_OLD]->is_coloured);
	}
	frame_vec_deinit(&frames);
	arena_deinit(&arena);
	free(texts);
	return err;
}

struct error *diff_render_text(const struct diff_report *r, FILE *out)
{
	print_sources(r->views[DIFF_OLD], "old", out);
	print_sources(r->views[DIFF_NEW], "new", out);
	print_total(r, out);
	print_functions(r, out);
	print_renames(r, out);
	return print_contexts(r, out);
}
