/* view_page.c - the frame of the page, and the header of its data: text, and how long the arrays are that follow. */
#include "report/view/view_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json_writer.h"
#include "model/contexts/profile_notes.h"
#include "model/tables/heap_line.h"
#include "report/contexts/renderer.h"
#include "report/embedded.h"
#include "report/html.h"
#include "report/view/view_data.h"

static const char *text_of(const struct hashmap *strings, uint32_t i)
{
	return (const char *)(uintptr_t)strings->keys[i].words[0];
}

static void print_strings(const struct view_data *d, FILE *out)
{
	fputs(",\n\"strings\": [", out);
	for (uint32_t i = 0; i < d->strings.count; i++) {
		fputs(i ? ",\n" : "", out);
		json_print_string(out, text_of(&d->strings, i));
	}
	fputs("]", out);
}

static const char *name_of(bool is)
{
	return is ? "true" : "false";
}

static void print_metrics(const struct view *v, const struct view_data *d, FILE *out)
{
	const struct profile *p = v->profile;

	fputs(",\n\"metrics\": [", out);
	for (uint32_t i = 0; i < p->metrics.count; i++) {
		const struct metric *m = &p->metrics.items[i];

		fputs(i ? ",\n {\"name\": " : "\n {\"name\": ", out);
		json_print_string(out, m->name);
		fprintf(out,
			", \"unit\": \"%s\", \"maximum\": %s, \"estimate\": %s, \"heap\": %s, \"group\": %" PRIu32
			", \"contexts\": %zu}",
			metric_unit_name(m->unit), name_of(m->is_maximum), name_of(m->is_estimate),
			name_of(m->is_of_heap), m->group, d->cells[i].nodes.count);
	}
	fputs("]", out);
	if (v->has_metric)
		fprintf(out, ",\n\"metric\": %" PRIu32, v->metric);
	if (v->has_change)
		fprintf(out, ",\n\"before\": %" PRIu32 ", \"after\": %" PRIu32, v->before, v->after);
}

/* [[name, what is said of it], ...] */
static void print_function_notes(const struct view *v, FILE *out)
{
	if (!v->notes)
		return;
	fputs(",\n\"function_notes\": [", out);
	for (size_t i = 0; i < v->notes->count; i++) {
		fputs(i ? ",\n [" : "\n [", out);
		json_print_string(out, v->notes->items[i].function);
		fputs(", ", out);
		json_print_string(out, v->notes->items[i].text);
		putc(']', out);
	}
	fputs("]", out);
}

static void print_events(const struct view_data *d, FILE *out)
{
	fprintf(out,
		",\n\"events\": %zu, \"begin_ns\": %" PRIu64 ", \"slice_ns\": %" PRIu64
		", \"slices\": %d,\n\"threads\": [",
		d->events.nodes.count, d->begin_ns, d->slice_ns, VIEW_SLICES);
	for (uint32_t i = 0; i < d->threads.count; i++) {
		char number[32];
		const char *name = text_of(&d->threads, i);

		snprintf(number, sizeof number, "thread %" PRIu64, d->threads.keys[i].words[1]);
		fputs(i ? ",\n" : "", out);
		json_print_string(out, name ? name : number);
	}
	fputs("]", out);
}

/* The live bytes by time of the process that had most of them: their largest number in each slice, and the one at its end. */
static struct error *print_heap_line(const struct profile *p, FILE *out)
{
	uint32_t source = UINT32_MAX;
	struct heap_line line;
	struct error *err;
	uint64_t peak_ns;

	for (uint32_t i = 0; i < p->sources.count; i++)
		if (heap_line_peak(p, i, &peak_ns) &&
		    (source == UINT32_MAX ||
		     p->sources.items[i].header.heap_peak_bytes > p->sources.items[source].header.heap_peak_bytes))
			source = i;
	if (source == UINT32_MAX)
		return NULL;
	err = heap_line_create(p, source, VIEW_SLICES, &line);
	if (err)
		return err;
	fprintf(out, ",\n\"heap_line\": {\"source\": %" PRIu32 ", \"slices\": [", source);
	for (size_t i = 0; i < line.slices.count; i++) {
		const struct heap_slice *slice = &line.slices.items[i];

		fprintf(out, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", i ? ",\n" : "", slice->after_ns, slice->high,
			slice->live);
	}
	fputs("]}", out);
	heap_line_deinit(&line);
	return NULL;
}

static void print_sources(const struct profile *p, FILE *out)
{
	fputs(",\n\"sources\": [", out);
	for (size_t i = 0; i < p->sources.count; i++) {
		const struct profile_source *source = &p->sources.items[i];

		fputs(i ? ",\n {\"path\": " : "\n {\"path\": ", out);
		json_print_string(out, source->path);
		fputs(", \"program\": ", out);
		json_print_string(out, source->header.program);
		fprintf(out, ", \"pid\": %" PRIu64 "}", (uint64_t)source->header.pid);
	}
	fputs("]", out);
}

static struct error *print_notes(const struct view *v, FILE *out)
{
	char *text;
	size_t size;
	FILE *memory;
	struct error *err = html_capture(&memory, &text, &size);

	if (err)
		return err;
	notes_print(v, "", memory);
	if (fclose(memory) != 0 || !text) {
		free(text);
		return &error_no_memory;
	}
	fputs(",\n\"notes\": ", out);
	json_print_string(out, text);
	free(text);
	return NULL;
}

static struct error *print_header(const struct view *v, const struct view_data *d, FILE *out)
{
	struct error *err;

	fputs("{\"format\": \"waymark-view\", \"version\": 1, \"producer\": ", out);
	json_print_string(out, v->producer);
	fprintf(out, ",\n\"frames\": %zu, \"nodes\": %zu", d->frame_names.count, d->node_parents.count);
	print_sources(v->profile, out);
	print_metrics(v, d, out);
	print_function_notes(v, out);
	print_events(d, out);
	print_strings(d, out);
	err = print_heap_line(v->profile, out) ?: print_notes(v, out);
	fputs("}\n", out);
	return err;
}

static struct error *print_data(const struct view *v, const struct view_data *d, FILE *out)
{
	char *header;
	size_t size;
	FILE *memory;
	struct error *err = html_capture(&memory, &header, &size);

	if (err)
		return err;
	err = print_header(v, d, memory);
	if (fclose(memory) != 0 || !header)
		err = err ?: &error_no_memory;
	if (!err && size > UINT32_MAX)
		err = error_create(ERROR_OVERFLOW,
				   "the names are too long for a page; choose contexts, for example by --min");
	if (!err)
		err = view_data_write(d, header, out);
	free(header);
	return err;
}

static void print_title(const struct view *v, FILE *out)
{
	const struct profile *p = v->profile;

	if (v->has_change)
		fputs("difference", out);
	else if (p->sources.count)
		html_text(out, html_base_name(p->sources.items[0].header.program[0] ? p->sources.items[0].header.program
										    : p->sources.items[0].path));
	if (p->sources.count > 1)
		fprintf(out, " and %zu more", p->sources.count - 1);
	fputs(" - Waymark", out);
}

struct error *render_view_page(const struct view *v, FILE *out)
{
	struct view_data d;
	struct error *err = view_data_create(v, &d);

	if (err)
		return err;
	html_print_start(out, v->producer);
	print_title(v, out);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n%s<script type=\"text/plain\" id=\"data\">\n",
		view_css, view_html);
	err = print_data(v, &d, out);
	fprintf(out, "</script>\n<script>\n'use strict';\n%s%s%s%s%s</script>\n</body>\n</html>\n", view_data_js,
		view_trees_js, view_flame_js, view_panels_js, view_page_js);
	view_data_deinit(&d);
	return err;
}
