/*
 * histogram.c - sizes of allocations, or life times of blocks: of all contexts that are shown, then of each of the first ones. As lines with bars, and
 * as JSON, which docs/format.md describes.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json_writer.h"
#include "base/number_text.h"
#include "base/sum.h"
#include "model/base/context_text.h"
#include "report/contexts/renderer.h"

enum {
	BAR_CHARACTERS = 30,
	PRINTED_BYTES = 40, /* of a class, about */
};

static const uint32_t NONE = UINT32_MAX;

/* The metrics of the classes, by class; NONE: the profile has nothing there. */
struct histogram {
	const struct view *v;
	enum heap_class_kind kind;
	uint32_t count;
	uint32_t metrics[HEAP_SIZES];
	uint32_t live;    /* the metric of blocks that were not freed */
	uint64_t *sums;   /* by metric, of all rows */
	uint64_t *values; /* of one row */
};

static struct error *histogram_init(const struct view *v, enum heap_class_kind kind, struct histogram *ret)
{
	const struct profile *p = v->profile;
	struct histogram h = {.v = v, .kind = kind, .count = heap_class_count(kind)};

	for (uint32_t i = 0; i < h.count; i++)
		if (!heap_class_metric(p, kind, i, &h.metrics[i]))
			h.metrics[i] = NONE;
	if (!profile_find_metric(p, "live-allocations", &h.live))
		return error_create(ERROR_NOT_FOUND, "no heap was recorded: waymark run --heap records it");
	h.sums = calloc(p->metrics.count + 1, sizeof *h.sums);
	h.values = calloc(p->metrics.count + 1, sizeof *h.values);
	if (!h.sums || !h.values) {
		free(h.sums);
		free(h.values);
		return &error_no_memory;
	}
	for (size_t i = 0; i < v->row_count; i++) {
		view_values(v, &v->rows[i], h.values);
		for (size_t m = 0; m < p->metrics.count; m++)
			h.sums[m] = sum_limited(h.sums[m], h.values[m]);
	}
	*ret = h;
	return NULL;
}

static void histogram_deinit(struct histogram *h)
{
	free(h->sums);
	free(h->values);
}

/* Behind the metric of a class is that of its bytes. */
static bool has_bytes(const struct histogram *h)
{
	return h->kind == HEAP_CLASS_SIZE;
}

static uint64_t value_at(const struct histogram *h, const uint64_t *values, uint32_t index)
{
	return h->metrics[index] == NONE ? 0 : values[h->metrics[index]];
}

static uint64_t sum_of(const struct histogram *h, const uint64_t *values)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < h->count; i++)
		sum = sum_limited(sum, value_at(h, values, i));
	return sum;
}

/* The class that the middle one of all is in. */
static uint32_t median_of(const struct histogram *h, const uint64_t *values)
{
	uint64_t left = sum_of(h, values) / 2;
	uint32_t i = 0;

	for (; i + 1 < h->count && value_at(h, values, i) <= left; i++)
		left -= value_at(h, values, i);
	return i;
}

/* The rows that are listed: those with the largest values of the view's metric come first. */
static size_t rows_shown(const struct histogram *h, size_t top)
{
	return top && top < h->v->row_count ? top : h->v->row_count;
}

static const struct metric *metric_at(const struct histogram *h, uint32_t index)
{
	return &h->v->profile->metrics.items[h->metrics[index]];
}

/* ---- text ---- */

/* "16 to 31", "0", "268,435,456 or more". */
static const char *range_text(struct heap_class c, char *buf, size_t size)
{
	char least[DIGITS_MAX], most[DIGITS_MAX];

	if (c.least == c.most)
		snprintf(buf, size, "%s", digits_grouped(c.least, least));
	else if (c.most == UINT64_MAX)
		snprintf(buf, size, "%s or more", digits_grouped(c.least, least));
	else
		snprintf(buf, size, "%s to %s", digits_grouped(c.least, least), digits_grouped(c.most, most));
	return buf;
}

static void print_share(uint64_t value, uint64_t whole, const struct metric *m, FILE *out)
{
	char number[METRIC_TEXT_MAX], percent[DIGITS_MAX];

	fprintf(out, "  %16s  %8s", metric_number(m, value, number), digits_percent(value, whole, percent));
}

static uint64_t bytes_sum(const struct histogram *h)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < h->count; i++)
		if (h->metrics[i] != NONE)
			sum = sum_limited(sum, h->sums[h->metrics[i] + 1]);
	return sum;
}

/* A line for each class between the first and the last one that have something. */
static void print_classes(const struct histogram *h, FILE *out)
{
	uint64_t all = sum_of(h, h->sums), most = 0, bytes = has_bytes(h) ? bytes_sum(h) : 0;
	uint32_t first = 0, end = h->count;

	while (first < end && !value_at(h, h->sums, first))
		first++;
	while (end > first && !value_at(h, h->sums, end - 1))
		end--;
	for (uint32_t i = first; i < end; i++)
		most = value_at(h, h->sums, i) > most ? value_at(h, h->sums, i) : most;
	for (uint32_t i = first; i < end; i++) {
		uint64_t value = value_at(h, h->sums, i);
		char text[2 * DIGITS_MAX + 8];

		fprintf(out, "  %24s", range_text(heap_class_at(h->kind, i), text, sizeof text));
		if (h->metrics[i] == NONE) {
			fputs("                 0     0.0 %\n", out);
			continue;
		}
		print_share(value, all, metric_at(h, i), out);
		if (has_bytes(h))
			print_share(h->sums[h->metrics[i] + 1], bytes, metric_at(h, i) + 1, out);
		text_print_bar(value, most, "  ", BAR_CHARACTERS, out);
		putc('\n', out);
	}
}

static bool is_sampled(const struct profile *p)
{
	for (size_t i = 0; i < p->sources.count; i++)
		if (p->sources.items[i].header.heap_interval_bytes)
			return true;
	return false;
}

static void print_heading(const struct histogram *h, FILE *out)
{
	bool is_size = h->kind == HEAP_CLASS_SIZE;
	char number[DIGITS_MAX];

	fputs(is_size ? "\nSizes of allocations, in bytes"
		      : "\nLife times of freed blocks, in allocations of the process between the block's own and its free",
	      out);
	if (h->v->is_filtered)
		fputs(", in contexts of the chosen functions", out);
	if (!is_size && !sum_of(h, h->sums) && is_sampled(h->v->profile))
		fputs("; life times are not known, since allocations were sampled", out);
	if (is_size)
		fprintf(out, "\n\n  %24s  %16s            %16s\n", "size", "allocations", "bytes");
	else
		fprintf(out, "; %s not freed\n\n  %24s  %16s\n", digits_grouped(h->sums[h->live], number), "lived",
			"blocks");
}

static void print_row(const struct histogram *h, const struct view_row *row, FILE *out)
{
	const struct metric *m = &h->v->profile->metrics.items[h->v->metric];
	char number[METRIC_TEXT_MAX], text[2 * DIGITS_MAX + 8];
	const char *before = ": ";

	fprintf(out, "%s %s", metric_number(m, row->value, number), m->name);
	if (h->kind == HEAP_CLASS_LIFE && sum_of(h, h->values))
		fprintf(out, ", median life time %s",
			range_text(heap_class_at(h->kind, median_of(h, h->values)), text, sizeof text));
	for (uint32_t i = 0; i < h->count; i++) {
		if (!value_at(h, h->values, i))
			continue;
		fprintf(out, "%s%s of %s", before, metric_number(metric_at(h, i), value_at(h, h->values, i), number),
			range_text(heap_class_at(h->kind, i), text, sizeof text));
		before = ", ";
	}
	if (h->kind == HEAP_CLASS_LIFE && h->values[h->live])
		fprintf(out, "; %s not freed", digits_grouped(h->values[h->live], number));
	putc('\n', out);
}

static struct error *print_rows(struct histogram *h, size_t top, FILE *out)
{
	struct frame_vec frames = {0};
	size_t count = rows_shown(h, top);
	struct error *err = NULL;

	fprintf(out, "\nContexts by %s: %zu", h->v->profile->metrics.items[h->v->metric].name, count);
	if (count < h->v->row_count)
		fprintf(out, " of %zu", h->v->row_count);
	putc('\n', out);
	for (size_t i = 0; i < count && !err; i++) {
		putc('\n', out);
		view_values(h->v, &h->v->rows[i], h->values);
		print_row(h, &h->v->rows[i], out);
		err = view_frames(h->v->profile, h->v->rows[i].node, &frames);
		if (!err)
			stack_print_lines(out, "    ", frames.items, frames.count, h->v->is_coloured);
	}
	frame_vec_deinit(&frames);
	return err;
}

struct error *render_histogram_text(const struct view *v, enum heap_class_kind kind, size_t top, FILE *out)
{
	struct histogram h;
	struct error *err;

	if (!text_print_head(v, out))
		return NULL;
	err = histogram_init(v, kind, &h);
	if (err)
		return err;
	print_heading(&h, out);
	print_classes(&h, out);
	err = view_check_size(v, view_depths(v)) ?: print_rows(&h, top, out);
	histogram_deinit(&h);
	return err;
}

/* ---- JSON ---- */

static void print_json_classes(const struct histogram *h, const uint64_t *values, FILE *out)
{
	const char *before = "";

	fputs("\"classes\": [", out);
	for (uint32_t i = 0; i < h->count; i++) {
		struct heap_class c = heap_class_at(h->kind, i);

		if (!value_at(h, values, i))
			continue;
		fprintf(out, "%s{\"least\": %" PRIu64 ", \"most\": ", before, c.least);
		if (c.most == UINT64_MAX)
			fputs("null", out);
		else
			fprintf(out, "%" PRIu64, c.most);
		fprintf(out, ", \"blocks\": %" PRIu64, value_at(h, values, i));
		if (has_bytes(h))
			fprintf(out, ", \"bytes\": %" PRIu64, values[h->metrics[i] + 1]);
		putc('}', out);
		before = ", ";
	}
	putc(']', out);
	if (h->kind == HEAP_CLASS_LIFE)
		fprintf(out, ", \"not_freed\": %" PRIu64, values[h->live]);
}

static struct error *print_json_rows(struct histogram *h, size_t top, FILE *out)
{
	struct frame_vec frames = {0};
	size_t count = rows_shown(h, top);
	struct error *err = NULL;

	for (size_t i = 0; i < count && !err; i++) {
		fprintf(out, "%s\n    {\"value\": %" PRIu64 ", ", i ? "," : "", h->v->rows[i].value);
		view_values(h->v, &h->v->rows[i], h->values);
		print_json_classes(h, h->values, out);
		fputs(", \"functions\": [", out);
		err = view_frames(h->v->profile, h->v->rows[i].node, &frames);
		for (size_t j = 0; j < frames.count && !err; j++) {
			fputs(j ? ", " : "", out);
			json_print_string(out, frames.items[j].name);
		}
		fputs("]}", out);
	}
	frame_vec_deinit(&frames);
	return err;
}

struct error *render_histogram_json(const struct view *v, enum heap_class_kind kind, size_t top, FILE *out)
{
	struct histogram h;
	struct error *err = view_check_stacks(v, true, NULL, 0)
				    ?: view_check_size(v, v->row_count * PRINTED_BYTES)
				    ?: histogram_init(v, kind, &h);

	if (err)
		return err;
	fputs("{\n  \"format\": \"waymark-histogram\",\n  \"version\": 1,\n  \"producer\": ", out);
	json_print_string(out, v->producer);
	json_print_member(out, ",\n  ", "of", kind == HEAP_CLASS_SIZE ? "sizes" : "lifetimes");
	json_print_member(out, ",\n  ", "unit", kind == HEAP_CLASS_SIZE ? "bytes" : "allocations");
	json_print_member(out, ",\n  ", "metric", v->profile->metrics.items[v->metric].name);
	fputs(",\n  ", out);
	print_json_classes(&h, h.sums, out);
	fprintf(out, ",\n  \"all_contexts\": %zu,\n  \"contexts\": [", v->row_count);
	err = print_json_rows(&h, top, out);
	fputs("\n  ]\n}\n", out);
	histogram_deinit(&h);
	return err;
}
