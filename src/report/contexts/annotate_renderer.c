/* annotate_renderer.c - the formats, and which lines of a file are shown: those with numbers and a few around them. */
#include <inttypes.h>

#include "base/json_writer.h"
#include "report/contexts/annotate_renderer.h"
#include "report/contexts/renderer.h"

static const struct annotate_renderer renderers[] = {
	{.format = {"text", "lines with numbers, and a few around them"}, .render = annotate_render_text},
	{.format = {"html", "the same as one page"}, .render = annotate_render_html},
	{.format = {"json", "the lines with numbers, for programs; docs/format.md describes it"},
	 .render = annotate_render_json},
	{.format = {0}},
};

const struct word_table annotate_formats = {renderers, sizeof *renderers};

/* The file, or NULL where it cannot be shown. */
static struct error *find_source(const struct annotate_report *r, const struct annotated_file *file,
				 const struct source_file **ret)
{
	*ret = NULL;
	return file->name ? sources_get(r->sources, file->name, ret) : NULL;
}

struct error *annotate_missing(const struct annotate_report *r, const struct annotated_file *file, const char **ret)
{
	const struct source_file *source;
	struct error *err = find_source(r, file, &source);

	if (!err)
		*ret = source && !source->path ? source->why : NULL;
	return err;
}

struct error *annotate_each_line(const struct annotate_report *r, const struct annotated_file *file,
				 annotate_line_fn call, void *data)
{
	const struct annotated_line *lines = &r->annotation->lines[file->first];
	const struct source_file *source;
	struct arena arena;
	uint32_t shown = 0; /* the last one */
	struct error *err = find_source(r, file, &source);

	arena_init(&arena);
	for (size_t i = 0; i < file->count && !err; i++) {
		uint32_t end = source && source->path ? lines[i].line + SOURCE_AROUND : lines[i].line;
		uint32_t at = source && source->path && lines[i].line > SOURCE_AROUND ? lines[i].line - SOURCE_AROUND
										      : lines[i].line;
		bool gap;

		if (source && source->path && lines[i].line <= SOURCE_AROUND)
			at = 1;
		if (i + 1 < file->count && end >= lines[i + 1].line)
			end = lines[i + 1].line - 1;
		at = at > shown || !shown ? at : shown + 1;
		gap = shown && at > shown + 1;
		for (; at <= end && !err; at++) {
			const char *text = NULL;

			if (source && source->path)
				err = source_line(source, at, &arena, &text);
			if (!err && (text || at == lines[i].line))
				call(data, gap, at, at == lines[i].line ? &lines[i] : NULL, text);
			gap = false;
			shown = at;
		}
	}
	arena_deinit(&arena);
	return err;
}

struct error *annotate_render_json(const struct annotate_report *r, FILE *out)
{
	const struct annotation *a = r->annotation;
	const struct metric *m = &r->view->profile->metrics.items[r->view->metric];

	fputs("{\n  \"format\": \"waymark-annotate\",\n  \"version\": 1", out);
	json_print_member(out, ",\n  ", "producer", r->view->producer);
	json_print_member(out, ",\n  ", "functions", r->functions);
	json_print_member(out, ",\n  ", "metric", m->name);
	json_print_member(out, ",\n  ", "unit", metric_unit_name(m->unit));
	fprintf(out, ",\n  \"all\": %" PRIu64 ",\n  \"self\": %" PRIu64 ",\n  \"total\": %" PRIu64 ",\n  \"lines\": [",
		m->total, a->self, a->total);
	for (size_t i = 0; i < a->line_count; i++) {
		json_print_member(out, i ? ",\n    {" : "\n    {", "file", a->lines[i].file);
		fprintf(out, ", \"line\": %" PRIu32 ", \"self\": %" PRIu64 ", \"total\": %" PRIu64 "}",
			a->lines[i].line, a->lines[i].self, a->lines[i].total);
	}
	fputs("\n  ]\n}\n", out);
	return NULL;
}
