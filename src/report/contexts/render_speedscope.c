/*
 * render_speedscope.c - the file format of https://www.speedscope.app: one sampled profile a metric that can be summed, a
 * sample a context, its number as weight. The chosen metric is the one that is shown first.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json_writer.h"
#include "model/contexts/profile_notes.h"
#include "report/contexts/renderer.h"

enum {
	NUMBER_BYTES = 4, /* in a list of them, about */
};

/* Frames by name and file: which call in a function it was would only split the viewer's boxes. Strings are interned. */
static struct error *merge_frames(const struct profile *p, struct hashmap *merged, uint32_t **ret)
{
	uint32_t *numbers = calloc(p->frames.count + 1, sizeof *numbers);
	struct error *err = numbers ? NULL : &error_no_memory;

	for (size_t i = 0; i < p->frames.count && !err; i++) {
		const struct frame *f = &p->frames.items[i];
		struct key key = {{(uintptr_t)f->name, (uintptr_t)f->file, 0}};

		err = hashmap_add(merged, &key, &numbers[i]);
	}
	if (err)
		free(numbers);
	else
		*ret = numbers;
	return err;
}

static void print_frames(const struct hashmap *merged, FILE *out)
{
	fputs("  \"shared\": {\"frames\": [", out);
	for (uint32_t i = 0; i < merged->count; i++) {
		const char *file = (const char *)(uintptr_t)merged->keys[i].words[1];

		fprintf(out, "%s\n    {\"name\": ", i ? "," : "");
		json_print_string(out, (const char *)(uintptr_t)merged->keys[i].words[0]);
		if (file) {
			fputs(", \"file\": ", out);
			json_print_string(out, file);
		}
		putc('}', out);
	}
	fputs("\n  ]},\n", out);
}

static struct error *print_sample(const struct profile *p, const uint32_t *numbers, uint32_t node, uint32_t **path,
				  size_t *capacity, FILE *out)
{
	uint32_t depth = p->nodes.items[node].depth;

	if (depth > *capacity) {
		uint32_t *grown = vec_grow(*path, capacity, depth, sizeof **path);

		if (!grown)
			return &error_no_memory;
		*path = grown;
	}
	for (; node; node = p->nodes.items[node].parent)
		(*path)[p->nodes.items[node].depth - 1] = numbers[p->nodes.items[node].frame];
	putc('[', out);
	for (uint32_t i = 0; i < depth; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "", (*path)[i]);
	putc(']', out);
	return NULL;
}

static struct error *print_profile(const struct view *v, const uint32_t *numbers, uint32_t metric, FILE *out)
{
	const struct profile *p = v->profile;
	const struct metric *m = &p->metrics.items[metric];
	char name[64]; /* of the heap's */
	uint32_t *path = NULL;
	size_t capacity = 0;
	uint64_t end = 0;
	struct error *err = NULL;

	fputs("    {\"type\": \"sampled\", \"name\": ", out);
	snprintf(name, sizeof name, "%s (estimated)", m->name);
	json_print_string(out, m->is_estimate ? name : m->name);
	fprintf(out, ", \"unit\": \"%s\",\n     \"samples\": [",
		m->unit == UNIT_BYTES  ? "bytes"
		: m->unit == UNIT_TIME ? "nanoseconds"
				       : "none");
	for (size_t i = 0, is_next = 0; i < v->row_count && !err; i++) {
		if (!view_value(v, &v->rows[i], metric))
			continue;
		fputs(is_next++ ? ",\n      " : "\n      ", out);
		err = print_sample(p, numbers, v->rows[i].node, &path, &capacity, out);
	}
	fputs("],\n     \"weights\": [", out);
	for (size_t i = 0, is_next = 0; i < v->row_count; i++) {
		uint64_t value = view_value(v, &v->rows[i], metric);

		if (!value)
			continue;
		fprintf(out, "%s%" PRIu64, is_next++ ? ", " : "", value);
		if (__builtin_add_overflow(end, value, &end))
			end = UINT64_MAX;
	}
	fprintf(out, "],\n     \"startValue\": 0, \"endValue\": %" PRIu64 "}", end);
	vec_free(path);
	return err;
}

/* Losses go into the name, which the viewer shows. */
static struct error *print_name(const struct view *v, FILE *out)
{
	const struct profile *p = v->profile;
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return &error_no_memory;
	fputs(p->sources.count ? p->sources.items[0].header.program : "nothing", memory);
	if (p->sources.count > 1)
		fprintf(memory, " and %zu more", p->sources.count - 1);
	notes_print(v, " | ", memory);
	if (fclose(memory) != 0 || !text) {
		free(text);
		return &error_no_memory;
	}
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ' ';
	fputs("  \"name\": ", out);
	json_print_string(out, text);
	fputs(",\n", out);
	free(text);
	return NULL;
}

static struct error *print_profiles(const struct view *v, const uint32_t *numbers, FILE *out)
{
	const struct profile *p = v->profile;
	uint32_t active = 0, count = 0;
	struct error *err = NULL;

	fputs("  \"profiles\": [\n", out);
	for (uint32_t i = 0; i < p->metrics.count && !err; i++) {
		if (!p->metrics.items[i].total || p->metrics.items[i].is_maximum)
			continue;
		if (i == v->metric)
			active = count;
		if (count++)
			fputs(",\n", out);
		err = print_profile(v, numbers, i, out);
	}
	fprintf(out, "\n  ],\n  \"activeProfileIndex\": %" PRIu32 "\n}\n", active);
	return err;
}

/* A sample has its frames and its weight in the profile of each metric that it has. Metrics that it lacks take time only. */
static struct error *check_size(const struct view *v)
{
	const struct profile *p = v->profile;
	uint64_t sum = v->row_count * p->metrics.count;

	for (size_t i = 0; i < v->row_count; i++) {
		const struct view_row *row = &v->rows[i];
		uint64_t metrics = 0;

		for (uint32_t c = 0; c < row->cell_count; c++)
			metrics += p->metrics.items[p->cells.items[v->cells[row->first_cell + c]].group].group_size;
		sum += metrics * ((uint64_t)p->nodes.items[row->node].depth + 1) * NUMBER_BYTES;
	}
	return view_check_size(v, sum);
}

struct error *render_speedscope(const struct view *v, FILE *out)
{
	struct hashmap merged = {0};
	uint32_t *numbers = NULL;
	struct error *err = check_size(v) ?: merge_frames(v->profile, &merged, &numbers);

	if (err)
		return err;
	fputs("{\n  \"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n  \"exporter\": ", out);
	json_print_string(out, v->producer);
	fputs(",\n", out);
	err = print_name(v, out);
	if (!err) {
		print_frames(&merged, out);
		err = print_profiles(v, numbers, out);
	}
	hashmap_deinit(&merged);
	free(numbers);
	return err;
}
