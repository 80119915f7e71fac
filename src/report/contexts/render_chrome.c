/*
 * render_chrome.c - the Trace Event Format of Chrome, which https://ui.perfetto.dev opens: each event is an instant in its thread, with its
 * value and its context as arguments; the live bytes of a heap are a counter of its process.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "model/base/context_text.h"
#include "model/contexts/profile_notes.h"
#include "report/contexts/renderer.h"

/* Names of processes and threads. */
static void print_names(const struct view *v, const struct profile_event *const *events, size_t count, FILE *out)
{
	const struct profile *p = v->profile;
	struct hashmap named = {0};

	for (size_t i = 0; i < p->sources.count; i++) {
		const struct wmk_header *h = &p->sources.items[i].header;

		fprintf(out,
			"%s\n  {\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %" PRIu32 ", \"args\": {\"name\": ",
			i ? "," : "", h->pid);
		json_print_string(out, h->program);
		fputs("}}", out);
	}
	for (size_t i = 0; i < count; i++) {
		struct key key = {{events[i]->source, events[i]->tid, (uintptr_t)events[i]->thread}};
		uint32_t before = named.count, number;

		if (!events[i]->thread || hashmap_add(&named, &key, &number) || number != before)
			continue;
		fprintf(out,
			",\n  {\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %" PRIu32 ", \"tid\": %" PRIu32
			", \"args\": {\"name\": ",
			p->sources.items[events[i]->source].header.pid, events[i]->tid);
		json_print_string(out, events[i]->thread);
		fputs("}}", out);
	}
	hashmap_deinit(&named);
}

static struct error *print_stack(const struct view *v, uint32_t node, struct frame_vec *frames, FILE *out)
{
	char *text;
	struct error *err =
		view_frames(v->profile, node, frames) ?: stack_folded_text(frames->items, frames->count, &text);

	if (err)
		return err;
	json_print_string(out, text);
	free(text);
	return NULL;
}

static struct error *print_event(const struct view *v, const struct profile_event *e, uint64_t base_ns,
				 struct frame_vec *frames, FILE *out)
{
	const struct profile *p = v->profile;
	uint64_t ns = e->realtime_ns - base_ns;
	struct error *err;

	fputs(",\n  {\"name\": ", out);
	json_print_string(out, p->metrics.items[e->metric].name);
	fprintf(out,
		", \"ph\": \"i\", \"s\": \"t\", \"ts\": %" PRIu64 ".%03" PRIu64 ", \"pid\": %" PRIu32
		", \"tid\": %" PRIu32 ", \"args\": {\"value\": %" PRIu64 ", \"stack\": ",
		ns / 1000, ns % 1000, p->sources.items[e->source].header.pid, e->tid, e->value);
	err = print_stack(v, e->node, frames, out);
	fputs("}}", out);
	return err;
}

static void print_heap_time(const struct profile *p, const struct profile_heap_time *t, uint64_t base_ns, FILE *out)
{
	const struct wmk_header *h = &p->sources.items[t->source].header;
	uint64_t ns = h->start_realtime_ns + t->after_ns - base_ns;

	fprintf(out,
		",\n  {\"name\": \"heap\", \"ph\": \"C\", \"ts\": %" PRIu64 ".%03" PRIu64 ", \"pid\": %" PRIu32
		", \"args\": {\"live bytes\": %" PRIu64 "}}",
		ns / 1000, ns % 1000, h->pid, t->live);
}

/* Of the first event, and of the first number of the heap. */
static uint64_t first_time(const struct profile *p, const struct profile_event *const *events, size_t count)
{
	uint64_t first = count ? events[0]->realtime_ns : UINT64_MAX;

	for (size_t i = 0; i < p->heap_times.count; i++) {
		const struct profile_heap_time *t = &p->heap_times.items[i];
		uint64_t ns = p->sources.items[t->source].header.start_realtime_ns + t->after_ns;

		first = ns < first ? ns : first;
	}
	return first;
}

/* What is lost, in a string, a line each. */
static struct error *print_notes(const struct view *v, FILE *out)
{
	char *text;
	struct error *err = notes_text(v, "", &text);

	if (err)
		return err;
	json_print_member(out, ", ", "notes", text);
	free(text);
	return NULL;
}

struct error *render_chrome(const struct view *v, FILE *out)
{
	const struct profile_event **events;
	struct frame_vec frames = {0};
	uint64_t base_ns;
	size_t count;
	struct error *err = view_events(v, &events, &count);

	if (err)
		return err;
	base_ns = first_time(v->profile, events, count);
	err = view_check_stacks(v, false, events, count);
	if (!err) {
		fputs("{\"displayTimeUnit\": \"ns\", \"otherData\": {", out);
		json_print_member(out, "", "producer", v->producer);
		err = print_notes(v, out);
		fputs("}, \"traceEvents\": [", out);
		print_names(v, events, count, out);
	}
	for (size_t i = 0; i < count && !err; i++)
		err = print_event(v, events[i], base_ns, &frames, out);
	for (size_t i = 0; i < v->profile->heap_times.count && !err; i++)
		print_heap_time(v->profile, &v->profile->heap_times.items[i], base_ns, out);
	fputs("\n]}\n", out);
	free(events);
	frame_vec_deinit(&frames);
	return err;
}
