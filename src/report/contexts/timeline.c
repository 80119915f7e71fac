/* timeline.c - the live bytes of each process by time: as lines with bars, and as JSON, which docs/format.md describes. */
#include <inttypes.h>

#include "base/json_writer.h"
#include "base/plain_text.h"
#include "model/tables/heap_line.h"
#include "report/contexts/renderer.h"

enum {
	BAR_CHARACTERS = 40,
	NUMBER_WIDTH = 15,
};

static void print_line(const struct profile_source *s, const struct heap_line *line, FILE *out)
{
	char number[DIGITS_MAX], most[DIGITS_MAX];

	putc('\n', out);
	plain_print(out, s->header.program);
	fprintf(out, ", pid %" PRIu32 ": live bytes by time", s->header.pid);
	if (!line->slices.count) {
		fputs(": it never had more than a kilobyte, or its recorder did not keep them\n", out);
		return;
	}
	fprintf(out, "; the most, %s, at about %s\n\n", digits_grouped(s->header.heap_peak_bytes, most),
		digits_time(line->peak_ns, number));
	fprintf(out, "  %*s  %*s  %*s  %*s\n", NUMBER_WIDTH, "up to", NUMBER_WIDTH, "live", NUMBER_WIDTH, "least",
		NUMBER_WIDTH, "most");
	for (size_t i = 0; i < line->slices.count; i++) {
		const struct heap_slice *slice = &line->slices.items[i];

		fprintf(out, "  %*s", NUMBER_WIDTH, digits_time(slice->after_ns, number));
		fprintf(out, "  %*s", NUMBER_WIDTH, digits_grouped(slice->live, number));
		fprintf(out, "  %*s", NUMBER_WIDTH, digits_grouped(slice->low, number));
		fprintf(out, "  %*s  ", NUMBER_WIDTH, digits_grouped(slice->high, number));
		text_print_bar(slice->high, s->header.heap_peak_bytes, "", BAR_CHARACTERS, out);
		putc('\n', out);
	}
}

struct error *render_timeline_text(const struct view *v, size_t slices, FILE *out)
{
	const struct profile *p = v->profile;
	struct error *err = NULL;

	text_print_head(v, out);
	for (uint32_t i = 0; i < p->sources.count && !err; i++) {
		struct heap_line line;

		if (!p->sources.items[i].has_heap)
			continue;
		err = heap_line_create(p, i, slices, &line);
		if (err)
			return err;
		print_line(&p->sources.items[i], &line, out);
		heap_line_deinit(&line);
	}
	return err;
}

struct error *render_timeline_json(const struct view *v, size_t slices, FILE *out)
{
	const struct profile *p = v->profile;
	const char *separator = "\n    {";

	fputs("{\n  \"format\": \"waymark-timeline\",\n  \"version\": 1,\n  \"producer\": ", out);
	json_print_string(out, v->producer);
	fputs(",\n  \"processes\": [", out);
	for (uint32_t i = 0; i < p->sources.count; i++) {
		const struct profile_source *s = &p->sources.items[i];
		struct heap_line line;
		struct error *err;

		if (!s->has_heap)
			continue;
		err = heap_line_create(p, i, slices, &line);
		if (err)
			return err;
		json_print_member(out, separator, "path", s->path);
		json_print_member(out, ", ", "program", s->header.program);
		fprintf(out,
			", \"pid\": %" PRIu32 ", \"peak_bytes\": %" PRIu64 ", \"peak_ns\": %" PRIu64
			", \"live_bytes\": %" PRIu64 ", \"times\": [",
			s->header.pid, s->header.heap_peak_bytes, line.peak_ns, s->header.heap_live_bytes);
		for (size_t j = 0; j < line.slices.count; j++) {
			const struct heap_slice *slice = &line.slices.items[j];

			fprintf(out,
				"%s\n      {\"ns\": %" PRIu64 ", \"live\": %" PRIu64 ", \"low\": %" PRIu64
				", \"high\": %" PRIu64 "}",
				j ? "," : "", slice->after_ns, slice->live, slice->low, slice->high);
		}
		fputs("]}", out);
		separator = ",\n    {";
		heap_line_deinit(&line);
	}
	fputs("\n  ]\n}\n", out);
	return NULL;
}
