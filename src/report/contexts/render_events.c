/*
 * render_events.c - the event log: every event of all files in the order of time, one a line. Times are UTC of each process's
 * own clocks; those of different machines are as good as their clocks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/order.h"
#include "base/plain_text.h"
#include "model/contexts/profile_notes.h"
#include "report/contexts/renderer.h"
#include "model/base/context_text.h"

static int compare_events(const void *left, const void *right)
{
	const struct profile_event *a = *(const struct profile_event *const *)left;
	const struct profile_event *b = *(const struct profile_event *const *)right;

	return compare_u64(a->realtime_ns, b->realtime_ns)
		       ?: compare_u64((uintptr_t)a, (uintptr_t)b); /* as they were recorded */
}

static void print_time(uint64_t realtime_ns, FILE *out)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	struct tm parts;
	char text[32];

	if (!gmtime_r(&seconds, &parts) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts))
		text[0] = '\0';
	fprintf(out, "%s.%09" PRIu64 "Z", text, realtime_ns % 1000000000);
}

/* Is it of a context that is wanted? */
static bool is_shown(const struct view *v, const struct profile_event *e)
{
	return !v->matching_nodes || v->matching_nodes[e->node];
}

static struct error *check_size(const struct view *v)
{
	const struct profile *p = v->profile;
	uint64_t *lengths, sum = 0;
	struct error *err = view_text_lengths(p, &lengths);

	if (err)
		return err;
	for (size_t i = 0; i < p->events.count; i++)
		if (is_shown(v, &p->events.items[i]))
			sum += lengths[p->events.items[i].node] + strlen(p->events.items[i].name);
	free(lengths);
	return view_check_size(v, sum);
}

struct error *render_events(const struct view *v, FILE *out)
{
	const struct profile *p = v->profile;
	const struct profile_event **order;
	struct frame_vec frames = {0};
	struct error *err = check_size(v);

	if (err)
		return err;
	order = calloc(p->events.count + 1, sizeof *order);
	if (!order)
		return &error_no_memory;
	for (size_t i = 0; i < p->events.count; i++)
		order[i] = &p->events.items[i];
	qsort(order, p->events.count, sizeof *order, compare_events);
	notes_print(v, "# ", out);
	for (size_t i = 0; i < p->events.count && !err; i++) {
		const struct profile_event *e = order[i];

		if (!is_shown(v, e))
			continue;
		err = view_frames(p, e->node, &frames);
		print_time(e->realtime_ns, out);
		fprintf(out, " %" PRIu32, e->tid);
		if (e->thread) {
			putc(':', out);
			plain_print_word(out, e->thread, ' ', '_'); /* a space would shift the columns */
		}
		putc(' ', out);
		plain_print_word(out, e->name, ' ', '_');
		fprintf(out, " %" PRIu64 " ", e->value);
		stack_print_folded(out, frames.items, frames.count);
		putc('\n', out);
	}
	free(order);
	frame_vec_deinit(&frames);
	return err;
}
