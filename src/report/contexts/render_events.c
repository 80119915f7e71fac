/*
 * render_events.c - the event log: every event of all files in the order of time, one a line. Times are UTC of each process's
 * own clocks; those of different machines are as good as their clocks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/plain_text.h"
#include "model/contexts/profile_notes.h"
#include "report/contexts/renderer.h"
#include "model/base/context_text.h"

static void print_time(uint64_t realtime_ns, FILE *out)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	struct tm parts;
	char text[32];

	if (!gmtime_r(&seconds, &parts) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts))
		text[0] = '\0';
	fprintf(out, "%s.%09" PRIu64 "Z", text, realtime_ns % 1000000000);
}

static void print_event(const struct view *v, const struct profile_event *e, const struct frame_vec *frames, FILE *out)
{
	print_time(e->realtime_ns, out);
	fprintf(out, " %" PRIu32, e->tid);
	if (e->thread) {
		putc(':', out);
		plain_print_word(out, e->thread, ' ', '_'); /* a space would shift the columns */
	}
	putc(' ', out);
	plain_print_word(out, v->profile->metrics.items[e->metric].name, ' ', '_');
	fprintf(out, " %" PRIu64 " ", e->value);
	stack_print_folded(out, frames->items, frames->count);
	putc('\n', out);
}

struct error *render_events(const struct view *v, FILE *out)
{
	const struct profile_event **events;
	size_t count;
	struct frame_vec frames = {0};
	struct error *err = view_events(v, &events, &count);

	if (err)
		return err;
	err = view_check_stacks(v, false, events, count);
	if (!err)
		notes_print(v, "# ", out);
	for (size_t i = 0; i < count && !err; i++) {
		err = view_frames(v->profile, events[i]->node, &frames);
		if (!err)
			print_event(v, events[i], &frames, out);
	}
	free(events);
	frame_vec_deinit(&frames);
	return err;
}
