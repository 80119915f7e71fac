/*
 * slice_html.c - a slice as one self-contained page: the source of each file that has lines in it. slice.js dims the others, and shows what a line
 * depends on and what depends on it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json_writer.h"
#include "report/embedded.h"
#include "report/html.h"
#include "report/slices/slice_render.h"

enum {
	WHOLE_MAX = 20000, /* lines; of longer files only what is near lines of the slice */
	NEAR = 10,
};

/* ---- data ---- */

/* Numbers of files and of lines in the data; lines that are out have none. */
struct numbers {
	uint32_t *file_of, *number_of; /* [line] */
	const char **files;
	uint32_t file_count, count;
};

static struct error *number(const struct slice_lines *l, struct arena *arena, struct numbers *ret)
{
	struct numbers n = {.file_of = arena_calloc(arena, (size_t)l->count + 1, sizeof *n.file_of),
			    .number_of = arena_calloc(arena, (size_t)l->count + 1, sizeof *n.number_of),
			    .files = arena_calloc(arena, (size_t)l->count + 1, sizeof *n.files)};

	if (!n.file_of || !n.number_of || !n.files)
		return &error_no_memory;
	for (uint32_t i = 0; i < l->count; i++) {
		if (!l->items[i].is_in)
			continue;
		if (!n.file_count || n.files[n.file_count - 1] != l->items[i].file)
			n.files[n.file_count++] = l->items[i].file;
		n.file_of[i] = n.file_count - 1;
		n.number_of[i] = n.count++;
	}
	*ret = n;
	return NULL;
}

static struct error *print_lines(const struct slice_report *r, const struct numbers *n, FILE *out)
{
	const char *before = "";
	struct error *err = NULL;

	fputs(",\n\"lines\": [", out);
	for (uint32_t i = 0; i < r->lines->count && !err; i++) {
		const struct slice_line *line = &r->lines->items[i];

		if (!line->is_in)
			continue;
		fprintf(out, "%s\n[%" PRIu32 ", %" PRIu32 ", ", before, n->file_of[i], line->line);
		err = slice_reason_json(r, line->reason, i, line->of, out);
		putc(']', out);
		before = ",";
	}
	putc(']', out);
	return err;
}

static void print_edges(const struct slice_report *r, const struct numbers *n, FILE *out)
{
	const char *before = "";

	fputs(",\n\"reasons\": [", out);
	for (int reason = SLICE_OUT; reason <= SLICE_COMES_BACK; reason++) {
		fputs(reason ? ", " : "", out);
		json_print_string(out, reason == SLICE_COMES_BACK ? "may not return, in front of "
								  : slice_reason_text((enum slice_reason)reason));
	}
	fputs("],\n\"edges\": [", out);
	for (size_t i = 0; i < r->graph->edges.count; i++) {
		const struct slice_edge *edge = &r->graph->edges.items[i];

		if (!r->lines->items[edge->line].is_in || !r->lines->items[edge->on].is_in)
			continue;
		fprintf(out, "%s\n[%" PRIu32 ",%" PRIu32 ",%d]", before, n->number_of[edge->line],
			n->number_of[edge->on], (int)edge->reason);
		before = ",";
	}
	putc(']', out);
}

static struct error *print_chain(const struct slice_report *r, const struct numbers *n, FILE *out)
{
	const struct slice_link_vec *links = r->chain ? &r->chain->links : NULL;
	struct error *err = NULL;

	fputs(",\n\"chain\": [", out);
	for (size_t i = 0; links && i < links->count && !err; i++) {
		const struct slice_link *link = &links->items[i];

		fprintf(out, "%s\n[%" PRIu32 ", ", i ? "," : "", n->number_of[link->line]);
		err = slice_reason_json(r, link->reason, link->line, i ? links->items[i - 1].line : SLICE_NO_LINE, out);
		putc(']', out);
	}
	putc(']', out);
	return err;
}

static void print_row_start(const struct slice_report *r, uint32_t number, uint32_t line, FILE *out)
{
	fputs(number ? ",\n[" : "\n[", out);
	json_print_string(out, r->lines->items[line].file);
	fprintf(out, ", %" PRIu32 ", ", r->lines->items[line].line);
}

static struct error *print_omissions(const struct slice_report *r, FILE *out)
{
	const struct slice_omissions *o = r->omissions;
	struct error *err = NULL;

	fputs(",\n\"omissions\": [", out);
	for (uint32_t i = 0; o && i < o->count_new && !err; i++) {
		const struct slice_omission *x = &o->items.items[i];
		struct slice_quote quote;

		print_row_start(r, i, x->line, out);
		err = slice_quote_begin(&quote);
		if (err)
			break;
		slice_omission_print(r, x, quote.stream);
		err = slice_quote_end(&quote, out);
		putc(']', out);
	}
	putc(']', out);
	return err;
}

static struct error *print_overruns(const struct slice_report *r, FILE *out)
{
	const struct slice_overruns *o = r->overruns && r->overruns->is_known ? r->overruns : NULL;
	uint32_t count = slice_overruns_shown(o);
	struct slice_quote quote;
	struct error *err = NULL;

	fputs(",\n\"evidence\": [", out);
	for (size_t i = 0; o && i < o->evidence.count && !err; i++) {
		fputs(i ? ", " : "", out);
		err = slice_quote_begin(&quote);
		if (err)
			return err;
		slice_evidence_print(o, i, quote.stream);
		err = slice_quote_end(&quote, out);
	}
	fputs("],\n\"overruns\": [", out);
	for (uint32_t i = 0; i < count && !err; i++) {
		print_row_start(r, i, o->items.items[i].line, out);
		err = slice_quote_begin(&quote);
		if (err)
			return err;
		slice_overrun_print(r, &o->items.items[i], quote.stream);
		err = slice_quote_end(&quote, out);
		putc(']', out);
	}
	putc(']', out);
	return err;
}

static struct error *print_data(const struct slice_report *r, const struct numbers *n, FILE *out)
{
	struct error *err;

	json_print_member(out, "{", "criterion", r->criterion);
	fprintf(out, ",\n\"is_forward\": %s,\n\"files\": [", r->is_forward ? "true" : "false");
	for (uint32_t i = 0; i < n->file_count; i++) {
		fputs(i ? ", " : "", out);
		json_print_string(out, n->files[i]);
	}
	putc(']', out);
	err = print_lines(r, n, out);
	print_edges(r, n, out);
	if (!err)
		err = print_chain(r, n, out);
	if (!err)
		err = print_omissions(r, out);
	if (!err)
		err = print_overruns(r, out);
	fputs("}\n", out);
	return err;
}

static struct slice_place place_of(const struct slice_report *r, uint32_t line)
{
	return (struct slice_place){r->lines->items[line].file, r->lines->items[line].line};
}

struct error *slice_layer_make(const struct slice_report *r, struct arena *arena, struct slice_layer *ret)
{
	uint32_t omitted = r->omissions ? r->omissions->count_new : 0, overruns = slice_overruns_shown(r->overruns);
	struct slice_place *places =
		arena_calloc(arena, (size_t)r->lines->count + omitted + overruns + 1, sizeof *places);
	struct slice_layer layer = {.places = places};
	struct numbers n;
	char *text;
	size_t size;
	FILE *stream;
	struct error *err = places ? number(r->lines, arena, &n) : &error_no_memory;

	if (!err)
		err = html_capture(&stream, &text, &size);
	if (err)
		return err;
	err = print_data(r, &n, stream);
	if (fclose(stream) != 0 && !err)
		err = &error_no_memory;
	if (!err)
		layer.json = arena_strdup(arena, text);
	free(text);
	for (uint32_t i = 0; i < r->lines->count; i++)
		if (r->lines->items[i].is_in)
			places[layer.count++] = place_of(r, i);
	for (uint32_t i = 0; i < omitted; i++)
		places[layer.count++] = place_of(r, r->omissions->items.items[i].line);
	for (uint32_t i = 0; i < overruns; i++)
		places[layer.count++] = place_of(r, r->overruns->items.items[i].line);
	if (!err && !layer.json)
		err = &error_no_memory;
	if (!err)
		*ret = layer;
	return err;
}

/* ---- the page ---- */

static struct error *print_row(const struct source_file *source, uint32_t file, uint32_t line, FILE *out)
{
	struct arena arena = {0};
	const char *text = NULL;
	struct error *err = source_line(source, line, &arena, &text);

	fprintf(out, "<tr id=\"f%" PRIu32 "-L%" PRIu32 "\"><td class=\"n\">%" PRIu32 "</td><td class=\"s\">", file,
		line, line);
	if (!err && text)
		html_text(out, text);
	fputs("</td></tr>\n", out);
	arena_deinit(&arena);
	return err;
}

/* Of places[first] to places[end - 1], all of one file. */
static struct error *print_file(const struct slice_report *r, const struct slice_place *first,
				const struct slice_place *end, uint32_t number, FILE *out)
{
	const struct source_file *source;
	uint32_t gap = 0, count;
	struct error *err = sources_get(r->sources, first->file, &source);

	if (err)
		return err;
	fprintf(out, "<section class=\"page\" id=\"f%" PRIu32 "\" data-file=\"", number);
	html_text(out, first->file);
	fputs("\">\n<h1>", out);
	html_text(out, html_base_name(first->file));
	fputs(" <small>", out);
	html_text(out, first->file);
	fputs("</small></h1>\n", out);
	if (!source->path) {
		fputs("<p class=\"note\">The source is not there: ", out);
		html_text(out, source->why);
		fputs("; --source-dir says where to look.</p>\n", out);
	}
	fputs("<table class=\"src\">\n", out);
	count = source->path && source->line_count > end[-1].line ? source->line_count : end[-1].line;
	for (uint32_t line = 1; line <= count && !err; line++) {
		bool is_near;

		while (first < end && first->line + (source->path ? NEAR : 0) < line)
			first++;
		is_near = first < end && line + (source->path ? NEAR : 0) >= first->line;
		if (!is_near && (!source->path || count > WHOLE_MAX)) {
			gap++;
			continue;
		}
		if (gap)
			fprintf(out, "<tr class=\"gap\"><td></td><td>%" PRIu32 " more lines</td></tr>\n", gap);
		gap = 0;
		err = print_row(source, number, line, out);
	}
	fputs("</table>\n</section>\n", out);
	return err;
}

static struct error *each_file(const struct slice_report *r, const struct slice_layer *layer,
			       struct error *(*print)(const struct slice_report *r, const struct slice_place *first,
						      const struct slice_place *end, uint32_t number, FILE *out),
			       FILE *out)
{
	const struct slice_place *at = layer->places, *end = at + layer->count;
	struct error *err = NULL;

	for (uint32_t number = 0; at < end && !err; number++) {
		const struct slice_place *first = at;

		while (at < end && at->file == first->file)
			at++;
		err = print(r, first, at, number, out);
	}
	return err;
}

static struct error *print_link(const struct slice_report *r, const struct slice_place *first,
				const struct slice_place *end, uint32_t number, FILE *out)
{
	(void)r;
	fprintf(out, "<a href=\"#f%" PRIu32 "\" title=\"", number);
	html_text(out, first->file);
	fputs("\"><span>", out);
	html_text(out, html_base_name(first->file));
	fprintf(out, "</span>&nbsp;<span class=\"dim\">%td</span></a>\n", end - first);
	return NULL;
}

struct error *slice_render_html(const struct slice_report *r, FILE *out)
{
	struct arena arena = {0};
	struct slice_layer layer;
	struct error *err = slice_layer_make(r, &arena, &layer);

	if (err) {
		arena_deinit(&arena);
		return err;
	}
	html_print_start(out, "waymark slice");
	html_text(out, r->criterion);
	fprintf(out, "</title>\n<style>\n%s</style>\n", html_css);
	slice_layer_print_style(out);
	fputs("</head>\n<body class=\"slice\">\n<nav>\n<strong>", out);
	html_text(out, html_base_name(r->program));
	fputs("</strong>\n", out);
	fprintf(out, "<p>%" PRIu32 " of %" PRIu32 " lines with code, %" PRIu32 " of %" PRIu32 " instructions</p>\n",
		r->lines->count_in, r->lines->count, r->lines->instructions_in, r->lines->instructions);
	if (r->graph->cut)
		fprintf(out,
			"<p class=\"note\">Of %" PRIu32
			" instructions only one reason is known each: the search was too "
			"long.</p>\n",
			r->graph->cut);
	err = each_file(r, &layer, print_link, out);
	fputs("</nav>\n<main>\n", out);
	if (!err)
		err = each_file(r, &layer, print_file, out);
	fputs("</main>\n<aside></aside>\n", out);
	slice_layer_print(&layer, out);
	fprintf(out, "<script>\n%s</script>\n</body>\n</html>\n", slice_page_js);
	arena_deinit(&arena);
	return err;
}
