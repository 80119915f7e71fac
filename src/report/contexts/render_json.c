/* render_json.c - the whole view as one JSON object; docs/format.md describes every member. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "model/tables/label_sums.h"
#include "report/contexts/renderer.h"

enum {
	NUMBER_BYTES = 4, /* in a list of them, about */
};

const char *metric_unit_name(enum metric_unit unit)
{
	switch (unit) {
	case UNIT_COUNT:
		return "count";
	case UNIT_BYTES:
		return "bytes";
	case UNIT_TIME:
		return "nanoseconds";
	case UNIT_VALUE:
		break;
	}
	return "value";
}

static void print_labels(const struct profile_source *s, FILE *out)
{
	const char *before = ",\n     \"labels\": {";

	for (const char *label = s->labels; label && *label; label += strlen(label) + 1) {
		const char *equals = strchr(label, '=');
		char *key = equals ? strndup(label, (size_t)(equals - label)) : NULL;

		if (!key)
			continue;
		fputs(before, out);
		json_print_string(out, key);
		fputs(": ", out);
		json_print_string(out, equals + 1);
		before = ", ";
		free(key);
	}
	if (*before == ',' && before[1] == ' ')
		putc('}', out);
}

static void print_sources(const struct profile *p, FILE *out)
{
	fputs("  \"files\": [", out);
	for (size_t i = 0; i < p->sources.count; i++) {
		const struct profile_source *s = &p->sources.items[i];

		fprintf(out, "%s\n    {\"path\": ", i ? "," : "");
		json_print_string(out, s->path);
		fputs(", \"program\": ", out);
		json_print_string(out, s->header.program);
		fprintf(out,
			", \"run\": \"%016" PRIx64 "\", \"pid\": %" PRIu32
			", \"closed\": %s, \"end\": \"%s\", \"heap\": %s,\n     ",
			s->header.run, s->header.pid, s->end == RECORDING_EXIT ? "true" : "false",
			recording_end_name(s->end), s->has_heap ? "true" : "false");
		fprintf(out,
			"\"parent_run\": \"%016" PRIx64 "\", \"inherited_allocations\": %" PRIu64
			", \"inherited_bytes\": %" PRIu64 ", \"inherited_live_bytes\": %" PRIu64 ",\n     ",
			s->header.parent_run, s->inherited_count, s->inherited_bytes, s->inherited_live_bytes);
		fprintf(out,
			"\"events\": %" PRIu64 ", \"heap_contexts\": %" PRIu64 ", \"uncommitted\": %" PRIu64
			", \"dropped_events\": %" PRIu64 ", \"dropped_prefixes\": %" PRIu64
			", \"dropped_code\": %" PRIu64 ", \"dropped_heap_calls\": %" PRIu64 ", \"drop_errno\": %" PRIu64
			", \"lost_children\": %" PRIu64 ",\n     ",
			s->event_count, s->heap_count, s->uncommitted, s->header.dropped_events,
			s->header.dropped_prefixes, s->header.dropped_code, s->header.dropped_heap_calls,
			s->header.drop_errno, s->header.lost_children);
		fprintf(out,
			"\"samples\": %" PRIu64 ", \"samples_unknown\": %" PRIu64 ", \"samples_in_agent\": %" PRIu64
			", \"samples_checked\": %" PRIu64 ", \"samples_agreed\": %" PRIu64
			", \"samples_unchecked\": %" PRIu64 ",\n     ",
			s->header.samples, s->header.samples_unknown, s->header.samples_in_agent,
			s->header.samples_checked, s->header.samples_agreed, s->header.samples_unchecked);
		fprintf(out,
			"\"heap_live_bytes\": %" PRIu64 ", \"heap_peak_bytes\": %" PRIu64
			", \"heap_unknown_frees\": %" PRIu64 ", \"heap_interval_bytes\": %" PRIu64
			", \"heap_cut\": %" PRIu64 ", \"heap_guessed\": %" PRIu64 ", \"truncated\": ",
			s->header.heap_live_bytes, s->header.heap_peak_bytes, s->header.heap_unknown_frees,
			s->header.heap_interval_bytes, s->header.heap_cut, s->header.heap_guessed);
		json_print_string(out, s->truncated);
		print_labels(s, out);
		putc('}', out);
	}
	fputs("\n  ],\n", out);
}

static void print_metrics(const struct view *v, FILE *out)
{
	const struct profile *p = v->profile;

	fputs("  \"metrics\": [", out);
	for (size_t i = 0; i < p->metrics.count; i++) {
		const struct metric *m = &p->metrics.items[i];

		fprintf(out, "%s\n    {\"name\": ", i ? "," : "");
		json_print_string(out, m->name);
		fprintf(out, ", \"unit\": \"%s\", \"merged\": \"%s\", \"is_estimate\": %s, \"total\": %" PRIu64 "}",
			metric_unit_name(m->unit), m->is_maximum ? "maximum" : "sum", m->is_estimate ? "true" : "false",
			m->total);
	}
	fputs("\n  ],\n  \"metric\": ", out);
	json_print_string(out, v->has_metric ? p->metrics.items[v->metric].name : NULL);
	fputs(",\n", out);
}

static void print_warnings(const struct profile *p, FILE *out)
{
	fputs("  \"warnings\": [", out);
	for (size_t i = 0; i < p->warnings.count; i++) {
		fprintf(out, "%s\n    {\"contexts\": %" PRIu64 ", \"text\": ", i ? "," : "",
			p->warnings.items[i].count);
		json_print_string(out, p->warnings.items[i].text);
		putc('}', out);
	}
	fprintf(out, "\n  ],\n  \"saturated_sums\": %" PRIu64 ",\n", p->saturated);
}

static struct error *print_label(const struct view *v, FILE *out)
{
	struct label_sums sums;
	struct error *err;

	if (!v->profile->group_label || !v->has_metric || v->profile->metrics.items[v->metric].is_maximum)
		return NULL;
	err = label_sums_create(v, &sums);
	if (err)
		return err;
	fputs("  \"group_by\": {\"label\": ", out);
	json_print_string(out, v->profile->group_label);
	fprintf(out, ", \"imbalance\": %.6g, \"values\": [", sums.imbalance);
	for (size_t i = 0; i < sums.count; i++) {
		fputs(i ? ",\n    {\"frame\": " : "\n    {\"frame\": ", out);
		json_print_string(out, sums.items[i].name);
		fprintf(out, ", \"value\": %" PRIu64 "}", sums.items[i].value);
	}
	fputs("\n  ]},\n", out);
	label_sums_deinit(&sums);
	return NULL;
}

static void print_frames(const struct profile *p, FILE *out)
{
	static const char *const flag_names[] = {"inlined", "foreign", "root", "tail", "elided"};

	fputs("  \"frames\": [", out);
	for (size_t i = 0; i < p->frames.count; i++) {
		const struct frame *f = &p->frames.items[i];

		fprintf(out, "%s\n    {\"name\": ", i ? "," : "");
		json_print_string(out, f->name);
		fputs(", \"link_name\": ", out);
		json_print_string(out, f->link_name);
		fputs(", \"file\": ", out);
		json_print_string(out, f->file);
		json_print_member(out, ", ", "image", f->image);
		fprintf(out, ", \"line\": %" PRIu32 ", \"column\": %" PRIu32 ", \"flags\": [", f->line, f->column);
		for (unsigned int bit = 0, is_next = 0; bit < sizeof flag_names / sizeof flag_names[0]; bit++)
			if (f->flags & 1u << bit)
				fprintf(out, "%s\"%s\"", is_next++ ? ", " : "", flag_names[bit]);
		fputs("]}", out);
	}
	fputs("\n  ],\n", out);
}

static struct error *print_contexts(const struct view *v, FILE *out)
{
	const struct profile *p = v->profile;
	uint64_t *values = calloc(p->metrics.count + 1, sizeof *values);
	uint32_t *path = NULL;
	size_t capacity = 0;

	if (!values)
		return &error_no_memory;
	fprintf(out, "  \"matching_contexts\": %zu,\n  \"contexts\": [", v->matching_rows);
	for (size_t i = 0; i < v->row_count; i++) {
		uint32_t node = v->rows[i].node;
		uint32_t depth = p->nodes.items[node].depth;

		if (depth > capacity) {
			uint32_t *grown = vec_grow(path, &capacity, depth, sizeof *path);

			if (!grown) {
				vec_free(path);
				free(values);
				return &error_no_memory;
			}
			path = grown;
		}
		for (; node; node = p->nodes.items[node].parent)
			path[p->nodes.items[node].depth - 1] = p->nodes.items[node].frame;
		fprintf(out, "%s\n    {\"frames\": [", i ? "," : "");
		for (uint32_t j = 0; j < depth; j++)
			fprintf(out, "%s%" PRIu32, j ? ", " : "", path[j]);
		fputs("], \"values\": [", out);
		view_values(v, &v->rows[i], values);
		for (size_t m = 0; m < p->metrics.count; m++)
			fprintf(out, "%s%" PRIu64, m ? ", " : "", values[m]);
		fputs("]}", out);
	}
	fputs("\n  ]\n", out);
	vec_free(path);
	free(values);
	return NULL;
}

struct error *render_json(const struct view *v, FILE *out)
{
	struct error *err = view_check_size(v, view_depths(v) * NUMBER_BYTES +
						       v->row_count * v->profile->metrics.count * NUMBER_BYTES);

	if (err)
		return err;
	fputs("{\n  \"format\": \"waymark-report\",\n  \"version\": 1,\n  \"producer\": ", out);
	json_print_string(out, v->producer);
	fputs(",\n", out);
	print_sources(v->profile, out);
	print_metrics(v, out);
	err = print_label(v, out);
	if (err)
		return err;
	print_warnings(v->profile, out);
	print_frames(v->profile, out);
	err = print_contexts(v, out);
	fputs("}\n", out);
	return err;
}
