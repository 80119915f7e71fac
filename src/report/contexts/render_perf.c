/*
 * render_perf.c - the text of `perf script`, for what reads it (FlameGraph's stackcollapse-perf.pl, Hotspot's and Firefox's importers): events
 * of the chosen metric in the order of time; what has no times, as the heap, a record a context. Frames have no addresses: 0 stands there.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_text.h"
#include "report/contexts/renderer.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void print_head(const struct view *v, const char *thread, uint32_t source, uint32_t tid, uint64_t time_ns,
		       uint64_t value, const char *event, FILE *out)
{
	const struct profile *p = v->profile;
	const struct wmk_header *h = source < p->sources.count ? &p->sources.items[source].header : NULL;

	plain_print(out, thread && *thread ? thread : h && *h->program ? base_name(h->program) : "unknown");
	fprintf(out, " %" PRIu32 "/%" PRIu32 " %" PRIu64 ".%09" PRIu64 ": %10" PRIu64 " ", h ? h->pid : 0, tid,
		time_ns / 1000000000, time_ns % 1000000000, value);
	plain_print_word(out, event, ' ', '_');
	fputs(":\n", out);
}

/* Innermost first, as perf does; an empty line ends it. */
static void print_frames(const struct view *v, uint32_t node, FILE *out)
{
	const struct profile *p = v->profile;

	for (; node; node = p->nodes.items[node].parent) {
		const struct frame *f = &p->frames.items[p->nodes.items[node].frame];

		/* Readers take off an offset, which names of functions without symbols look to have. */
		fputs("\t               0 ", out);
		plain_print(out, f->name);
		fprintf(out, "%s (%s)%s\n", *f->name == '[' ? "" : "+0x0",
			f->flags & FRAME_FOREIGN ? "[foreign]" : "[unknown]",
			f->flags & FRAME_INLINED ? " (inlined)" : "");
	}
	putc('\n', out);
}

struct error *render_perf(const struct view *v, FILE *out)
{
	const struct profile *p = v->profile;
	const struct profile_event **events;
	size_t count;
	struct error *err = view_metric_events(v, &events, &count);

	if (err)
		return err;
	err = view_check_stacks(v, true, events, count);
	for (size_t i = 0; i < count && !err; i++) {
		const struct profile_event *e = events[i];

		print_head(v, e->thread, e->source, e->tid, e->realtime_ns, view_event_value(v, e),
			   p->metrics.items[v->metric].name, out);
		print_frames(v, e->node, out);
	}
	for (size_t i = 0; i < v->row_count && !err && !count; i++) {
		uint32_t pid = p->sources.count ? p->sources.items[0].header.pid : 0;

		print_head(v, NULL, 0, pid, 0, v->rows[i].value, p->metrics.items[v->metric].name, out);
		print_frames(v, v->rows[i].node, out);
	}
	free(events);
	return err;
}
