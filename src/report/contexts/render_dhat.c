/*
 * render_dhat.c - the format of Valgrind's DHAT, version 2, for its viewer dh_view.html: each context with its bytes and blocks, those that were
 * allocated or, with --metric=live, those that were not freed. A recording has no life times of blocks: the
 * viewer shows none. Its unit of time is a byte that was allocated, as massif's with --time-unit=B.
 */
#include <inttypes.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/plain_text.h"
#include "report/contexts/renderer.h"

enum {
	NUMBER_BYTES = 4, /* in a list of them, about */
};

/* What the viewer says of the numbers, and the metrics that have them. */
struct subject {
	const char *verb;
	const char *bytes;
	const char *blocks;
};

static const struct subject subjects[] = {
	{"Allocated", "bytes", "allocations"},
	{"Not freed", "live", "live-allocations"},
};

static bool find_metric(const struct profile *p, const char *name, uint32_t *ret)
{
	return profile_find_metric(p, name, ret) && p->metrics.items[*ret].unit <= UNIT_BYTES;
}

static const struct subject *find_subject(const struct view *v, uint32_t *ret_bytes, uint32_t *ret_blocks)
{
	const char *metric = v->has_metric ? v->profile->metrics.items[v->metric].name : "";

	for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
		const struct subject *s = &subjects[i];

		if ((strcmp(metric, s->bytes) == 0 || strcmp(metric, s->blocks) == 0) &&
		    find_metric(v->profile, s->bytes, ret_bytes) && find_metric(v->profile, s->blocks, ret_blocks))
			return s;
	}
	return NULL;
}

static void print_frame(const struct frame *f, FILE *out)
{
	char place[32] = "";

	fputs(",\n    ", out);
	if (f->line)
		snprintf(place, sizeof place, ":%" PRIu32, f->line);
	json_print_joined(out, f->file ? (const char *const[]){f->name, " (", f->file, place, ")", NULL}
				       : (const char *const[]){f->name, NULL});
}

static void print_point(const struct view *v, const struct view_row *row, uint64_t bytes, uint64_t blocks, FILE *out)
{
	const struct profile *p = v->profile;

	fprintf(out, "{\"tb\": %" PRIu64 ", \"tbk\": %" PRIu64 ", \"fs\": [", bytes, blocks);
	for (uint32_t n = row->node; n; n = p->nodes.items[n].parent)
		fprintf(out, "%s%" PRIu32, n == row->node ? "" : ", ", p->nodes.items[n].frame + 1);
	fputs("]}", out);
}

struct error *render_dhat(const struct view *v, FILE *out)
{
	const struct profile *p = v->profile;
	const struct profile_source *first = p->sources.count ? &p->sources.items[0] : NULL;
	uint32_t bytes = 0, blocks = 0, allocated;
	const struct subject *subject = find_subject(v, &bytes, &blocks);
	const char *separator = "\n    ";
	struct error *err = view_check_size(v, (view_depths(v) + v->row_count * 2) * NUMBER_BYTES);

	if (err)
		return err;
	if (!subject)
		return error_create(
			ERROR_ARGUMENT,
			"dhat shows the heap, of which nothing is recorded here, by --metric=bytes or =live");
	fprintf(out,
		"{\"dhatFileVersion\": 2, \"mode\": \"waymark\", \"verb\": \"%s\", \"bklt\": false, \"bkacc\": false,\n",
		subject->verb);
	fprintf(out, " \"tu\": \"bytes\", \"Mtu\": \"MB\", \"te\": %" PRIu64 ", \"pid\": %" PRIu32 ", \"cmd\": ",
		p->metrics.items[profile_find_metric(p, "bytes", &allocated) ? allocated : bytes].total,
		first ? first->header.pid : 0);
	json_print_string(out, first ? first->header.program : "");
	fputs(",\n \"pps\": [", out);
	for (size_t i = 0; i < v->row_count; i++) {
		const struct view_row *row = &v->rows[i];
		uint64_t row_bytes = view_value(v, row, bytes), row_blocks = view_value(v, row, blocks);

		if (!row_blocks)
			continue;
		fputs(separator, out);
		separator = ",\n    ";
		print_point(v, row, row_bytes, row_blocks, out);
	}
	fputs("\n ],\n \"ftbl\": [\n    \"[root]\"", out);
	for (size_t i = 0; i < p->frames.count; i++)
		print_frame(&p->frames.items[i], out);
	fputs("\n ]\n}\n", out);
	return NULL;
}
