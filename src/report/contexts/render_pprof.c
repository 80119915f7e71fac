/*
 * render_pprof.c - the format of pprof, by gzip as its readers expect it. All metrics that can be summed are sample types.
 *
 * A protocol buffer may be written in pieces: repeated fields of all pieces follow each other. So each sample is packed alone, and
 * memory is needed for the largest one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/plain_text.h"
#include "model/contexts/profile_notes.h"
#include "format/pprof.pb-c.h"
#include "report/contexts/renderer.h"
#include "report/gzip.h"

enum {
	NUMBER_BYTES = 4, /* in a sample, about */
};

struct writer {
	struct gzip gzip;
	struct hashmap strings; /* by pointer; "" is the first one */
	uint8_t *packed;
	size_t packed_capacity;
	struct error *err; /* the first one */
};

static void write_bytes(FILE *out, const uint8_t *bytes, size_t len_bytes)
{
	fwrite(bytes, 1, len_bytes, out);
}

/* Writes a piece of the profile. */
static void put(struct writer *w, const Pprof__Profile *piece)
{
	size_t len_bytes = pprof__profile__get_packed_size(piece);

	if (w->err)
		return;
	if (len_bytes > UINT32_MAX) {
		w->err = error_create(ERROR_OVERFLOW, "a context is too large for the format of pprof");
		return;
	}
	if (len_bytes > w->packed_capacity) {
		uint8_t *grown = vec_grow(w->packed, &w->packed_capacity, len_bytes, 1);

		if (!grown) {
			w->err = &error_no_memory;
			return;
		}
		w->packed = grown;
	}
	pprof__profile__pack(piece, w->packed);
	gzip_add(&w->gzip, w->packed, len_bytes);
}

/* A string is written where it is first asked for. It is interned or static: one pointer, one text. A protocol buffer's are UTF-8. */
static int64_t string_number(struct writer *w, const char *text)
{
	struct key key = {{(uintptr_t)text, 0, 0}};
	uint32_t before = w->strings.count, number;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	char *copy;

	if (!text || w->err)
		return 0;
	w->err = hashmap_add(&w->strings, &key, &number);
	if (w->err)
		return 0;
	if (number == before) {
		copy = strdup(text);
		if (!copy) {
			w->err = &error_no_memory;
			return 0;
		}
		plain_make(copy);
		piece.n_string_table = 1;
		piece.string_table = &copy;
		put(w, &piece);
		free(copy);
	}
	return (int64_t)number;
}

static bool is_shown(const struct metric *m)
{
	return m->total && !m->is_maximum;
}

static Pprof__ValueType value_type(struct writer *w, const char *name, enum metric_unit unit)
{
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;

	type.type = string_number(w, name);
	type.unit = string_number(w, unit == UNIT_BYTES ? "bytes" : unit == UNIT_TIME ? "nanoseconds" : "count");
	return type;
}

static void put_sample_types(struct writer *w, const struct view *v)
{
	for (uint32_t i = 0; i < v->profile->metrics.count; i++) {
		const struct metric *m = &v->profile->metrics.items[i];
		Pprof__Profile piece = PPROF__PROFILE__INIT;
		Pprof__ValueType type, *item = &type;

		if (!is_shown(m))
			continue;
		type = value_type(w, m->name, m->unit);
		piece.n_sample_type = 1;
		piece.sample_type = &item;
		put(w, &piece);
	}
}

/* The program, to which all locations belong: names and lines are complete. */
static void put_mapping(struct writer *w, const struct profile *p)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *item = &mapping;

	mapping.id = 1;
	if (p->sources.count && *p->sources.items[0].header.program)
		mapping.filename = string_number(w, p->sources.items[0].header.program);
	mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = mapping.has_inline_frames = true;
	piece.n_mapping = 1;
	piece.mapping = &item;
	put(w, &piece);
}

/* Functions by name and file, and a location for each frame, with the frame's number + 1. */
static void put_locations(struct writer *w, const struct profile *p)
{
	struct hashmap functions = {0};

	for (uint32_t i = 0; i < p->frames.count && !w->err; i++) {
		const struct frame *f = &p->frames.items[i];
		struct key key = {{(uintptr_t)f->name, (uintptr_t)f->link_name, (uintptr_t)f->file}};
		uint32_t before = functions.count, number;
		Pprof__Profile piece = PPROF__PROFILE__INIT;
		Pprof__Function function = PPROF__FUNCTION__INIT, *function_item = &function;
		Pprof__Location location = PPROF__LOCATION__INIT, *location_item = &location;
		Pprof__Line line = PPROF__LINE__INIT, *line_item = &line;

		w->err = hashmap_add(&functions, &key, &number);
		if (w->err)
			break;
		function.id = line.function_id = (uint64_t)number + 1;
		if (number == before) {
			function.name = string_number(w, f->name);
			function.system_name = string_number(w, f->link_name);
			function.filename = string_number(w, f->file);
			piece.n_function = 1;
			piece.function = &function_item;
		}
		line.line = f->line;
		line.column = f->column;
		location.id = (uint64_t)i + 1;
		location.mapping_id = 1;
		location.n_line = 1;
		location.line = &line_item;
		piece.n_location = 1;
		piece.location = &location_item;
		put(w, &piece);
	}
	hashmap_deinit(&functions);
}

/* What the pieces of a sample are put into: room for the deepest row, and for all metrics. */
struct scratch {
	uint64_t *locations;
	int64_t *values;
	uint64_t *all_values; /* of a row, as the view has them */
};

static struct error *scratch_create(const struct view *v, struct scratch *ret)
{
	uint32_t deepest = 0;

	for (size_t i = 0; i < v->row_count; i++)
		if (v->profile->nodes.items[v->rows[i].node].depth > deepest)
			deepest = v->profile->nodes.items[v->rows[i].node].depth;
	ret->locations = calloc((size_t)deepest + 1, sizeof *ret->locations);
	ret->values = calloc(v->profile->metrics.count + 1, sizeof *ret->values);
	ret->all_values = calloc(v->profile->metrics.count + 1, sizeof *ret->all_values);
	return ret->locations && ret->values && ret->all_values ? NULL : &error_no_memory;
}

static void scratch_deinit(struct scratch *s)
{
	free(s->locations);
	free(s->values);
	free(s->all_values);
}

static void put_sample(struct writer *w, const struct view *v, const struct view_row *row, struct scratch *s)
{
	const struct profile *p = v->profile;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *item = &sample;

	for (uint32_t n = row->node; n; n = p->nodes.items[n].parent)
		s->locations[sample.n_location_id++] = (uint64_t)p->nodes.items[n].frame + 1;
	view_values(v, row, s->all_values);
	for (uint32_t i = 0; i < p->metrics.count; i++)
		if (is_shown(&p->metrics.items[i]))
			s->values[sample.n_value++] =
				s->all_values[i] > INT64_MAX ? INT64_MAX : (int64_t)s->all_values[i];
	sample.location_id = s->locations;
	sample.value = s->values;
	piece.n_sample = 1;
	piece.sample = &item;
	put(w, &piece);
}

static void put_samples(struct writer *w, const struct view *v)
{
	struct scratch s = {0};
	struct error *err = scratch_create(v, &s);

	for (size_t i = 0; i < v->row_count && !err && !w->err; i++)
		put_sample(w, v, &v->rows[i], &s);
	w->err = w->err ?: err;
	scratch_deinit(&s);
}

/* What is lost is a comment, a line each (pprof -comments). */
static void put_comments(struct writer *w, const struct view *v)
{
	char *text, *rest;
	struct error *err = notes_text(v, "", &text);

	if (err) {
		w->err = w->err ?: err;
		return;
	}
	rest = text;
	for (char *line; !w->err && (line = strsep(&rest, "\n"));) {
		Pprof__Profile piece = PPROF__PROFILE__INIT;
		int64_t number =
			*line ? string_number(w, line) : 0; /* a pointer into text is as good as an interned one */

		if (!number)
			continue;
		piece.n_comment = 1;
		piece.comment = &number;
		put(w, &piece);
	}
	free(text);
}

/* When the first process began, and what a sample stands for. */
static void put_times(struct writer *w, const struct view *v)
{
	const struct profile *p = v->profile;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType type;
	uint64_t first = UINT64_MAX, period = 0, interval = 0;

	for (size_t i = 0; i < p->sources.count; i++) {
		const struct wmk_header *h = &p->sources.items[i].header;

		if (h->start_realtime_ns && h->start_realtime_ns < first)
			first = h->start_realtime_ns;
		period = h->sample_period_ns ?: period;
		interval = h->heap_interval_bytes ?: interval;
	}
	if (first <= INT64_MAX)
		piece.time_nanos = (int64_t)first;
	if (v->has_metric)
		piece.default_sample_type = string_number(w, p->metrics.items[v->metric].name);
	if ((period || interval) && (period ?: interval) <= INT64_MAX) {
		type = value_type(w, period ? "cpu" : "bytes", period ? UNIT_TIME : UNIT_BYTES);
		piece.period_type = &type;
		piece.period = (int64_t)(period ?: interval);
	}
	put(w, &piece);
}

/* A sample has its locations, and a value for each metric. */
static struct error *check_size(const struct view *v)
{
	return view_check_size(v, (view_depths(v) + v->row_count * v->profile->metrics.count) * NUMBER_BYTES);
}

struct error *render_pprof(const struct view *v, FILE *out)
{
	struct writer w = {0};
	struct error *err = check_size(v) ?: gzip_begin(&w.gzip, write_bytes, out);

	if (err)
		return err;
	string_number(&w, "");
	put_sample_types(&w, v);
	put_mapping(&w, v->profile);
	put_locations(&w, v->profile);
	put_samples(&w, v);
	put_times(&w, v);
	put_comments(&w, v); /* the last strings: their pointers are to memory that is used again */
	gzip_end(&w.gzip);
	hashmap_deinit(&w.strings);
	vec_free(w.packed);
	return w.err;
}
