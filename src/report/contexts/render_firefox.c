/*
 * render_firefox.c - the processed profile format, version 60, of https://profiler.firefox.com (docs-developer/CHANGELOG-formats.md there):
 * events of the chosen metric by thread and time, each with what it adds to the metric as its weight; what has no times, as the heap,
 * one thread with a sample a context.
 *
 * All threads share the tables. A table is an object of columns of one length.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/json_writer.h"
#include "base/order.h"
#include "model/contexts/profile_notes.h"
#include "report/contexts/renderer.h"

enum {
	NUMBER_BYTES = 4, /* in a list of them, about */
	NODE_COLUMNS = 2,
	EVENT_COLUMNS = 4, /* a time has two numbers' digits */
	NS_PER_MS = 1000000,
};

struct tables {
	struct hashmap strings;   /* by pointer: names are interned */
	struct hashmap functions; /* by name and file */
	struct hashmap sources;   /* by file */
	uint32_t *function_of;    /* by frame */
};

static struct error *add_string(struct tables *t, const char *text)
{
	uint32_t number;

	return hashmap_add(&t->strings, &(struct key){{(uintptr_t)text, 0, 0}}, &number);
}

static struct error *fill_tables(const struct profile *p, struct tables *t)
{
	struct error *err = NULL;
	uint32_t number;

	t->function_of = calloc(p->frames.count + 1, sizeof *t->function_of);
	if (!t->function_of)
		return &error_no_memory;
	for (size_t i = 0; i < p->frames.count && !err; i++) {
		const struct frame *f = &p->frames.items[i];
		struct key key = {{(uintptr_t)f->name, (uintptr_t)f->file, 0}};

		err = hashmap_add(&t->functions, &key, &t->function_of[i]) ?: add_string(t, f->name);
		if (!err && f->file)
			err = add_string(t, f->file)
				      ?: hashmap_add(&t->sources, &(struct key){{(uintptr_t)f->file, 0, 0}}, &number);
	}
	return err;
}

static void tables_deinit(struct tables *t)
{
	hashmap_deinit(&t->strings);
	hashmap_deinit(&t->functions);
	hashmap_deinit(&t->sources);
	free(t->function_of);
}

static uint32_t number_of(const struct hashmap *map, uint64_t word)
{
	uint32_t number = 0;

	hashmap_find(map, &(struct key){{word, 0, 0}}, &number);
	return number;
}

/* A column in which every row has the same. */
static void print_same(FILE *out, const char *name, const char *value, size_t count)
{
	fprintf(out, ", \"%s\": [", name);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? "," : "", value);
	putc(']', out);
}

static void print_strings(const struct tables *t, FILE *out)
{
	fputs("\"stringArray\": [", out);
	for (uint32_t i = 0; i < t->strings.count; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		json_print_string(out, (const char *)(uintptr_t)t->strings.keys[i].words[0]);
	}
	fputs("]", out);
}

static void print_sources(const struct tables *t, FILE *out)
{
	uint32_t count = t->sources.count;

	fprintf(out, "\"sources\": {\"length\": %" PRIu32, count);
	print_same(out, "uuid", "null", count);
	fputs(", \"filename\": [", out);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "", number_of(&t->strings, t->sources.keys[i].words[0]));
	fputs("]}", out);
}

static void print_functions(const struct tables *t, FILE *out)
{
	uint32_t count = t->functions.count;

	fprintf(out, "\"funcTable\": {\"length\": %" PRIu32 ", \"name\": [", count);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "", number_of(&t->strings, t->functions.keys[i].words[0]));
	fputs("], \"source\": [", out);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t file = t->functions.keys[i].words[1];

		fputs(i ? "," : "", out);
		if (file)
			fprintf(out, "%" PRIu32, number_of(&t->sources, file));
		else
			fputs("null", out);
	}
	putc(']', out);
	print_same(out, "isJS", "false", count);
	print_same(out, "relevantForJS", "false", count);
	print_same(out, "resource", "-1", count);
	print_same(out, "lineNumber", "null", count);
	print_same(out, "columnNumber", "null", count);
	putc('}', out);
}

static void print_optional(FILE *out, size_t index, uint32_t number)
{
	fputs(index ? "," : "", out);
	if (number)
		fprintf(out, "%" PRIu32, number);
	else
		fputs("null", out);
}

static void print_frames(const struct profile *p, const struct tables *t, FILE *out)
{
	size_t count = p->frames.count;

	fprintf(out, "\"frameTable\": {\"length\": %zu, \"func\": [", count);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "", t->function_of[i]);
	fputs("], \"line\": [", out);
	for (size_t i = 0; i < count; i++)
		print_optional(out, i, p->frames.items[i].line);
	fputs("], \"column\": [", out);
	for (size_t i = 0; i < count; i++)
		print_optional(out, i, p->frames.items[i].line ? p->frames.items[i].column : 0);
	putc(']', out);
	print_same(out, "address", "-1", count);
	print_same(out, "inlineDepth", "0", count);
	print_same(out, "category", "0", count);
	print_same(out, "subcategory", "0", count);
	print_same(out, "nativeSymbol", "null", count);
	print_same(out, "innerWindowID", "null", count);
	putc('}', out);
}

/* The root of the tree is no stack. Others are in order: parents come before their children. */
static void print_stacks(const struct profile *p, FILE *out)
{
	size_t count = p->nodes.count - 1;

	fprintf(out, "\"stackTable\": {\"length\": %zu, \"frame\": [", count);
	for (size_t i = 1; i <= count; i++)
		fprintf(out, "%s%" PRIu32, i > 1 ? "," : "", p->nodes.items[i].frame);
	fputs("], \"prefix\": [", out);
	for (size_t i = 1; i <= count; i++) {
		fputs(i > 1 ? "," : "", out);
		if (p->nodes.items[i].parent)
			fprintf(out, "%" PRIu32, p->nodes.items[i].parent - 1);
		else
			fputs("null", out);
	}
	fputs("]}", out);
}

static void print_shared(const struct profile *p, const struct tables *t, FILE *out)
{
	fputs(" \"shared\": {", out);
	print_strings(t, out);
	fputs(",\n  ", out);
	print_sources(t, out);
	fputs(",\n  ", out);
	print_functions(t, out);
	fputs(",\n  ", out);
	print_frames(p, t, out);
	fputs(",\n  ", out);
	print_stacks(p, out);
	fputs(",\n  \"resourceTable\": {\"length\": 0, \"type\": [], \"lib\": [], \"name\": [], \"host\": []},\n"
	      "  \"nativeSymbols\": {\"length\": 0, \"libIndex\": [], \"address\": [], \"name\": [], \"functionSize\": []}},\n",
	      out);
}

/* ---- threads ---- */

static void print_ms(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%06" PRIu64, ns / NS_PER_MS, ns % NS_PER_MS);
}

static void print_weight(const struct view *v, uint64_t value, FILE *out)
{
	if (v->profile->metrics.items[v->metric].unit == UNIT_TIME)
		print_ms(out, value);
	else
		fprintf(out, "%" PRIu64, value);
}

static const char *weight_type(const struct view *v)
{
	enum metric_unit unit = v->has_metric ? v->profile->metrics.items[v->metric].unit : UNIT_COUNT;

	return unit == UNIT_TIME ? "tracing-ms" : unit == UNIT_BYTES ? "bytes" : "samples";
}

static void begin_thread(const struct view *v, uint32_t source, uint32_t tid, const char *name, bool is_main, FILE *out)
{
	const struct profile *p = v->profile;
	const struct wmk_header *h = source < p->sources.count ? &p->sources.items[source].header : NULL;

	fprintf(out,
		"\n  {\"processType\": \"default\", \"processStartupTime\": 0, \"processShutdownTime\": null, "
		"\"registerTime\": 0, \"unregisterTime\": null, \"pausedRanges\": [], \"isMainThread\": %s, "
		"\"pid\": \"%" PRIu32 "\", \"tid\": %" PRIu32,
		is_main ? "true" : "false", h ? h->pid : 0, tid);
	json_print_member(out, ", ", "name", name);
	json_print_member(out, ", ", "processName", h ? h->program : "");
	fputs(",\n   \"markers\": {\"length\": 0, \"data\": [], \"name\": [], \"startTime\": [], \"endTime\": [], \"phase\": [], "
	      "\"category\": []},\n   \"samples\": {",
	      out);
	json_print_member(out, "", "weightType", weight_type(v));
}

static void print_event_thread(const struct view *v, const struct profile_event *const *events, size_t count,
			       uint64_t base_ns, FILE *out)
{
	const struct profile_event *first = events[0];
	uint32_t pid = v->profile->sources.items[first->source].header.pid;
	const char *name = first->thread;
	char number[32];

	for (size_t i = 0; i < count; i++)
		name = events[i]->thread ?: name;
	snprintf(number, sizeof number, first->tid == pid ? "main thread" : "thread %" PRIu32, first->tid);
	begin_thread(v, first->source, first->tid, name ?: number, first->tid == pid, out);
	fprintf(out, ", \"length\": %zu, \"stack\": [", count);
	for (size_t i = 0; i < count; i++)
		if (events[i]->node)
			fprintf(out, "%s%" PRIu32, i ? "," : "", events[i]->node - 1);
		else
			fputs(i ? ",null" : "null", out);
	fputs("], \"time\": [", out);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? "," : "", out);
		print_ms(out, events[i]->realtime_ns - base_ns);
	}
	fputs("], \"weight\": [", out);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? "," : "", out);
		print_weight(v, view_event_value(v, events[i]), out);
	}
	fputs("]}}", out);
}

static int compare_threads(const void *left, const void *right)
{
	const struct profile_event *a = *(const struct profile_event *const *)left;
	const struct profile_event *b = *(const struct profile_event *const *)right;

	return compare_u64(a->source, b->source) ?: compare_u64(a->tid, b->tid)
		       ?: compare_u64(a->realtime_ns, b->realtime_ns) ?: compare_u64((uintptr_t)a, (uintptr_t)b);
}

static void print_event_threads(const struct view *v, const struct profile_event **events, size_t count, FILE *out)
{
	uint64_t base_ns = events[0]->realtime_ns;

	qsort(events, count, sizeof *events, compare_threads);
	for (size_t i = 0, first = 0; i < count; first = i) {
		for (; i < count && events[i]->source == events[first]->source && events[i]->tid == events[first]->tid;)
			i++;
		fputs(first ? "," : "", out);
		print_event_thread(v, events + first, i - first, base_ns, out);
	}
}

/* One sample a context, at times 0, 1, 2 … */
static void print_row_thread(const struct view *v, FILE *out)
{
	begin_thread(v, 0, 0, v->has_metric ? v->profile->metrics.items[v->metric].name : "nothing", true, out);
	fprintf(out, ", \"length\": %zu, \"stack\": [", v->row_count);
	for (size_t i = 0; i < v->row_count; i++)
		if (v->rows[i].node)
			fprintf(out, "%s%" PRIu32, i ? "," : "", v->rows[i].node - 1);
		else
			fputs(i ? ",null" : "null", out);
	fputs("], \"time\": [", out);
	for (size_t i = 0; i < v->row_count; i++)
		fprintf(out, "%s%zu", i ? "," : "", i);
	fputs("], \"weight\": [", out);
	for (size_t i = 0; i < v->row_count; i++) {
		fputs(i ? "," : "", out);
		print_weight(v, v->rows[i].value, out);
	}
	fputs("]}}", out);
}

static struct error *print_meta(const struct view *v, uint64_t start_ns, FILE *out)
{
	const struct profile *p = v->profile;
	uint64_t period_ns = p->sources.count ? p->sources.items[0].header.sample_period_ns : 0;
	char *text;
	struct error *err = notes_text(v, "", &text);

	if (err)
		return err;
	fputs("{\"meta\": {\"version\": 27, \"preprocessedProfileVersion\": 60, \"processType\": 0, \"stackwalk\": 1, "
	      "\"debug\": false, \"symbolicated\": true, \"markerSchema\": [], \"interval\": ",
	      out);
	print_ms(out, period_ns ?: NS_PER_MS);
	fputs(", \"startTime\": ", out);
	print_ms(out, start_ns);
	fputs(",\n  \"categories\": [{\"name\": \"Other\", \"color\": \"grey\", \"subcategories\": [\"Other\"]}], ",
	      out);
	json_print_member(out, "", "product", p->sources.count ? p->sources.items[0].header.program : "nothing");
	json_print_member(out, ", ", "importedFrom", v->producer);
	fputs(",\n  \"extra\": [{\"label\": \"Recording\", \"entries\": [{\"label\": \"Notes\", \"format\": \"string\", \"value\": ",
	      out);
	json_print_string(out, text);
	fputs("}]}]},\n \"libs\": [], \"pages\": [], \"counters\": [],\n", out);
	free(text);
	return NULL;
}

static struct error *check_size(const struct view *v, size_t events)
{
	return view_check_size(v, (v->profile->nodes.count * NODE_COLUMNS + (events + v->row_count) * EVENT_COLUMNS) *
					  NUMBER_BYTES);
}

struct error *render_firefox(const struct view *v, FILE *out)
{
	const struct profile_event **events;
	struct tables t = {0};
	size_t count;
	struct error *err = view_metric_events(v, &events, &count);

	if (err)
		return err;
	err = check_size(v, count) ?: fill_tables(v->profile, &t) ?:
	      print_meta(v, count ? events[0]->realtime_ns : 0, out);
	if (!err) {
		print_shared(v->profile, &t, out);
		fputs(" \"threads\": [", out);
		if (count)
			print_event_threads(v, events, count, out);
		else
			print_row_thread(v, out);
		fputs("\n ]}\n", out);
	}
	tables_deinit(&t);
	free(events);
	return err;
}
