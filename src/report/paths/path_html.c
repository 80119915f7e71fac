/*
 * path_html.c - one self-contained page: summary, index of files and functions, and the source of each file with counts,
 * branch outcomes and, at each function, its hottest paths, which light up their lines. html.css has its looks, paths.js its script.
 *
 * A browser would take long for all of a large program, so it gets the summary alone. Source is in parts (page_parts.h), a function or some each,
 * which the script puts in when they are looked at; a table stands for each until then:
 *
 *      <table class="src" data-part="3:5" data-lines="120 180" data-functions="12 13" style="height:..."></table>
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/number_text.h"
#include "report/html.h"
#include "report/page_parts.h"
#include "base/json_writer.h"
#include "report/embedded.h"
#include "model/paths/path_coverage.h"
#include "model/paths/path_outcome.h"
#include "report/paths/path_renderer.h"
#include "model/paths/path_steps.h"

enum {
	WHOLE_MAX = 20000, /* lines; of longer files only what is near code that ran */
	NEAR = 6,
	HEATS = 8,
	WAYS_MAX = 12,   /* outcomes shown of one line */
	HOTTEST = 10,    /* paths on the first page */
	FUNCTIONS = 200, /* rows that it has at first */
	PART_MIN = 60,   /* rows of a part before it ends at a function */
	PART_MAX = 600,
};

struct html {
	const struct path_report *r;
	const struct path_view *v;
	struct path_lines lines;
	uint64_t hottest;        /* the largest count of a line */
	struct html_names names; /* of files */
	struct arena arena;
	FILE *page;
	FILE *out; /* the page, or a part of it */
	struct page_parts parts;
};

static struct error *name_files(struct html *h)
{
	size_t count = h->lines.files.count;
	const char **names = arena_calloc(&h->arena, count + 1, sizeof *names);

	if (!names)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++)
		names[i] = h->lines.files.items[i].name;
	return html_names_create(names, count, &h->arena, &h->names);
}

/* "12", "~12" of what may not be all, "?" */
static const char *count_text(uint64_t count, bool is_part, char *buffer)
{
	if (!path_count_is_known(count, is_part))
		return "?";
	digits_grouped(count, is_part ? buffer + 1 : buffer);
	if (is_part)
		*buffer = '~';
	return buffer;
}

/* ---- the first page ---- */

static void print_card(const struct html *h, const char *name, uint64_t part, uint64_t whole)
{
	char a[DIGITS_MAX], b[DIGITS_MAX], c[DIGITS_MAX];

	if (!whole)
		return;
	fprintf(h->out,
		"<div class=\"card\"><b>%s</b><span>%s of %s %s</span><div class=\"bar\"><i style=\"width:%.1f%%\"></i>"
		"</div></div>\n",
		digits_percent(part, whole, a), digits_grouped(part, b), digits_grouped(whole, c), name,
		digits_share(part, whole));
}

static void print_number_card(const struct html *h, uint64_t number, const char *text)
{
	char a[DIGITS_MAX];

	fprintf(h->out, "<div class=\"card\"><b>%s</b><span>", digits_rough(number, a));
	html_text(h->out, text);
	fputs("</span></div>\n", h->out);
}

static void print_cards(const struct html *h)
{
	const struct path_summary *s = &h->v->summary;
	uint64_t lines = 0, lines_run = 0, ways = 0, ways_run = 0;
	char text[128], possible[DIGITS_MAX];

	for (size_t i = 0; i < h->lines.files.count; i++) {
		lines += h->lines.files.items[i].lines_known;
		lines_run += h->lines.files.items[i].lines_hit;
		ways += h->lines.files.items[i].branches_known;
		ways_run += h->lines.files.items[i].branches_hit;
	}
	fputs("<div class=\"cards\">\n", h->out);
	print_card(h, "functions ran", s->functions_run, s->functions - s->functions_unknown);
	print_card(h, "lines ran", lines_run, lines);
	print_card(h, "outcomes of branches", ways_run, ways);
	print_card(h, "blocks ran", s->blocks_run, s->blocks);
	if (s->paths_possible < 1e15)
		snprintf(text, sizeof text, "paths ran, of %s possible",
			 digits_rough((uint64_t)s->paths_possible, possible));
	else
		snprintf(text, sizeof text, "paths ran, of %.1e possible", s->paths_possible);
	print_number_card(h, s->paths_run, text);
	print_number_card(h, s->total, "times a path ran");
	if (s->unfinished)
		print_number_card(h, s->unfinished, "activations unfinished");
	if (s->residual)
		print_number_card(h, s->residual, "times outside the plan");
	if (s->plan_functions) {
		if (s->alpha_functions)
			snprintf(text, sizeof text, "functions with a plan, alpha %.2f (median)", s->alpha_median);
		else
			snprintf(text, sizeof text, "functions with a plan");
		print_number_card(h, s->plan_functions, text);
	}
	if (s->unknown_functions)
		print_number_card(h, s->unknown_functions, "functions without metadata");
	fputs("</div>\n", h->out);
}

static struct error *print_notes(const struct html *h)
{
	char *text;
	size_t size;
	FILE *stream;
	struct error *err = html_capture(&stream, &text, &size);

	if (err)
		return err;
	path_notes_print(h->v->profile, "", stream);
	if (path_choices_hide(&h->v->summary.choices)) {
		fputs("counted as one: ", stream);
		path_choices_print(&h->v->summary.choices, " ", stream);
		putc('\n', stream);
	}
	path_optimized_print(&h->v->summary, "counts with ~ may not be exact, and where ? stands it is not known", "",
			     stream);
	if (fclose(stream) != 0) {
		free(text);
		return &error_no_memory;
	}
	for (char *line = text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			break;
		*end = '\0';
		fputs("<p class=\"note\">", h->out);
		html_text(h->out, line);
		fputs("</p>\n", h->out);
	}
	free(text);
	return NULL;
}

static void print_recordings(const struct html *h)
{
	const struct path_recording_vec *v = &h->v->profile->recordings;

	fputs("<h2>Recordings</h2>\n<table class=\"list\">\n", h->out);
	for (size_t i = 0; i < v->count; i++) {
		const struct path_recording *r = &v->items[i];

		fputs("<tr><td class=\"w\">", h->out);
		html_text(h->out, r->path);
		fputs("</td><td class=\"w\">", h->out);
		html_text(h->out, r->header.program);
		if (r->header.merged_runs)
			fprintf(h->out, "</td><td>%" PRIu64 " %s, merged</td></tr>\n", r->header.merged_runs,
				noun_of(r->header.merged_runs, "run", "runs"));
		else
			fprintf(h->out, "</td><td>pid %" PRIu32 ", %s</td></tr>\n", r->header.pid,
				recording_end_text(r->end));
	}
	fputs("</table>\n", h->out);
}

static size_t find_file(const struct html *h, const char *name)
{
	size_t low = 0, high = h->lines.files.count;

	while (name && low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(h->lines.files.items[middle].name, name);

		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

/* The function's head and paths are in the page of a file. */
static bool has_page(const struct html *h, const struct path_function *f)
{
	return f->meta && f->meta->line && find_file(h, f->meta->file) != SIZE_MAX;
}

/* The name of a function, as a link to it where it is in a page. */
static void print_function_link(const struct html *h, const struct path_function *f)
{
	bool is_link = has_page(h, f);

	if (is_link)
		fprintf(h->out, "<a href=\"#fn%zu\">", (size_t)(f - h->v->profile->functions.items));
	html_text(h->out, f->name);
	if (is_link)
		fputs("</a>", h->out);
}

static void print_hottest(const struct html *h)
{
	/* of one function no more than its head has */
	size_t top = h->v->top && h->v->top < HOTTEST ? h->v->top : HOTTEST;
	size_t count = h->v->matching_rows < top ? h->v->matching_rows : top;
	char a[DIGITS_MAX], b[DIGITS_MAX], c[DIGITS_MAX];

	fputs("<h2>Hottest paths</h2>\n<table class=\"list\"><thead><tr><th class=\"r\">share</th><th class=\"r\">times"
	      "</th><th>path</th><th>function</th></tr></thead><tbody>\n",
	      h->out);
	for (size_t i = 0; i < count; i++) {
		const struct path_view_row *row = &h->v->rows[i];
		const struct path_function *f = row->function;

		fprintf(h->out, "<tr><td class=\"r\">%s</td><td class=\"r\">%s</td><td>",
			digits_percent(row->entry->count, h->v->summary.total, a),
			digits_grouped(row->entry->count, b));
		if (has_page(h, f))
			fprintf(h->out, "<a href=\"#p%zu-%" PRIu64 "\">", (size_t)(f - h->v->profile->functions.items),
				row->entry->number);
		fprintf(h->out, "%" PRIu64 " of %s%s</td><td class=\"w\">", row->entry->number,
			digits_rough(f->path_count, c), has_page(h, f) ? "</a>" : "");
		print_function_link(h, f);
		fputs("</td></tr>\n", h->out);
	}
	fputs("</tbody></table>\n", h->out);
}

static void print_files(const struct html *h)
{
	char a[DIGITS_MAX], b[DIGITS_MAX];

	fputs("<h2>Files", h->out);
	if (*h->names.directory) {
		fputs(" <small>in ", h->out);
		html_text(h->out, h->names.directory);
		fputs("</small>", h->out);
	}
	fputs("</h2>\n<table class=\"list\"><thead><tr><th>file</th><th class=\"r\">lines</th><th class=\"r\">branches</th>"
	      "<th class=\"r\">functions</th></tr></thead><tbody>\n",
	      h->out);
	for (size_t i = 0; i < h->lines.files.count; i++) {
		const struct path_line_file *f = &h->lines.files.items[i];

		fprintf(h->out, "<tr><td class=\"w\"><a href=\"#f%zu\">", i);
		html_text(h->out, html_short_name(&h->names, i));
		fprintf(h->out, "</a></td><td class=\"r\">%s <span class=\"dim\">%zu/%zu</span></td>",
			digits_percent(f->lines_hit, f->lines_known, a), f->lines_hit, f->lines_known);
		fprintf(h->out, "<td class=\"r\">%s <span class=\"dim\">%zu/%zu</span></td>",
			f->branches_known ? digits_percent(f->branches_hit, f->branches_known, b) : "", f->branches_hit,
			f->branches_known);
		fprintf(h->out, "<td class=\"r\">%zu/%zu</td></tr>\n", f->functions_hit, f->functions_known);
	}
	fputs("</tbody></table>\n", h->out);
}

static void print_function_row(const struct html *h, const struct path_function *f)
{
	char a[DIGITS_MAX], b[DIGITS_MAX], c[DIGITS_MAX], d[DIGITS_MAX];

	fprintf(h->out, "<tr%s><td class=\"r\">%s</td><td class=\"r\">%s</td><td class=\"r\">%s</td>",
		f->total || f->activations ? "" : " class=\"dim\"", digits_percent(f->total, h->v->summary.total, a),
		digits_grouped(f->total, b), count_text(f->meta ? f->calls : f->activations, f->is_part, c));
	fprintf(h->out, "<td class=\"r\">%s of %s</td><td class=\"r\">%s</td><td>", digits_rough(f->run_count, a),
		digits_rough(f->path_count, b), f->unfinished ? digits_grouped(f->unfinished, d) : "");
	if (f->meta && (f->meta->selects || f->meta->switch_tables))
		path_choices_print_counts(f->meta->selects, f->meta->switch_tables, h->out);
	fputs("</td><td class=\"w\">", h->out);
	print_function_link(h, f);
	fputs("</td><td>", h->out);
	if (f->meta && f->meta->file) {
		html_text(h->out, html_base_name(f->meta->file));
		fprintf(h->out, ":%" PRIu32, f->meta->line);
	}
	fputs("</td></tr>\n", h->out);
}

/* Those behind the first ones are a part, which comes when it is asked for. */
static struct error *print_more_functions(struct html *h)
{
	struct error *err;
	char a[DIGITS_MAX];

	if (h->v->function_count <= FUNCTIONS)
		return NULL;
	err = page_parts_begin(&h->parts, &h->out);
	if (err)
		return err;
	for (size_t i = FUNCTIONS; i < h->v->function_count; i++)
		print_function_row(h, h->v->functions[i]);
	h->out = h->page;
	fprintf(h->out, "<p><button id=\"more\" data-part=\"%" PRIu32 ":%" PRIu32 "\">All %s functions</button></p>\n",
		h->parts.chunk, h->parts.count, digits_grouped(h->v->function_count, a));
	return page_parts_end(&h->parts);
}

static struct error *print_functions(struct html *h)
{
	fputs("<h2>Functions</h2>\n<p><input id=\"filter\" placeholder=\"name or file\" aria-label=\"filter\"></p>\n"
	      "<table class=\"list\" id=\"functions\"><thead><tr><th class=\"r\">share</th><th class=\"r\">paths counted"
	      "</th><th class=\"r\">entered</th><th class=\"r\">paths</th><th class=\"r\">unfinished</th><th>merged</th><th>function</th>"
	      "<th>file</th></tr></thead><tbody>\n",
	      h->out);
	for (size_t i = 0; i < h->v->function_count && i < FUNCTIONS; i++)
		print_function_row(h, h->v->functions[i]);
	fputs("</tbody></table>\n", h->out);
	return print_more_functions(h);
}

static void print_skipped(const struct html *h)
{
	const struct path_profile *p = h->v->profile;

	if (!h->v->summary.skipped)
		return;
	fputs("<h2>Not counted</h2>\n<table class=\"list\">\n", h->out);
	for (size_t i = 0; i < p->images.count; i++) {
		const struct pathmeta *m = &p->images.items[i]->meta;

		for (uint32_t j = 0; j < m->skipped_count; j++) {
			fputs("<tr><td class=\"w\">", h->out);
			html_text(h->out, m->skipped[j].name);
			fputs("</td><td class=\"w\">", h->out);
			html_text(h->out, m->skipped[j].reason);
			fputs("</td></tr>\n", h->out);
		}
	}
	fputs("</table>\n", h->out);
}

static struct error *print_index(struct html *h)
{
	const struct path_recording_vec *v = &h->v->profile->recordings;
	struct error *err;

	fputs("<section class=\"page\" id=\"index\">\n<h1>Paths of ", h->out);
	html_text(h->out, v->count ? html_base_name(v->items[0].header.program) : "?");
	if (h->v->is_filtered)
		fputs(" <small>chosen functions only</small>", h->out);
	fputs("</h1>\n", h->out);
	print_cards(h);
	err = print_notes(h);
	if (err)
		return err;
	print_hottest(h);
	print_files(h);
	err = print_functions(h);
	if (err)
		return err;
	print_skipped(h);
	print_recordings(h);
	fputs("</section>\n<noscript><p class=\"note\">Source is shown by a script.</p></noscript>\n", h->out);
	return NULL;
}

/* ---- the page of a file ---- */

/* [["f0-L12","true"],...] as the value of an attribute. */
static struct error *print_steps(const struct html *h, const struct path_steps *s)
{
	const char *last_file = NULL, *said;
	size_t file = SIZE_MAX;
	struct arena arena;
	char *text;
	size_t size;
	FILE *stream;
	struct error *err = html_capture(&stream, &text, &size);

	if (err)
		return err;
	arena_init(&arena);
	putc('[', stream);
	for (size_t i = 0, shown = 0; i < s->steps.count; i++) {
		const struct path_step *step = &s->steps.items[i];
		const char *end = i + 1 == s->steps.count ? s->end : NULL;

		if (step->file != last_file)
			file = find_file(h, step->file);
		last_file = step->file;
		if (file == SIZE_MAX)
			continue;
		said = arena_printf(&arena, "%s%s%s", step->outcome ? step->outcome : "",
				    step->outcome && end ? "; " : "", end ? end : "");
		fprintf(stream, "%s[\"f%zu-L%" PRIu32 "\",", shown++ ? "," : "", file, step->line);
		json_print_string(stream, said ? said : "");
		putc(']', stream);
	}
	putc(']', stream);
	if (fclose(stream) != 0)
		err = &error_no_memory;
	else
		html_text(h->out, text);
	free(text);
	arena_deinit(&arena);
	return err;
}

static struct error *print_path(const struct html *h, const struct path_function *f, const struct path_entry *entry)
{
	struct path_steps s;
	char a[DIGITS_MAX], b[DIGITS_MAX], c[DIGITS_MAX];
	double share = digits_share(entry->count, f->total);
	struct error *err = path_steps_create(h->v->profile, f, entry->number, h->r->style.sources, &s);

	if (err)
		return err;
	fprintf(h->out, "<button class=\"path\" id=\"p%zu-%" PRIu64 "\" data-steps=\"",
		(size_t)(f - h->v->profile->functions.items), entry->number);
	err = print_steps(h, &s);
	fputs("\" title=\"", h->out);
	html_text(h->out, f->name);
	fprintf(h->out, ": path %" PRIu64 " of %s, %s %s (%s of this function's). It ", entry->number,
		digits_rough(f->path_count, a), digits_grouped(entry->count, b), entry->count == 1 ? "time" : "times",
		digits_percent(entry->count, f->total, c));
	fprintf(h->out, "%s%s; %s.\"><i style=\"width:%.1fem\"></i>%s%s</button>\n",
		strcmp(s.start, "enters") == 0 || strncmp(s.start, "goes", 4) == 0 ? "" : "begins ", s.start, s.end,
		0.2 + share / 40, digits_percent(entry->count, f->total, a), entry->count == 1 ? " (once)" : "");
	path_steps_deinit(&s);
	return err;
}

static struct error *print_function_head(const struct html *h, const struct path_function *f)
{
	const struct path_entry **hottest;
	size_t count;
	char a[DIGITS_MAX], b[DIGITS_MAX];
	struct error *err = path_hottest(f, h->v->top, &hottest, &count);

	if (err)
		return err;
	fprintf(h->out, "<tr class=\"fn\" id=\"fn%zu\"><td></td><td></td><td><b>",
		(size_t)(f - h->v->profile->functions.items));
	html_text(h->out, f->name);
	fprintf(h->out, "</b> <span class=\"dim\">entered %s %s%s, %s ", digits_grouped(f->calls, a),
		f->calls == 1 ? "time" : "times",
		f->is_part ? " by itself (may have run where it was inlined, too)" : "", digits_rough(f->run_count, b));
	fprintf(h->out, "of %s %s ran", digits_rough(f->path_count, a), f->path_count == 1 ? "path" : "paths");
	if (f->unfinished)
		fprintf(h->out, ", %s unfinished", digits_grouped(f->unfinished, a));
	if (f->residual)
		fprintf(h->out, ", %s %s outside the plan", digits_grouped(f->residual, a),
			noun_of(f->residual, "time", "times"));
	fputs("</span>\n<div class=\"paths\">", h->out);
	for (size_t i = 0; i < count && !err; i++)
		err = print_path(h, f, hottest[i]);
	if (count < f->run_count)
		fprintf(h->out, "<span class=\"dim\">and %s more %s</span>", digits_rough(f->run_count - count, a),
			noun_of(f->run_count - count, "path", "paths"));
	fputs("</div></td></tr>\n", h->out);
	free(hottest);
	return err;
}

static void print_cases(const struct html *h, const struct pathmeta_cases *cases)
{
	struct arena arena;
	const char *text;

	arena_init(&arena);
	text = path_cases(cases, false, &arena);
	fprintf(h->out, "%s: ", text && *text ? text : "a case");
	arena_deinit(&arena);
}

/* Outcomes of branches that were come to. */
static void print_ways(const struct html *h, const struct path_branch *branches, size_t count)
{
	uint64_t reached = 0;
	char a[DIGITS_MAX];

	for (size_t i = 0; i < count; i++)
		reached |= branches[i].reached;
	if (!reached)
		return;
	fputs("<span class=\"ways\">", h->out);
	for (size_t i = 0; i < count && i < WAYS_MAX; i++) {
		const struct path_branch *b = &branches[i];

		if (i && b->block != branches[i - 1].block)
			fputs("&middot; ", h->out);
		fprintf(h->out, "<span%s>", b->count || b->is_part ? "" : " class=\"z\"");
		switch (b->outcome.kind) {
		case PATHMETA_TRUE:
		case PATHMETA_FALSE:
			if (b->to_line)
				fprintf(h->out, "to line %" PRIu32 ": ", b->to_line);
			else
				fputs(b->outcome.kind == PATHMETA_TRUE ? "true " : "false ", h->out);
			break;
		case PATHMETA_CASE:
			fprintf(h->out, "%" PRId64 ": ", b->outcome.value);
			break;
		case PATHMETA_CASES:
			print_cases(h, b->outcome.cases);
			break;
		default:
			fputs("default: ", h->out);
		}
		fprintf(h->out, "%s</span>", count_text(b->count, b->is_part, a));
	}
	if (count > WAYS_MAX)
		fprintf(h->out, "<span>and %zu more</span>", count - WAYS_MAX);
	fputs("</span>", h->out);
}

static unsigned int bits_of(uint64_t n)
{
	return n ? 64 - (unsigned int)__builtin_clzll(n) : 0;
}

/* 0 never, then 1 to HEATS, by orders of magnitude. */
static unsigned int heat_of(const struct html *h, uint64_t count)
{
	return count && h->hottest ? 1 + (HEATS - 1) * bits_of(count) / bits_of(h->hottest) : 0;
}

struct page {
	struct html *h;
	size_t number;
	const struct path_line_file *file;
	const struct source_file *source;
	const struct path_function **functions; /* of this file, by line */
	size_t function_count;
	size_t next_function;
	size_t next_line; /* of file's lines */
	size_t next_branch;
	/* the part that is written */
	bool is_begun;
	size_t rows;
	uint32_t first_row, last_row; /* lines */
	size_t first_function;
};

static struct error *begin_part(struct page *p)
{
	if (p->is_begun)
		return NULL;
	p->is_begun = true;
	p->rows = 0;
	p->first_row = 0;
	p->first_function = p->next_function;
	return page_parts_begin(&p->h->parts, &p->h->out);
}

/* The table that the part goes into, as high as its rows may be. */
static struct error *end_part(struct page *p)
{
	struct html *h = p->h;

	if (!p->is_begun)
		return NULL;
	p->is_begun = false;
	h->out = h->page;
	fprintf(h->out,
		"<table class=\"src\" data-part=\"%" PRIu32 ":%" PRIu32 "\" data-lines=\"%" PRIu32 " %" PRIu32 "\"",
		h->parts.chunk, h->parts.count, p->first_row, p->last_row);
	fputs(" data-functions=\"", h->out);
	for (size_t i = p->first_function; i < p->next_function; i++)
		fprintf(h->out, "%s%zu", i > p->first_function ? " " : "",
			(size_t)(p->functions[i] - h->v->profile->functions.items));
	fprintf(h->out, "\" style=\"height:%zuem\"></table>\n", p->rows * 3 / 2);
	return page_parts_end(&h->parts);
}

static struct error *print_row(struct page *p, uint32_t line)
{
	const struct html *h = p->h;
	const struct path_line *counted = NULL;
	size_t lines_end = p->file->first_line + p->file->line_count;
	size_t branches_end = p->file->first_branch + p->file->branch_count;
	size_t first_branch;
	struct arena arena;
	const char *text;
	struct error *err;
	char a[DIGITS_MAX];

	p->rows++;
	p->first_row = p->first_row ? p->first_row : line;
	p->last_row = line;
	while (p->next_line < lines_end && h->lines.lines.items[p->next_line].line < line)
		p->next_line++;
	if (p->next_line < lines_end && h->lines.lines.items[p->next_line].line == line)
		counted = &h->lines.lines.items[p->next_line];
	while (p->next_branch < branches_end && h->lines.branches.items[p->next_branch].line < line)
		p->next_branch++;
	first_branch = p->next_branch;
	while (p->next_branch < branches_end && h->lines.branches.items[p->next_branch].line == line)
		p->next_branch++;
	if (counted && path_count_is_known(counted->count, counted->is_part))
		fprintf(h->out, "<tr id=\"f%zu-L%" PRIu32 "\" class=\"h%u\">", p->number, line,
			heat_of(h, counted->count));
	else
		fprintf(h->out, "<tr id=\"f%zu-L%" PRIu32 "\">", p->number, line);
	fprintf(h->out, "<td class=\"n\">%" PRIu32 "</td><td class=\"c\">%s</td><td class=\"s\">", line,
		counted ? count_text(counted->count, counted->is_part, a) : "");
	arena_init(&arena);
	err = source_line(p->source, line, &arena, &text);
	if (!err && text)
		html_text(h->out, text);
	arena_deinit(&arena);
	if (p->next_branch > first_branch)
		print_ways(h, &h->lines.branches.items[first_branch], p->next_branch - first_branch);
	fputs("</td></tr>\n", h->out);
	return err;
}

static int compare_places(const void *a, const void *b)
{
	const struct path_function *x = *(const struct path_function *const *)a;
	const struct path_function *y = *(const struct path_function *const *)b;

	return compare_u64(x->meta->line, y->meta->line) ?: compare_u64((uintptr_t)x, (uintptr_t)y);
}

static struct error *find_functions(struct page *p)
{
	const struct path_view *v = p->h->v;

	p->functions = calloc(v->function_count + 1, sizeof *p->functions);
	if (!p->functions)
		return &error_no_memory;
	for (size_t i = 0; i < v->function_count; i++) {
		const struct path_function *f = v->functions[i];

		if (f->meta && f->meta->line && f->meta->file && strcmp(f->meta->file, p->file->name) == 0)
			p->functions[p->function_count++] = f;
	}
	qsort(p->functions, p->function_count, sizeof *p->functions, compare_places);
	return NULL;
}

/* The last line with text, with counts or of a function. */
static uint32_t last_line(const struct page *p)
{
	const struct path_line *lines = p->h->lines.lines.items + p->file->first_line;
	uint32_t last = p->source->path ? p->source->line_count : 0;

	if (p->file->line_count && lines[p->file->line_count - 1].line > last)
		last = lines[p->file->line_count - 1].line;
	for (size_t i = 0; i < p->function_count; i++)
		if (p->functions[i]->meta->line > last)
			last = p->functions[i]->meta->line;
	return last;
}

/* Those near code that ran; without text, those with counts. */
static void choose_near(const struct page *p, uint32_t last, uint8_t *is_shown)
{
	const struct path_line *lines = p->h->lines.lines.items + p->file->first_line;
	uint32_t near = p->source->path ? NEAR : 0;

	for (size_t i = 0; i < p->file->line_count; i++) {
		uint32_t from = lines[i].line > near ? lines[i].line - near : 1;

		for (uint32_t l = from; l <= last && l - from <= 2 * near; l++)
			is_shown[l] |= !p->source->path || lines[i].count;
	}
	for (size_t i = 0; i < p->function_count; i++)
		is_shown[p->functions[i]->meta->line] |= !p->source->path || p->functions[i]->run_count;
}

/* Which lines of the file are shown: all of a moderate file, what is near code that ran of a very long one; only those
 * with counts when there is no text. */
static struct error *choose_lines(const struct page *p, uint8_t **ret, uint32_t *ret_last)
{
	uint32_t last = last_line(p);
	uint8_t *is_shown = calloc((size_t)last + 2, 1);

	if (!is_shown)
		return &error_no_memory;
	if (p->source->path && last <= WHOLE_MAX)
		memset(is_shown, 1, (size_t)last + 1);
	else
		choose_near(p, last, is_shown);
	*ret = is_shown;
	*ret_last = last;
	return NULL;
}

/* Of functions up to a line that is not shown nothing is. */
static void skip_functions(struct page *p, uint32_t line)
{
	while (p->next_function < p->function_count && p->functions[p->next_function]->meta->line <= line)
		p->next_function++;
}

static struct error *print_function_heads(struct page *p, uint32_t line)
{
	struct error *err = NULL;

	for (; !err && p->next_function < p->function_count && p->functions[p->next_function]->meta->line <= line;
	     p->next_function++)
		err = print_function_head(p->h, p->functions[p->next_function]);
	return err;
}

static struct error *print_lines(struct page *p)
{
	uint8_t *is_shown;
	uint32_t last, gap = 0;
	struct error *err = choose_lines(p, &is_shown, &last);

	if (err)
		return err;
	for (uint32_t line = 1; line <= last && !err; line++) {
		bool has_function =
			p->next_function < p->function_count && p->functions[p->next_function]->meta->line <= line;

		if (!is_shown[line]) {
			gap++;
			skip_functions(p, line);
			continue;
		}
		if (p->rows >= PART_MAX || (has_function && p->rows >= PART_MIN))
			err = end_part(p);
		err = err ?: begin_part(p);
		if (!err && gap && p->source->path)
			fprintf(p->h->out, "<tr class=\"gap\"><td></td><td></td><td>%" PRIu32 " more lines</td></tr>\n",
				gap);
		gap = 0;
		err = err ?: print_function_heads(p, line) ?: print_row(p, line);
	}
	err = err ?: end_part(p);
	free(is_shown);
	return err;
}

static struct error *print_file(struct html *h, size_t number)
{
	struct page p = {.h = h, .number = number, .file = &h->lines.files.items[number]};
	uint64_t oldest = UINT64_MAX;
	char a[DIGITS_MAX];
	struct error *err = sources_get(h->r->style.sources, p.file->name, &p.source);

	p.next_line = p.file->first_line;
	p.next_branch = p.file->first_branch;
	if (!err)
		err = find_functions(&p);
	if (err)
		return err;
	for (size_t i = 0; i < h->v->profile->recordings.count; i++)
		if (h->v->profile->recordings.items[i].header.start_realtime_ns < oldest)
			oldest = h->v->profile->recordings.items[i].header.start_realtime_ns;
	fprintf(h->out, "<section class=\"page\" id=\"f%zu\">\n<h1>", number);
	html_text(h->out, html_base_name(p.file->name));
	fputs(" <small>", h->out);
	html_text(h->out, h->names.plain[number]);
	fprintf(h->out,
		"</small></h1>\n<p class=\"dim\">%s of %zu lines ran, %zu of %zu outcomes of branches, %zu of %zu "
		"functions. Click a path to see its lines; n and p go to the next and the one before.</p>\n",
		digits_percent(p.file->lines_hit, p.file->lines_known, a), p.file->lines_known, p.file->branches_hit,
		p.file->branches_known, p.file->functions_hit, p.file->functions_known);
	if (h->v->summary.optimized)
		fputs("<p class=\"dim\">Optimized code: ? is not known, ~ is not exact.</p>\n", h->out);
	if (!p.source->path) {
		fputs("<p class=\"note\">The source is not there: ", h->out);
		html_text(h->out, p.source->why);
		fputs(". Only counts are shown; --source-dir says where to look.</p>\n", h->out);
	} else if (p.source->changed_ns > oldest) {
		fputs("<p class=\"note\">The file was changed after the recording: lines may not fit.</p>\n", h->out);
	} else if (p.source->line_count > WHOLE_MAX) {
		fprintf(h->out, "<p class=\"note\">Of %" PRIu32 " lines only those near code that ran are here.</p>\n",
			p.source->line_count);
	}
	err = print_lines(&p);
	fputs("</section>\n", h->page);
	free(p.functions);
	return err;
}

static void print_head(const struct html *h)
{
	const struct path_recording_vec *v = &h->v->profile->recordings;

	html_print_start(h->out, h->v->producer);
	fputs("Paths of ", h->out);
	html_text(h->out, v->count ? html_base_name(v->items[0].header.program) : "?");
	fprintf(h->out,
		"</title>\n<style>\n%s</style>\n</head>\n<body>\n<nav>\n<strong><a href=\"#index\">Summary</a>"
		"</strong>\n",
		html_css);
	for (size_t i = 0; i < h->lines.files.count; i++) {
		fprintf(h->out, "<a href=\"#f%zu\" title=\"", i);
		html_text(h->out, h->names.plain[i]);
		fputs("\">", h->out);
		html_print_name(h->out, html_short_name(&h->names, i));
		fputs("</a>\n", h->out);
	}
	fputs("</nav>\n<main>\n", h->out);
}

struct error *path_render_html(const struct path_report *r, FILE *out)
{
	struct html h = {.r = r, .v = r->view, .page = out, .out = out, .parts = {.page = out}};
	struct error *err = path_lines_create(r->view, &h.lines);

	if (err)
		return err;
	arena_init(&h.arena);
	err = name_files(&h);
	if (err)
		goto out;
	for (size_t i = 0; i < h.lines.lines.count; i++)
		if (h.lines.lines.items[i].count > h.hottest)
			h.hottest = h.lines.lines.items[i].count;
	print_head(&h);
	err = print_index(&h);
	for (size_t i = 0; i < h.lines.files.count && !err; i++)
		err = print_file(&h, i);
	err = err ?: page_parts_flush(&h.parts);
	fprintf(out,
		"</main>\n<div id=\"bar\"><p id=\"said\"></p><button id=\"previous\">previous</button>"
		"<button id=\"next\">next</button><button id=\"close\">close</button></div>\n<script>\n%s</script>\n"
		"</body>\n</html>\n",
		paths_js);
out:
	page_parts_deinit(&h.parts);
	arena_deinit(&h.arena);
	path_lines_deinit(&h.lines);
	return err;
}
