/*
 * crash_html_source.c - which source is on the page of a crash, and the pages of its files: functions on stacks and those that
 * they call, with the code that was inlined into them; of functions too long for a page what may have run.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/crash/crash_steps.h"
#include "report/crash/crash_html.h"

enum {
	NEAR = 3,            /* lines around inlined code */
	FRAME_NEAR = 8,      /* around the place of a frame that nothing more is known of */
	FUNCTION_MAX = 4000, /* lines of a function that are shown whole */
	ROWS_MAX = 60000,    /* on the page; functions on stacks come first */
	GAP_MIN = 3,         /* lines between shown ones that are shown, too */
	CALLS_MAX = 6,       /* named on a line */
};

static struct error *open_file(struct crash_html *h, uint32_t number)
{
	struct html_file *f = &h->files[number];
	const struct crash_line_file *known = &h->lines.files.items[number];
	struct error *err;

	if (f->source)
		return NULL;
	err = sources_get(h->r->style.sources, known->name, &f->source);
	if (err)
		return err;
	f->line_count = f->source->path ? f->source->line_count : 0;
	if (known->line_count && h->lines.lines.items[known->first_line + known->line_count - 1].line > f->line_count)
		f->line_count = h->lines.lines.items[known->first_line + known->line_count - 1].line;
	f->is_shown = arena_calloc(&h->arena, (size_t)f->line_count + 2, 1);
	return f->is_shown ? NULL : &error_no_memory;
}

static void choose_line(struct crash_html *h, struct html_file *f, uint32_t line)
{
	h->rows += !f->is_shown[line];
	f->shown_count += !f->is_shown[line];
	f->is_shown[line] = 1;
}

/* Lines [from, to] of a file; without its text only those with code. */
static struct error *choose_lines(struct crash_html *h, uint32_t number, uint32_t from, uint32_t to)
{
	struct html_file *f = &h->files[number];
	struct error *err = open_file(h, number);

	if (err)
		return err;
	for (uint32_t line = from ? from : 1; line <= to && line <= f->line_count; line++)
		if (f->source->path || crash_lines_find(&h->lines, number, line))
			choose_line(h, f, line);
	return NULL;
}

static struct error *choose_near(struct crash_html *h, uint32_t number, uint32_t line, uint32_t near)
{
	return choose_lines(h, number, line > near ? line - near : 1, line + near);
}

static const struct pathmeta_function *flow_of(const struct crash *c, uint32_t id, uint32_t *ret_image)
{
	uint32_t image = 0;

	while (id >= c->first_function[image + 1])
		image++;
	*ret_image = image;
	return c->images[image].trace.flows[id - c->first_function[image]];
}

static struct error *collect_calls(struct crash_html *h, uint32_t id, const struct tracemeta_function *meta,
				   const char *file)
{
	struct error *err = NULL;

	if (!h->c->calls_used[id])
		return NULL;
	for (uint32_t i = 0; i < meta->call_count && !err; i++) {
		const struct tracemeta_call *call = &meta->calls[i];
		struct html_call shown = {.line = call->line, .is_made = h->c->calls_used[id][i] == POINT_USED};

		if (h->c->calls_used[id][i] == POINT_UNKNOWN || !call->line || (!call->file && !file))
			continue;
		shown.callee = call->callee ? call->callee : call->kind == TRACEMETA_ASM ? "asm" : "*pointer";
		err = crash_lines_file(&h->lines, call->file ? call->file : file, &shown.file);
		if (!err)
			err = html_call_vec_append(&h->calls, shown);
	}
	return err;
}

/* The lines of a function in its own file; file UINT32_MAX: it has none. */
struct own_range {
	uint32_t file;
	uint32_t first;
	uint32_t last;
};

/* Finds these, and chooses what is inlined or in other files. */
static struct error *choose_inlined(struct crash_html *h, const struct pathmeta_function *flow, struct own_range *own)
{
	uint32_t file = UINT32_MAX;
	const char *last_name = NULL;
	struct error *err = NULL;

	for (uint32_t i = 0; i < flow->first_line[flow->cfg.node_count] && !err; i++) {
		const struct pathmeta_line *line = &flow->lines[i];

		if (!line->file || !line->line)
			continue;
		if (line->file != last_name)
			err = crash_lines_file(&h->lines, line->file, &file);
		if (err)
			return err;
		last_name = line->file;
		if (file == own->file && !line->function) {
			own->first = line->line < own->first ? line->line : own->first;
			own->last = line->line > own->last ? line->line : own->last;
		} else {
			err = choose_near(h, file, line->line, NEAR);
		}
	}
	return err;
}

/* All of a moderate function, of a long one what is near its first line and near lines that may have run. */
static struct error *choose_own(struct crash_html *h, const struct pathmeta_function *flow, const struct own_range *own)
{
	struct error *err = open_file(h, own->file);

	if (err)
		return err;
	if (flow->line <= h->files[own->file].line_count)
		choose_line(h, &h->files[own->file], flow->line); /* its name is there */
	if (own->last - own->first < FUNCTION_MAX)
		return choose_lines(h, own->file, own->first, own->last);
	for (uint32_t line = own->first; line <= own->last && !err; line++) {
		const struct crash_line *known = crash_lines_find(&h->lines, own->file, line);

		if (line == own->first || (known && known->state != ACTIVITY_NO))
			err = choose_near(h, own->file, line, NEAR);
	}
	return err;
}

static struct error *choose_function(struct crash_html *h, uint32_t id)
{
	struct own_range own = {.file = UINT32_MAX, .first = UINT32_MAX};
	uint32_t image;
	const struct pathmeta_function *flow = flow_of(h->c, id, &image);
	const struct tracemeta *meta = &h->c->images[image].trace.meta;
	struct error *err = NULL;

	if (h->is_shown[id])
		return NULL;
	h->is_shown[id] = 1;
	if (flow->file && flow->line) {
		own.first = own.last = flow->line;
		err = crash_lines_file(&h->lines, flow->file, &own.file);
	}
	if (!err)
		err = choose_inlined(h, flow, &own);
	if (!err && own.file != UINT32_MAX)
		err = choose_own(h, flow, &own);
	return err ? err : collect_calls(h, id, &meta->functions[id - h->c->first_function[image]], flow->file);
}

static struct error *choose_callees(struct crash_html *h, uint32_t id)
{
	uint32_t image;
	const struct pathmeta_function *flow = flow_of(h->c, id, &image);
	const struct crash_image *m = &h->c->images[image];
	const struct tracemeta_function *meta = &m->trace.meta.functions[id - h->c->first_function[image]];
	struct error *err = NULL;

	(void)flow;
	for (uint32_t i = 0; i < meta->call_count && !err && h->rows < ROWS_MAX; i++) {
		const char *callee = meta->calls[i].callee;
		struct key key;
		uint32_t number;

		if (!callee || (h->c->calls_used[id] && h->c->calls_used[id][i] == POINT_UNUSED))
			continue;
		key = key_of_text(callee);
		if (!hashmap_find(&m->names, &key, &number))
			continue;
		for (uint32_t f = m->first_of_name[number]; f != UINT32_MAX && !err; f = m->next_of_name[f])
			if (strcmp(m->trace.flows[f]->link_name, callee) == 0)
				err = choose_function(h, h->c->first_function[image] + f);
	}
	return err;
}

static int compare_calls(const void *a, const void *b)
{
	const struct html_call *x = a, *y = b;

	return compare_u64(x->file, y->file) ?: compare_u64(x->line, y->line) ?: strcmp(x->callee, y->callee) ?:
	       compare_u64(y->is_made, x->is_made);
}

/* Each callee once on a line: made if any copy of it was. */
static void fold_calls(struct html_call_vec *v)
{
	size_t count = 0;

	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, compare_calls);
	for (size_t i = 0; i < v->count; i++) {
		const struct html_call *call = &v->items[i], *last = count ? &v->items[count - 1] : NULL;

		if (!last || last->file != call->file || last->line != call->line ||
		    strcmp(last->callee, call->callee) != 0)
			v->items[count++] = *call;
	}
	v->count = count;
}

/* All files that are ever named here get their number before the table of them is made. */
static struct error *number_files(struct crash_html *h)
{
	struct error *err = NULL;
	uint32_t number;

	for (uint32_t t = 0; t < h->c->thread_count; t++)
		for (uint32_t i = 0; i < h->c->threads[t].frame_count && !err; i++)
			if (h->c->threads[t].frames[i].file)
				err = crash_lines_file(&h->lines, h->c->threads[t].frames[i].file, &number);
	for (uint32_t i = 0; i < h->c->stopped->module_count; i++) {
		const struct tracemeta *m = &h->c->images[i].trace.meta;

		for (uint32_t f = 0; f < h->c->first_function[i + 1] - h->c->first_function[i]; f++)
			for (uint32_t call = 0; call < m->functions[f].call_count && !err; call++)
				if (m->functions[f].calls[call].file)
					err = crash_lines_file(&h->lines, m->functions[f].calls[call].file, &number);
	}
	if (err)
		return err;
	h->file_count = (uint32_t)h->lines.files.count;
	h->files = arena_calloc(&h->arena, (size_t)h->file_count + 1, sizeof *h->files);
	return h->files ? NULL : &error_no_memory;
}

static struct error *choose_frame(struct crash_html *h, const struct crash_frame *f)
{
	uint32_t number;
	struct error *err = NULL;

	if (f->flow && h->is_framed[crash_function_id(h->c, f)]++ == 0)
		err = choose_function(h, crash_function_id(h->c, f));
	if (err || !f->file || !f->line || h->rows >= ROWS_MAX)
		return err;
	err = crash_lines_file(&h->lines, f->file, &number);
	if (!err)
		err = open_file(h, number);
	if (!err && (f->flow || h->files[number].source->path))
		err = choose_near(h, number, f->line, f->flow ? NEAR : FRAME_NEAR);
	return err;
}

/* Files of the slice have their numbers before the table of files is made. */
static struct error *number_slice(struct crash_html *h)
{
	struct error *err = NULL;
	uint32_t number;

	for (uint32_t i = 0; h->r->slice && i < h->r->slice->count && !err; i++)
		if (!i || h->r->slice->places[i].file != h->r->slice->places[i - 1].file)
			err = crash_lines_file(&h->lines, h->r->slice->places[i].file, &number);
	return err;
}

static struct error *choose_slice(struct crash_html *h)
{
	struct error *err = NULL;
	uint32_t number;

	for (uint32_t i = 0; h->r->slice && i < h->r->slice->count && !err && h->rows < ROWS_MAX; i++) {
		err = crash_lines_file(&h->lines, h->r->slice->places[i].file, &number);
		if (!err)
			err = choose_near(h, number, h->r->slice->places[i].line, NEAR);
	}
	return err;
}

struct error *crash_html_choose(struct crash_html *h)
{
	uint32_t total = h->c->first_function[h->c->stopped->module_count];
	const char **names;
	struct error *err = number_slice(h);

	if (!err)
		err = number_files(h);

	h->is_shown = arena_calloc(&h->arena, (size_t)total + 1, 1);
	h->is_framed = arena_calloc(&h->arena, (size_t)total + 1, 1);
	if (!err && (!h->is_shown || !h->is_framed))
		err = &error_no_memory;
	for (uint32_t t = 0; t < h->c->thread_count; t++)
		for (uint32_t i = 0; i < h->c->threads[t].frame_count && !err; i++)
			err = choose_frame(h, &h->c->threads[t].frames[i]);
	for (uint32_t id = 0; id < total && !err; id++)
		if (h->is_framed[id])
			err = choose_callees(h, id);
	if (!err)
		err = choose_slice(h);
	if (err)
		return err;
	fold_calls(&h->calls);
	names = arena_calloc(&h->arena, (size_t)h->file_count + 1, sizeof *names);
	if (!names)
		return &error_no_memory;
	for (uint32_t i = 0; i < h->file_count; i++)
		names[i] = h->lines.files.items[i].name;
	return html_names_create(names, h->file_count, &h->arena, &h->names);
}

void crash_html_release(struct crash_html *h)
{
	html_call_vec_deinit(&h->calls);
	arena_deinit(&h->arena);
}

uint32_t crash_html_row(struct crash_html *h, const char *file, uint32_t line)
{
	uint32_t number;
	struct error *err;

	if (!file || !line)
		return UINT32_MAX;
	err = crash_lines_file(&h->lines, file, &number);
	if (err) {
		error_destroy(err);
		return UINT32_MAX;
	}
	if (number >= h->file_count || !h->files[number].is_shown || line > h->files[number].line_count ||
	    !h->files[number].is_shown[line])
		return UINT32_MAX;
	return number;
}

/* ---- the pages ---- */

void crash_html_blocks(const struct crash_html *h, const struct crash_line_function *f)
{
	uint32_t all = f->flow->cfg.node_count;

	if (f->state == CRASH_LINE_UNKNOWN) {
		fprintf(h->out, "<span class=\"dim\">%" PRIu32 " blocks</span>", all);
		return;
	}
	fprintf(h->out,
		"<span class=\"blocks\" title=\"blocks: %" PRIu32 " ran, %" PRIu32 " may have run, %" PRIu32
		" cannot have run\">",
		f->blocks[ACTIVITY_YES], f->blocks[ACTIVITY_MAYBE], f->blocks[ACTIVITY_NO]);
	for (int state = ACTIVITY_YES; state >= ACTIVITY_NO; state--)
		if (f->blocks[state])
			fprintf(h->out, "<i class=\"%c\" style=\"flex:%" PRIu32 "\">%" PRIu32 "</i>",
				*crash_state_name((uint8_t)state), f->blocks[state], f->blocks[state]);
	fputs("</span>", h->out);
}

struct page {
	const struct crash_html *h;
	uint32_t number;
	size_t next_function;
	size_t next_call;
};

static void print_heads(struct page *p, uint32_t line)
{
	const struct crash_line_file *f = &p->h->lines.files.items[p->number];
	size_t end = f->first_function + f->function_count;

	for (; p->next_function < end && p->h->lines.functions.items[p->next_function].line <= line;
	     p->next_function++) {
		const struct crash_line_function *function = &p->h->lines.functions.items[p->next_function];

		if (!p->h->is_shown[function->id] || function->line != line)
			continue;
		fprintf(p->h->out, "<tr class=\"fn\" id=\"fn%" PRIu32 "\"><td></td><td></td><td></td><td><b>",
			function->id);
		crash_html_name(p->h, function->flow->name, false);
		fputs("</b> ", p->h->out);
		crash_html_blocks(p->h, function);
		fputs("</td></tr>\n", p->h->out);
	}
}

static void print_calls(struct page *p, uint32_t line)
{
	const struct html_call_vec *v = &p->h->calls;
	size_t first, count;

	while (p->next_call < v->count &&
	       (v->items[p->next_call].file < p->number ||
		(v->items[p->next_call].file == p->number && v->items[p->next_call].line < line)))
		p->next_call++;
	first = p->next_call;
	while (p->next_call < v->count && v->items[p->next_call].file == p->number &&
	       v->items[p->next_call].line == line)
		p->next_call++;
	count = p->next_call - first;
	for (size_t i = 0; i < count && i < CALLS_MAX; i++) {
		const struct html_call *call = &v->items[first + i];

		fprintf(p->h->out, " <span class=\"call %s\" title=\"this call was %s\">", call->is_made ? "y" : "n",
			call->is_made ? "made in this run" : "never made");
		crash_html_name(p->h, call->callee, true);
		fputs("</span>", p->h->out);
	}
	if (count > CALLS_MAX)
		fprintf(p->h->out, " <span class=\"dim\">and %zu more calls</span>", count - CALLS_MAX);
}

static struct error *print_row(struct page *p, uint32_t line)
{
	static const char *const marks[] = {
		[ACTIVITY_NO] = "\xe2\x97\x8b",
		[ACTIVITY_MAYBE] = "\xe2\x97\x90",
		[ACTIVITY_YES] = "\xe2\x97\x8f",
		[CRASH_LINE_UNKNOWN] = "",
	};
	static const char *const said[] = {
		[ACTIVITY_NO] = "cannot have run",
		[ACTIVITY_MAYBE] = "may have run",
		[ACTIVITY_YES] = "ran",
		[CRASH_LINE_UNKNOWN] = "",
	};
	const struct crash_line *known = crash_lines_find(&p->h->lines, p->number, line);
	struct arena arena;
	const char *text;
	struct error *err;

	fprintf(p->h->out, "<tr id=\"f%" PRIu32 "-L%" PRIu32 "\"", p->number, line);
	if (known)
		fprintf(p->h->out, " class=\"%c\"", *crash_state_name(known->state));
	fprintf(p->h->out, "><td class=\"n\">%" PRIu32 "</td><td class=\"a\"", line);
	if (known)
		fprintf(p->h->out, " title=\"%s\">%s", said[known->state], marks[known->state]);
	else
		putc('>', p->h->out);
	fputs("</td><td class=\"k\"></td><td class=\"s\">", p->h->out);
	arena_init(&arena);
	err = source_line(p->h->files[p->number].source, line, &arena, &text);
	if (!err && text)
		html_text(p->h->out, text);
	arena_deinit(&arena);
	print_calls(p, line);
	fputs("</td></tr>\n", p->h->out);
	return err;
}

static struct error *print_file(const struct crash_html *h, uint32_t number)
{
	const struct html_file *f = &h->files[number];
	const struct crash_line_file *known = &h->lines.files.items[number];
	struct page p = {.h = h, .number = number, .next_function = known->first_function};
	uint32_t gap = 0;
	struct error *err = NULL;

	fprintf(h->out, "<section class=\"page\" id=\"f%" PRIu32 "\" data-file=\"", number);
	html_text(h->out, known->name);
	fputs("\">\n<h1>", h->out);
	html_text(h->out, html_base_name(known->name));
	fputs(" <small>", h->out);
	html_text(h->out, h->names.plain[number]);
	fputs("</small></h1>\n", h->out);
	if (!f->source->path) {
		fputs("<p class=\"note\">The source is not there: ", h->out);
		html_text(h->out, f->source->why);
		fputs("; --source-dir says where to look.</p>\n", h->out);
	}
	fputs("<table class=\"src\">\n", h->out);
	for (uint32_t line = 1; line <= f->line_count && !err; line++) {
		if (!f->is_shown[line]) {
			gap++;
			continue;
		}
		if (gap <= GAP_MIN && line > gap + 1 && f->source->path)
			for (; gap && !err; gap--)
				err = print_row(&p, line - gap);
		if (gap && f->source->path)
			fprintf(h->out,
				"<tr class=\"gap\"><td></td><td></td><td></td><td>%" PRIu32 " more lines</td></tr>\n",
				gap);
		gap = 0;
		print_heads(&p, line);
		err = print_row(&p, line);
	}
	fputs("</table>\n</section>\n", h->out);
	return err;
}

struct error *crash_html_sources(const struct crash_html *h)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < h->file_count && !err; i++)
		if (h->files[i].shown_count)
			err = print_file(h, i);
	return err;
}
