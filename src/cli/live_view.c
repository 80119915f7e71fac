/*
 * live_view.c - reads the recordings anew each time: they are whole at any instant. Programs and libraries, and their names, are read once.
 * Reading takes a fifth of the time at most.
 */
#include "cli/live_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/plain_text.h"
#include "cli/message.h"
#include "cli/profile_reading.h"
#include "cli/terminal.h"
#include "report/contexts/renderer.h"

enum {
	ROWS_OFF_SCREEN = 24,
	ROWS_AROUND = 9, /* of the title, headings and blank lines */
	ROWS_MIN = 2,
};

static const double reading_share = 4; /* at least so many times what reading took is waited */

struct live {
	const char *command;
	const struct live_options *options;
	const struct live_source *source;
	struct terminal terminal;
	struct profile_reading reading;
	size_t next_metric; /* how often the user has asked for another one */
	bool is_by_total;
};

static double seconds_of(clockid_t clock)
{
	struct timespec ts = {0};

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- one picture ---- */

static void print_title(const struct live *l, const struct profile *p, FILE *out)
{
	char number[DIGITS_MAX];

	fputs(l->terminal.is_coloured ? "\033[1mwaymark\033[0m: " : "waymark: ", out);
	plain_print(out, l->source->title);
	for (size_t i = 0; i < p->sources.count; i++) {
		const struct profile_source *s = &p->sources.items[i];

		if (p->sources.count > 1 && !s->has_heap)
			continue;
		fputs(i ? "\n  " : "; ", out);
		plain_print(out, s->header.program);
		fprintf(out, ", pid %" PRIu32, s->header.pid);
		if (s->has_heap)
			fprintf(out, ", %s live bytes", digits_grouped(s->header.heap_live_bytes, number));
		if (s->has_heap)
			fprintf(out, ", %s at most", digits_grouped(s->header.heap_peak_bytes, number));
	}
	putc('\n', out);
	if (l->terminal.has_keys)
		fputs("q quit, m next metric, t sort functions by total or self\n", out);
}

/* One a line: its number, its share, and its functions from the innermost one on. */
static struct error *print_contexts(const struct view *v, size_t rows, FILE *out)
{
	const struct metric *m = &v->profile->metrics.items[v->metric];
	struct frame_vec frames = {0};
	struct error *err = NULL;

	fputs("\nContexts, from the innermost function\n\n", out);
	for (size_t i = 0; i < v->row_count && i < rows && !err; i++) {
		char number[METRIC_TEXT_MAX], percent[DIGITS_MAX];

		err = view_frames(v->profile, v->rows[i].node, &frames);
		if (err)
			break;
		fprintf(out, "  %14s  %8s  ", metric_number(m, v->rows[i].value, number),
			digits_percent(v->rows[i].value, m->total, percent));
		for (size_t f = frames.count; f; f--) {
			plain_print(out, frames.items[f - 1].name);
			fputs(f > 1 ? " < " : "\n", out);
		}
	}
	frame_vec_deinit(&frames);
	return err;
}

static struct error *print_functions(const struct live *l, const struct view *v, size_t rows, FILE *out)
{
	const struct table_options options = {.kind = word_table_find(&table_kinds, "function"),
					      .order = l->is_by_total ? TABLE_BY_TOTAL : TABLE_BY_SELF,
					      .top = rows};
	struct table t;
	struct error *err = table_create(v, &options, &t);

	if (err)
		return err;
	table_print(v, &t, out);
	table_deinit(&t);
	return NULL;
}

/* The metric that the user wants; of others the one that comes so often behind that. */
static const char *metric_of(const struct live *l, const struct profile *p)
{
	const char *first = l->options->metric;
	uint32_t at = 0;

	for (size_t i = 0; i < p->sources.count && !first; i++)
		if (p->sources.items[i].has_heap)
			first = "live";
	if (!l->next_metric || !p->metrics.count)
		return first;
	if (first)
		profile_find_metric(p, first, &at);
	return p->metrics.items[(at + l->next_metric) % p->metrics.count].name;
}

/* What the user wants may not have happened yet. */
static bool is_there(const struct profile *p, const char *metric)
{
	uint32_t number;

	return p->metrics.count && (!metric || profile_find_metric(p, metric, &number));
}

static struct error *print_picture(const struct live *l, const struct profile *p, FILE *out)
{
	const char *metric = metric_of(l, p);
	struct view_options options = {.metric = metric, .adds_up = true, .is_coloured = l->terminal.is_coloured};
	size_t all = l->terminal.is_screen ? l->terminal.rows : ROWS_OFF_SCREEN;
	size_t rows = all > ROWS_AROUND + 2 * ROWS_MIN ? (all - ROWS_AROUND) / 2 : ROWS_MIN;
	struct view v;
	struct error *err;

	print_title(l, p, out);
	if (!is_there(p, metric)) {
		fprintf(out, "\nNothing was recorded%s.\n", l->options->window > 0 ? " in this time" : " yet");
		return NULL;
	}
	err = view_create(p, &options, "waymark " WAYMARK_VERSION, &v);
	if (err)
		return err;
	err = print_functions(l, &v, rows, out) ?: print_contexts(&v, rows, out);
	view_deinit(&v);
	return err;
}

/* ---- reading ---- */

/* Of the heap there are sums over all times. */
static bool has_heap(const struct recording_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		struct wmk_header header;

		if (recording_header(paths->items[i], &header) && header.flags & WMK_FLAG_HEAP)
			return true;
	}
	return false;
}

/* Events of the last seconds, which --time counts from the start of the first recording. */
static void set_window(struct live *l, const struct recording_paths *paths)
{
	uint64_t first = UINT64_MAX;
	double past;

	l->reading.has_time = false;
	if (l->options->window <= 0 || has_heap(paths))
		return;
	for (size_t i = 0; i < paths->count; i++) {
		struct wmk_header header;

		if (recording_header(paths->items[i], &header) && header.start_realtime_ns < first)
			first = header.start_realtime_ns;
	}
	past = seconds_of(CLOCK_REALTIME) - (double)first / 1e9 - l->options->window;
	l->reading.has_time = true;
	l->reading.time.from_ns = past > 0 ? (uint64_t)(past * 1e9) : 0;
	l->reading.time.to_ns = UINT64_MAX;
}

static struct error *read_profile(struct live *l, struct profile *p)
{
	struct recording_paths paths = {0};
	struct error *err = l->source->find(l->source->data, &paths);

	if (!err && paths.count) {
		set_window(l, &paths);
		err = recording_paths_append(&paths, NULL);
		if (!err)
			err = profile_reading_add(&l->reading, l->command, paths.items, p);
		paths.count -= !err;
	}
	recording_paths_free(&paths);
	return err;
}

static struct error *show(struct live *l)
{
	struct profile p;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct error *err = out ? profile_init(&p) : &error_no_memory;

	if (!out || err) {
		if (out)
			fclose(out);
		free(text);
		return err;
	}
	err = read_profile(l, &p);
	if (!err)
		err = print_picture(l, &p, out);
	profile_deinit(&p);
	if (fclose(out) != 0 && !err)
		err = &error_no_memory;
	if (!err)
		terminal_draw(&l->terminal, text);
	free(text);
	return err;
}

/* ---- the loop ---- */

/* Waits for the next picture. False: the user has had enough. */
static bool wait_for_next(struct live *l, double seconds)
{
	char key = 0;

	switch (terminal_wait(&l->terminal, seconds, &key)) {
	case TERMINAL_END:
		return false;
	case TERMINAL_SIZE:
		terminal_measure(&l->terminal);
		break;
	case TERMINAL_KEY:
		if (key == 'q' || key == 'Q' || key == '\033')
			return false;
		l->next_metric += key == 'm';
		l->is_by_total ^= key == 't';
		break;
	case TERMINAL_TIME:
		break;
	}
	return true;
}

static struct error *loop(struct live *l)
{
	struct error *err = NULL;

	for (size_t i = 0; !err; i++) {
		bool has_ended = l->source->has_ended(l->source->data);
		double before = seconds_of(CLOCK_MONOTONIC), took, wait = l->options->interval;

		err = show(l);
		took = seconds_of(CLOCK_MONOTONIC) - before;
		wait = took * reading_share > wait ? took * reading_share : wait;
		if (err || has_ended || (l->options->count && i + 1 == l->options->count) || !wait_for_next(l, wait))
			break;
		if (!l->terminal.is_screen)
			puts("");
	}
	return err;
}

struct error *live_view(const char *command, const struct live_options *options, const struct live_source *source)
{
	struct live l = {.command = command, .options = options, .source = source};
	struct error *err;

	profile_reading_init(&l.reading);
	l.reading.is_silent = true;
	terminal_open(&l.terminal);
	err = loop(&l);
	terminal_close(&l.terminal);
	profile_reading_deinit(&l.reading);
	return err;
}
