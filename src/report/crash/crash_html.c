/*
 * crash_html.c - a crash as one self-contained page: stacks, of each frame its last paths step by step and its calls, the
 * source with what ran, and all functions. Without script it reads from top to bottom: stacks, frames, source, functions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/order.h"
#include "base/text.h"
#include "object/demangle.h"
#include "model/crash/crash_digest.h"
#include "report/crash/crash_html.h"
#include "model/crash/crash_steps.h"
#include "report/crash/crash_before_render.h"
#include "report/embedded.h"
#include "report/crash/crash_values_render.h"
#include "base/number_text.h"

enum {
	FRAME_STEPS = 300,  /* lines of all paths of a frame */
	PAGE_STEPS = 20000, /* of all frames, then FRAME_STEPS_LEAN for each */
	FRAME_STEPS_LEAN = 40,
	TEXT_MAX = 96,    /* bytes of a line in a step */
	THREADS_OPEN = 3, /* of more, only the first one's stack is open */
	CALLS_OPEN = 16,
	FUNCTIONS_MAX = 3000, /* in the table */
};

void crash_html_name(const struct crash_html *h, const char *name, bool is_bare)
{
	const char *whole, *brief = NULL;
	struct arena arena;

	arena_init(&arena);
	whole = demangle(&arena, name);
	if (whole)
		brief = h->r->style.is_full ? whole : demangle_brief(&arena, whole);
	if (!brief) {
		html_text(h->out, name);
	} else if (is_bare || strcmp(brief, whole) == 0) {
		html_text(h->out, brief);
	} else {
		fputs("<span title=\"", h->out);
		html_text(h->out, whole);
		fputs("\">", h->out);
		html_text(h->out, brief);
		fputs("</span>", h->out);
	}
	arena_deinit(&arena);
}

/* ---- stacks ---- */

static void print_name(const struct crash_html *h, const struct crash_frame *f)
{
	if (f->machine->is_trampoline)
		fputs("a signal came in", h->out);
	else if (f->name)
		crash_html_name(h, f->name, false);
	else
		fprintf(h->out, "0x%" PRIx64, f->machine->pc);
}

static void print_fold(const struct crash_html *h, const struct crash_thread *t, const struct crash_row *row)
{
	char a[DIGITS_MAX];

	if (row->period == 0) {
		fprintf(h->out, "<li class=\"dim fold\">%s more frames</li>\n", digits_grouped(row->count, a));
		return;
	}
	fprintf(h->out, "<li class=\"dim fold\">%s more rounds of ", digits_grouped(row->count / row->period, a));
	for (uint32_t i = row->period; i-- > 0;) {
		print_name(h, &t->frames[row->frame + i]);
		fputs(i ? ", " : "", h->out);
	}
	fprintf(h->out, " (#%" PRIu32 " to #%" PRIu32 ")</li>\n", row->frame, row->frame + row->count - 1);
}

static void print_stack_head(const struct crash_html *h, uint32_t number)
{
	const struct crash_thread *t = &h->c->threads[number];
	uint32_t inside =
		t->frame_count ? 0 : UINT32_MAX; /* what it is in: the first function with a path, else the first one */

	for (uint32_t i = t->frame_count; i-- > 0;)
		if (t->frames[i].path_count)
			inside = i;
	fprintf(h->out, "<details%s><summary>Thread %" PRIu32 " <small>%d",
		h->c->thread_count <= THREADS_OPEN || number == 0 ? " open" : "", number + 1, (int)t->machine->tid);
	if (t->machine->name) {
		fputs(" ", h->out);
		html_text(h->out, t->machine->name);
	}
	fputs(t->machine->is_first && t->machine->signal && h->c->thread_count > 1 ? ", got the signal" : "", h->out);
	if (h->c->thread_count > 1 && inside != UINT32_MAX) {
		fputs(", in ", h->out);
		print_name(h, &t->frames[inside]);
	}
	fputs("</small></summary>\n", h->out);
}

static void print_stack_frame(const struct crash_html *h, uint32_t number, uint32_t index)
{
	const struct crash_frame *f = &h->c->threads[number].frames[index];

	fprintf(h->out, "<li><a href=\"#t%" PRIu32 "-%" PRIu32 "\" class=\"%s%s\"><b>%" PRIu32 "</b><span>", number,
		index, f->path_count ? "traced" : "", f->is_inlined ? " inl" : "", index);
	print_name(h, f);
	if (f->file && f->line) {
		fputs(" <small>", h->out);
		html_text(h->out, html_base_name(f->file));
		fprintf(h->out, ":%" PRIu32 "</small>", f->line);
	}
	fprintf(h->out, "%s</span></a></li>\n", f->is_inlined ? " <small>inlined</small>" : "");
}

static void print_stack(const struct crash_html *h, uint32_t number)
{
	const struct crash_thread *t = &h->c->threads[number];

	print_stack_head(h, number);
	crash_values_thread(&crash_values_html, h->r, number, h->out);
	fputs("<ol class=\"stack\">\n", h->out);
	for (uint32_t k = 0; k < h->stacks[number].count; k++) {
		const struct crash_row *row = &h->stacks[number].items[k];

		if (row->count > 1)
			print_fold(h, t, row);
		else
			print_stack_frame(h, number, row->frame);
	}
	if (t->machine->cut) {
		fputs("<li class=\"dim fold\">cannot be followed further: ", h->out);
		html_text(h->out, t->machine->cut);
		fputs("</li>\n", h->out);
	}
	fputs("</ol></details>\n", h->out);
}

/* ---- a frame ---- */

static struct error *print_source_text(struct crash_html *h, const char *file, uint32_t line)
{
	const struct source_file *source;
	struct arena arena;
	const char *text = NULL;
	struct error *err = sources_get(h->r->style.sources, file, &source);

	if (err)
		return err;
	arena_init(&arena);
	err = source_line(source, line, &arena, &text);
	if (!err && text) {
		size_t len;

		text += strspn(text, " \t");
		len = strlen(text);
		if (len > TEXT_MAX)
			for (len = TEXT_MAX; len && (text[len] & 0xc0) == 0x80;)
				len--;
		html_part(h->out, text, len);
		if (text[len])
			fputs("\xe2\x80\xa6", h->out);
	}
	arena_deinit(&arena);
	return err;
}

/* The function that a step goes into; NULL: it stays where the last one was. */
static const char *step_function(const struct crash_frame *f, const struct path_step *last,
				 const struct path_step *step)
{
	if (last && last->function == step->function)
		return NULL;
	if (step->function)
		return step->function;
	return last ? f->name : NULL;
}

/* last: of the same path; NULL: none. */
static struct error *print_step(struct crash_html *h, const struct crash_frame *f, const struct path_step *last,
				const struct path_step *step, const char *end)
{
	const char *function = step_function(f, last, step);
	uint32_t row = crash_html_row(h, step->file, step->line);
	struct error *err = NULL;

	if (row != UINT32_MAX)
		fprintf(h->out, "<li data-row=\"f%" PRIu32 "-L%" PRIu32 "\"><a href=\"#f%" PRIu32 "-L%" PRIu32 "\"><b>",
			row, step->line, row, step->line);
	else
		fputs("<li><a><b>", h->out);
	if (step->file && f->flow->file && strcmp(step->file, f->flow->file) != 0) {
		html_text(h->out, html_base_name(step->file));
		putc(':', h->out);
	}
	fprintf(h->out, "%" PRIu32 "</b> ", step->line);
	if (function) {
		fputs("<small>", h->out);
		crash_html_name(h, function, true);
		fputs("</small> ", h->out);
	}
	fputs("<code>", h->out);
	if (step->file && step->line)
		err = print_source_text(h, step->file, step->line);
	fputs("</code>", h->out);
	if (step->outcome || end) {
		fputs(" <em>", h->out);
		html_text(h->out, step->outcome ? step->outcome : "");
		fputs(step->outcome && end ? "; " : "", h->out);
		html_text(h->out, end ? end : "");
		fputs("</em>", h->out);
	}
	fputs("</a></li>\n", h->out);
	return err;
}

static void print_path_head(const struct crash_html *h, const struct crash_frame *f, uint32_t index, const char *start)
{
	const struct crash_path *path = &f->paths[index];

	fputs("<h3>", h->out);
	if (path->is_iterations)
		fputs("Round of the loop, once or more", h->out);
	else if (path->is_complete)
		fprintf(h->out, "Path %" PRIu64 " of %" PRIu64 "%s", path->ordinal, f->ended,
			path->is_current ? ", at its end" : "");
	else
		fputs(f->ended ? "Then, in progress" : "In progress", h->out);
	fputs(" <small>", h->out);
	if (path->follows_gap)
		fputs("came here by longjmp; ", h->out);
	html_text(h->out, start);
	fputs("</small></h3>\n", h->out);
}

VEC_DECLARE(steps_vec, struct path_steps);

static void steps_vec_free(struct steps_vec *v)
{
	for (size_t i = 0; i < v->count; i++)
		path_steps_deinit(&v->items[i]);
	steps_vec_deinit(v);
}

/* The steps of a frame's paths, newest path first: as many paths as there is room for. */
static struct error *collect_steps(struct crash_html *h, const struct crash_thread *t, const struct crash_frame *f,
				   uint32_t most, struct steps_vec *ret)
{
	uint32_t limit = h->r->path_limit, count = limit && limit < f->path_count ? limit : f->path_count;
	size_t lines = 0;
	struct error *err = steps_vec_reserve(ret, (size_t)count + 1);

	while (!err && ret->count < count && (lines < most || !ret->count)) {
		struct path_steps *s = &ret->items[ret->count];

		err = crash_path_steps(h->c, t, f, &f->paths[f->path_count - 1 - ret->count], h->r->style.sources, s);
		if (!err)
			lines += ret->items[ret->count++].steps.count;
	}
	h->steps += (uint32_t)lines;
	return err;
}

/* first: the oldest path that is shown. */
static void print_older(const struct crash_html *h, const struct crash_frame *f, uint32_t first)
{
	uint64_t before = f->ended;

	for (uint32_t i = first; i < f->path_count; i++)
		before -= f->paths[i].ordinal != 0;
	if (before)
		fprintf(h->out, "<p class=\"dim\">%" PRIu64 " %s before these %s not shown%s.</p>\n", before,
			before == 1 ? "path" : "paths", before == 1 ? "is" : "are", first ? "" : ": no longer known");
}

/* *number: of the next step that is shown, over all paths. */
static struct error *print_path(struct crash_html *h, const struct crash_frame *f, uint32_t index,
				const struct path_steps *s, uint32_t most, uint32_t *number)
{
	const struct path_step *last = NULL;
	size_t skip = s->steps.count > most ? s->steps.count - most : 0;
	struct error *err = NULL;

	print_path_head(h, f, index, s->start);
	if (skip)
		fprintf(h->out, "<p class=\"dim\">%zu lines before these are not shown.</p>\n", skip);
	fprintf(h->out, "<ol class=\"steps%s\" start=\"%" PRIu32 "\">\n", index + 1 == f->path_count ? " now" : "",
		*number);
	for (size_t i = skip; i < s->steps.count && !err; i++) {
		const struct path_step *step = &s->steps.items[i];
		bool is_end = i + 1 == s->steps.count;

		if (!h->r->style.is_full && !is_end && path_listing_is_plumbing(step, f->flow->file))
			continue;
		err = print_step(h, f, last, step, is_end ? s->end : NULL);
		last = step;
		(*number)++;
	}
	fputs("</ol>\n", h->out);
	return err;
}

static struct error *print_paths(struct crash_html *h, const struct crash_thread *t, const struct crash_frame *f)
{
	CLEANUP(steps_vec_free) struct steps_vec steps = {0};
	uint32_t most = h->steps < PAGE_STEPS ? FRAME_STEPS : FRAME_STEPS_LEAN;
	uint32_t number = 1;
	struct error *err = collect_steps(h, t, f, most, &steps);

	if (err)
		return err;
	print_older(h, f, f->path_count - (uint32_t)steps.count);
	for (size_t i = steps.count; i-- > 0 && !err;)
		err = print_path(h, f, f->path_count - 1 - (uint32_t)i, &steps.items[i], most, &number);
	return err;
}

/* The branches that decided that control came here; keys go through steps of paths only. */
static struct error *print_digest(struct crash_html *h, const struct crash_thread *t, const struct crash_frame *f)
{
	struct crash_digest d;
	struct error *err = crash_digest_create(h->c, t, f, h->r->style.sources, &d);
	uint32_t count;

	if (err)
		return err;
	count = h->r->style.is_full || d.count <= DIGEST_MAX ? d.count : DIGEST_MAX;
	if (count)
		fputs("<div class=\"why\"><h3>Decided by</h3>\n<ul class=\"steps digest\">\n", h->out);
	for (uint32_t i = 0; i < count && !err; i++)
		err = print_step(h, f, i ? &d.items[i - 1].step : NULL, &d.items[i].step, NULL);
	if (count)
		fputs("</ul>\n", h->out);
	if (count < d.count)
		fprintf(h->out, "<p class=\"dim\">and %" PRIu32 " before these (--full)</p>\n", d.count - count);
	if (count)
		fputs("</div>\n", h->out);
	crash_digest_deinit(&d);
	return err;
}

static uint32_t count_calls(const struct crash_frame *f, enum activity_point wanted)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < f->meta->call_count; i++)
		count += f->calls_used[i] == wanted && !crash_call_is_repeat(f, i);
	return count;
}

static void print_call(struct crash_html *h, const struct crash_frame *f, const struct tracemeta_call *call,
		       enum activity_point state)
{
	uint32_t row = crash_html_row(h, call->file ? call->file : f->flow->file, call->line);

	if (row != UINT32_MAX)
		fprintf(h->out, " <a href=\"#f%" PRIu32 "-L%" PRIu32 "\"", row, call->line);
	else
		fputs(" <a", h->out);
	fprintf(h->out, " class=\"call %c\">", state == POINT_USED ? 'y' : 'n');
	crash_html_name(h, call->callee ? call->callee : call->kind == TRACEMETA_ASM ? "asm" : "*pointer", true);
	if (call->file && call->line && !text_equal(call->file, f->flow->file)) {
		putc(':', h->out);
		html_text(h->out, html_base_name(call->file));
	}
	if (call->line)
		fprintf(h->out, ":%" PRIu32, call->line);
	fputs("</a>", h->out);
}

static void print_call_list(struct crash_html *h, const struct crash_frame *f, enum activity_point wanted,
			    const char *what)
{
	uint32_t count = count_calls(f, wanted);
	bool is_long = count > CALLS_OPEN;

	if (!count)
		return;
	if (is_long)
		fprintf(h->out, "<details class=\"calls\"><summary>%s (%" PRIu32 ")</summary>", what, count);
	else
		fprintf(h->out, "<p class=\"calls\">%s:", what);
	for (uint32_t i = 0; i < f->meta->call_count; i++)
		if (f->calls_used[i] == wanted && !crash_call_is_repeat(f, i))
			print_call(h, f, &f->meta->calls[i], wanted);
	fputs(is_long ? "</details>\n" : "</p>\n", h->out);
}

/* The frame whose paths have this one's lines: itself, or the one that it was inlined into. */
static uint32_t owner_of(const struct crash_thread *t, uint32_t number)
{
	uint32_t owner = number;

	while (!t->frames[owner].path_count && t->frames[owner].is_inlined && owner + 1 < t->frame_count)
		owner++;
	return t->frames[owner].path_count ? owner : number;
}

static void print_frame_facts(struct crash_html *h, uint32_t thread, uint32_t number)
{
	static const char *const coverage[WM1_SCHEME_COVERAGE + 1] = {
		[WM1_SCHEME_NONE] = "",
		[WM1_SCHEME_FUNCTION] = "function coverage",
		[WM1_SCHEME_CALLS] = "call coverage",
		[WM1_SCHEME_FUNCTION | WM1_SCHEME_CALLS] = "function and call coverage",
		[WM1_SCHEME_BLOCKS] = "block coverage",
	};
	const struct crash_frame *f = &h->c->threads[thread].frames[number];
	uint32_t owner = owner_of(&h->c->threads[thread], number);
	const char *kind = f->variant ? coverage[f->variant->scheme & WM1_SCHEME_COVERAGE] : "";
	char a[DIGITS_MAX];

	fputs("<p class=\"dim\">", h->out);
	if (f->is_inlined)
		fprintf(h->out, "Inlined into #%" PRIu32 ". ", number + 1);
	if (owner != number)
		fprintf(h->out,
			"Its lines are in <a href=\"#t%" PRIu32 "-%" PRIu32 "\">the paths of #%" PRIu32 "</a>. ",
			thread, owner, owner);
	if (!f->meta && !f->is_inlined)
		fputs("Not traced. ", h->out);
	else if (f->meta && !f->variant)
		fputs("Not traced in this run. ", h->out);
	else if (f->variant)
		fprintf(h->out, "Traced: %s%s%s. ", f->variant->scheme & WM1_SCHEME_PATHS ? "paths" : "",
			*kind && f->variant->scheme & WM1_SCHEME_PATHS ? ", " : "", kind);
	if (f->trace == CRASH_TRACE_WHOLE || f->trace == CRASH_TRACE_LAST)
		fprintf(h->out, "%s %s ended since it was called. ", digits_grouped(f->ended, a),
			f->ended == 1 ? "path has" : "paths have");
	if (!f->file && f->image < h->c->stopped->module_count) {
		fputs("In ", h->out);
		html_text(h->out, h->c->stopped->modules[f->image].path);
	}
	fputs("</p>\n", h->out);
	if (f->trace == CRASH_TRACE_LOST) {
		fputs("<p class=\"note\">Its path is lost: ", h->out);
		html_text(h->out, f->why);
		fputs("</p>\n", h->out);
	}
	if (f->context) {
		fputs("<p>Called by ", h->out);
		html_text(h->out, f->context);
		fputs("</p>\n", h->out);
	}
}

struct own_line {
	uint32_t file;
	uint32_t line;
	uint8_t state;
};

static int compare_own(const void *a, const void *b)
{
	const struct own_line *x = a, *y = b;

	return compare_u64(x->file, y->file) ?: compare_u64(x->line, y->line) ?: compare_u64(y->state, x->state);
}

VEC_DECLARE(own_line_vec, struct own_line);

/* nodes: the state of each; ends: of each node, the first of its lines that is not known to have run. */
static struct error *collect_own_lines(struct crash_html *h, const struct pathmeta_function *flow, const uint8_t *nodes,
				       const uint32_t *ends, struct own_line_vec *ret)
{
	struct error *err = NULL;

	for (uint32_t node = 0; node < flow->cfg.node_count; node++) {
		for (uint32_t i = flow->first_line[node]; i < flow->first_line[node + 1] && !err; i++) {
			const struct pathmeta_line *line = &flow->lines[i];
			uint32_t row = crash_html_row(h, line->file, line->line);
			uint8_t state = nodes[node];

			if ((state == ACTIVITY_YES && i >= ends[node]) ||
			    (state == ACTIVITY_NO && !pathmeta_is_whole(flow, i)))
				state = ACTIVITY_MAYBE;
			if (row != UINT32_MAX)
				err = own_line_vec_append(ret, (struct own_line){row, line->line, state});
		}
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof *ret->items, compare_own);
	return err;
}

static struct error *find_own_lines(struct crash_html *h, uint32_t thread, uint32_t number, struct own_line_vec *ret)
{
	const struct pathmeta_function *flow = h->c->threads[thread].frames[number].flow;
	CLEANUP(arena_deinit) struct arena scratch = {0};
	uint8_t *nodes = arena_calloc(&scratch, (size_t)flow->cfg.node_count + 1, 1);
	uint8_t *edges = arena_calloc(&scratch, (size_t)flow->cfg.edge_count + 1, 1);
	uint32_t *ends = arena_calloc(&scratch, (size_t)flow->cfg.node_count + 1, sizeof *ends);
	struct error *err;

	if (!nodes || !edges || !ends)
		return &error_no_memory;
	err = crash_frame_activity(h->c, h->r->activity, thread, number, nodes, edges);
	if (err)
		return err;
	crash_lines_own_ends(&h->lines, h->c, thread, number, edges, ends);
	return collect_own_lines(h, flow, nodes, ends, ret);
}

/* Prints the lines that this activation alone ran: "f0:20y,24m f3:7n". */
static struct error *print_own_lines(struct crash_html *h, uint32_t thread, uint32_t number)
{
	CLEANUP(own_line_vec_deinit) struct own_line_vec lines = {0};
	struct error *err = find_own_lines(h, thread, number, &lines);
	uint32_t file = UINT32_MAX;

	fputs(" data-lines=\"", h->out);
	for (size_t i = 0; i < lines.count && !err; i++) {
		const struct own_line *line = &lines.items[i];

		if (i && line->file == file && line->line == line[-1].line)
			continue;
		if (line->file != file)
			fprintf(h->out, "%sf%" PRIu32 ":", i ? " " : "", line->file);
		else
			putc(',', h->out);
		file = line->file;
		fprintf(h->out, "%" PRIu32 "%c", line->line, *crash_state_name(line->state));
	}
	putc('"', h->out);
	return err;
}

static void print_frame_place(const struct crash_html *h, const struct crash_frame *f, uint32_t row)
{
	if (!f->file)
		return;
	fputs(" <small>", h->out);
	if (row != UINT32_MAX)
		fprintf(h->out, "<a href=\"#f%" PRIu32 "-L%" PRIu32 "\">", row, f->line);
	html_text(h->out, html_base_name(f->file));
	if (f->line)
		fprintf(h->out, ":%" PRIu32, f->line);
	if (f->line && f->column)
		fprintf(h->out, ":%" PRIu32, f->column);
	fputs(row != UINT32_MAX ? "</a></small>" : "</small>", h->out);
}

static struct error *print_frame_head(struct crash_html *h, uint32_t thread, uint32_t number)
{
	const struct crash_thread *t = &h->c->threads[thread];
	const struct crash_frame *f = &t->frames[number];
	uint32_t row = crash_html_row(h, f->file, f->line);
	uint32_t owner = owner_of(t, number);
	struct error *err = NULL;

	fprintf(h->out, "<article class=\"frame\" id=\"t%" PRIu32 "-%" PRIu32 "\"", thread, number);
	if (row != UINT32_MAX)
		fprintf(h->out, " data-here=\"f%" PRIu32 "-L%" PRIu32 "\"", row, f->line);
	if (owner != number)
		fprintf(h->out, " data-owner=\"t%" PRIu32 "-%" PRIu32 "\"", thread, owner);
	if (h->r->activity && f->meta && h->steps < PAGE_STEPS)
		err = print_own_lines(h, thread, number);
	fprintf(h->out, "><h2><span class=\"dim\">#%" PRIu32 "</span> ", number);
	print_name(h, f);
	print_frame_place(h, f, row);
	fputs("</h2>\n", h->out);
	return err;
}

static struct error *print_frame_body(struct crash_html *h, uint32_t thread, uint32_t number)
{
	const struct crash_thread *t = &h->c->threads[thread];
	const struct crash_frame *f = &t->frames[number];
	bool has_paths = f->trace == CRASH_TRACE_WHOLE || f->trace == CRASH_TRACE_LAST;
	struct error *err = crash_values_frame(&crash_values_html, h->r, t, f, h->out);

	if (err)
		return err;
	err = has_paths ? print_digest(h, t, f) : NULL;
	if (err)
		return err;
	err = has_paths ? print_paths(h, t, f) : NULL;
	return err ? err : crash_before_html(h->r, f, h->out);
}

static struct error *print_frame(struct crash_html *h, uint32_t thread, uint32_t number)
{
	const struct crash_frame *f = &h->c->threads[thread].frames[number];
	struct error *err = print_frame_head(h, thread, number);

	print_frame_facts(h, thread, number);
	if (!err)
		err = print_frame_body(h, thread, number);
	if (f->calls_used && f->meta) {
		fputs("<h3>Calls of this activation</h3>\n", h->out);
		print_call_list(h, f, POINT_USED, "Made");
		print_call_list(h, f, POINT_UNUSED, "Not made");
	}
	fputs("</article>\n", h->out);
	return err;
}

static struct error *print_frames(struct crash_html *h)
{
	struct error *err = NULL;

	for (uint32_t t = 0; t < h->c->thread_count; t++) {
		for (uint32_t i = 0; i < h->stacks[t].count && !err; i++)
			if (h->stacks[t].items[i].count == 1)
				err = print_frame(h, t, h->stacks[t].items[i].frame);
	}
	return err;
}

/* ---- functions ---- */

struct ranked {
	const struct crash_line_function *f;
	uint8_t rank;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return compare_u64(y->rank, x->rank) ?: compare_u64((uintptr_t)x->f, (uintptr_t)y->f);
}

static struct error *print_functions(const struct crash_html *h)
{
	size_t count = h->lines.functions.count, states[CRASH_LINE_STATES] = {0};
	struct ranked *ranked = calloc(count + 1, sizeof *ranked);

	if (!ranked)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++) {
		const struct crash_line_function *f = &h->lines.functions.items[i];

		ranked[i] =
			(struct ranked){f, (uint8_t)(4 * (h->is_framed[f->id] != 0) + f->state % CRASH_LINE_UNKNOWN)};
		states[f->state]++;
	}
	if (count)
		qsort(ranked, count, sizeof *ranked, compare_ranked);
	fputs("<section class=\"page\" id=\"functions\">\n<h1>Functions</h1>\n<p class=\"dim\">", h->out);
	if (h->r->activity)
		fprintf(h->out, "%zu ran, %zu may have run, %zu cannot have run. ", states[ACTIVITY_YES],
			states[ACTIVITY_MAYBE], states[ACTIVITY_NO]);
	fputs("Those on stacks come first; the bars are their blocks.</p>\n<p><input id=\"filter\" placeholder=\"name or file\" "
	      "aria-label=\"filter\"></p>\n<table class=\"list\" id=\"function-list\"><thead><tr><th>ran</th><th>blocks</th>"
	      "<th>function</th><th>file</th></tr></thead><tbody>\n",
	      h->out);
	for (size_t i = 0; i < count && i < FUNCTIONS_MAX; i++) {
		const struct crash_line_function *f = ranked[i].f;
		bool is_link = h->is_shown[f->id] && f->file != UINT32_MAX;

		fprintf(h->out, "<tr><td>%s</td><td>",
			f->state == CRASH_LINE_UNKNOWN ? "" : crash_state_name(f->state));
		crash_html_blocks(h, f);
		fputs("</td><td class=\"w\">", h->out);
		if (is_link)
			fprintf(h->out, "<a href=\"#fn%" PRIu32 "\">", f->id);
		crash_html_name(h, f->flow->name, false);
		fputs(is_link ? "</a></td><td>" : "</td><td>", h->out);
		if (f->file != UINT32_MAX) {
			html_text(h->out, html_base_name(h->names.plain[f->file]));
			fprintf(h->out, ":%" PRIu32, f->line);
		}
		fputs("</td></tr>\n", h->out);
	}
	fputs("</tbody></table>\n", h->out);
	if (count > FUNCTIONS_MAX)
		fprintf(h->out, "<p class=\"dim\">and %zu more: --functions has all.</p>\n", count - FUNCTIONS_MAX);
	fputs("</section>\n", h->out);
	free(ranked);
	return NULL;
}

/* ---- the page ---- */

static void print_program(const struct crash_html *h)
{
	const struct snapshot *s = h->c->stopped;

	html_text(h->out, s->main_module < s->module_count ? html_base_name(s->modules[s->main_module].path) : "?");
}

static void print_signal(const struct crash_html *h)
{
	const struct snapshot *s = h->c->stopped;
	const char *name = s->signal ? sigabbrev_np(s->signal) : NULL,
		   *what = s->signal ? sigdescr_np(s->signal) : NULL;

	if (s->is_live || !s->signal)
		fputs(s->is_live ? "stopped while it ran" : "written while it ran", h->out);
	else if (name)
		fprintf(h->out, "<b>SIG%s</b> %s", name, what ? what : "");
	else
		fprintf(h->out, "<b>signal %d</b>", s->signal);
	if (s->has_fault_address)
		fprintf(h->out, " at 0x%" PRIx64, s->fault_address);
}

static void print_head(const struct crash_html *h)
{
	const struct snapshot *s = h->c->stopped;

	html_print_start(h->out, h->r->producer);
	fputs("Crash of ", h->out);
	print_program(h);
	fprintf(h->out, "</title>\n<style>\n%s%s</style>\n", html_css, crash_css);
	if (h->r->slice)
		slice_layer_print_style(h->out);
	fputs("</head>\n<body class=\"crash\">\n<nav>\n<h1>", h->out);
	print_program(h);
	fputs("</h1>\n<p class=\"signal\">", h->out);
	print_signal(h);
	if (h->r->cause) {
		fputs("</p>\n<p class=\"fault\">", h->out);
		html_text(h->out, h->r->cause);
	}
	fprintf(h->out, "</p>\n<p class=\"dim\">process %d", (int)s->pid);
	if (s->command) {
		fputs(": ", h->out);
		html_text(h->out, s->command);
	}
	fputs("</p>\n<p><a href=\"#functions\">Functions</a></p>\n", h->out);
	for (uint32_t i = 0; i < h->c->thread_count; i++)
		print_stack(h, i);
	fputs("</nav>\n", h->out);
}

static void print_legend(const struct crash_html *h)
{
	fputs("<p class=\"legend dim\">", h->out);
	if (h->r->activity)
		fputs("<span class=\"y\">\xe2\x97\x8f ran</span> <span class=\"m\">\xe2\x97\x90 may have run</span> "
		      "<span class=\"n\">\xe2\x97\x8b cannot have run</span> ",
		      h->out);
	if (h->r->activity)
		fputs("<label><input type=\"checkbox\" id=\"own\"> <kbd>a</kbd> in this call alone</label> ", h->out);
	fputs("<span class=\"keys\"><kbd>j</kbd> <kbd>k</kbd> frames, <kbd>n</kbd> <kbd>p</kbd> steps, <kbd>f</kbd> functions"
	      "</span></p>\n",
	      h->out);
}

static struct error *choose_frames(struct crash_html *h)
{
	struct error *err = NULL;

	h->stacks = arena_calloc(&h->arena, h->c->thread_count + 1, sizeof *h->stacks);
	if (!h->stacks)
		return &error_no_memory;
	for (uint32_t i = 0; i < h->c->thread_count && !err; i++)
		err = crash_rows_of(&h->c->threads[i], h->r->frame_limit, false, &h->arena, &h->stacks[i]);
	return err;
}

struct error *crash_render_html(const struct crash_report *r, FILE *out)
{
	struct crash_html h = {.r = r, .c = r->crash, .out = out};
	struct error *err = crash_lines_create(r->crash, r->activity, &h.lines);

	if (err)
		return err;
	arena_init(&h.arena);
	err = crash_html_choose(&h);
	if (!err)
		err = choose_frames(&h);
	if (err)
		goto out;
	print_head(&h);
	fputs("<main>\n", out);
	print_legend(&h);
	for (uint32_t i = 0; i < h.c->note_count; i++) {
		fputs("<p class=\"note\">", out);
		html_text(out, h.c->notes[i]);
		fputs("</p>\n", out);
	}
	err = crash_html_sources(&h);
	if (!err)
		err = print_functions(&h);
	fputs("</main>\n<aside>\n", out);
	if (!err)
		err = print_frames(&h);
	fprintf(out, "</aside>\n<script>\n%s</script>\n", crash_js);
	if (r->slice)
		slice_layer_print(r->slice, out);
	fputs("</body>\n</html>\n", out);
out:
	crash_html_release(&h);
	crash_lines_deinit(&h.lines);
	return err;
}
