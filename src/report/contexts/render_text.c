/*
 * render_text.c - a report for reading: what was recorded, then the first contexts, each with its numbers and its stack.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"
#include "base/plain_text.h"
#include "model/contexts/profile_notes.h"
#include "model/tables/heap_line.h"
#include "report/contexts/renderer.h"
#include "model/base/context_text.h"
#include "model/tables/label_sums.h"

enum {
	FUNCTIONS = 10, /* in the table before contexts */
};

static void print_size(uint64_t bytes, FILE *out)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double size = (double)bytes / 1024;
	size_t i = 0;

	if (bytes < 10240)
		return;
	for (; size >= 1024 && i + 1 < sizeof units / sizeof units[0]; i++)
		size /= 1024;
	fprintf(out, " (%.1f %s)", size, units[i]);
}

/* Behind the live bytes. Only what is live when a process ends is leaked. */
static const char *heap_end_text(enum recording_end end)
{
	switch (end) {
	case RECORDING_RUNS:
		return " now\n";
	case RECORDING_DETACHED:
		return " when the agent left, none of them counted as leaked\n";
	case RECORDING_FILTERED:
		return " when it asked for a seccomp filter, none of them counted as leaked\n";
	case RECORDING_UNKNOWN:
		return " when it was last seen, none of them counted as leaked\n";
	case RECORDING_EXIT:
	case RECORDING_LEFT:
		break;
	}
	return " at the end\n";
}

/* The allocations of what a child inherited are its parent's. */
static void print_inherited(const struct profile *p, const struct profile_source *s, FILE *out)
{
	char bytes[DIGITS_MAX], count[DIGITS_MAX], live[DIGITS_MAX];
	const char *parent = NULL;

	if (!s->inherited_count)
		return;
	for (size_t i = 0; i < p->sources.count && !parent; i++)
		if (p->sources.items[i].header.run == s->header.parent_run)
			parent = p->sources.items[i].path;
	fprintf(out, "  inherited when it was forked: %s %s in %s %s, %s of the bytes not freed by it;\n",
		digits_grouped(s->inherited_bytes, bytes), noun_of(s->inherited_bytes, "byte", "bytes"),
		digits_grouped(s->inherited_count, count), noun_of(s->inherited_count, "allocation", "allocations"),
		digits_grouped(s->inherited_live_bytes, live));
	if (parent)
		notes_print_line("    their allocation is counted in ", parent, out);
	else
		fprintf(out,
			"    their allocation is counted in the recording of its parent, run %016" PRIx64
			", which is not among these\n",
			s->header.parent_run);
}

/* The rate is what was asked for: the values of samples are the time that passed, whatever the rate was. */
static void print_walked(const struct profile_source *s, FILE *out)
{
	char samples[DIGITS_MAX], cut[DIGITS_MAX], guessed[DIGITS_MAX];

	if (s->header.samples)
		fprintf(out, "  %s %s, %.0f a second of CPU time", digits_grouped(s->header.samples, samples),
			noun_of(s->header.samples, "sample", "samples"), 1e9 / (double)s->header.sample_period_ns);
	if (s->header.wall_samples)
		fprintf(out, "%s%s %s of threads that run or wait, looked at %.0f times a second",
			s->header.samples ? "; " : "  ", digits_grouped(s->header.wall_samples, samples),
			noun_of(s->header.wall_samples, "sample", "samples"), 1e9 / (double)s->header.wall_period_ns);
	if (s->last_event_ns)
		fprintf(out, ", over %.1f s", (double)s->last_event_ns / 1e9);
	if (s->header.samples_cut)
		fprintf(out, "; %s without outermost frames", digits_grouped(s->header.samples_cut, cut));
	if (s->header.samples_guessed)
		fprintf(out, "; %s with frames by code or frame pointers",
			digits_grouped(s->header.samples_guessed, guessed));
	putc('\n', out);
}

/* The counts of samples. Ticks in the agent itself are no samples. */
static void print_samples(const struct profile_source *s, FILE *out)
{
	char samples[DIGITS_MAX], unknown[DIGITS_MAX], in_agent[DIGITS_MAX], agreed[DIGITS_MAX], checked[DIGITS_MAX];

	if (!s->header.samples && !s->header.samples_in_agent && !s->header.wall_samples)
		return;
	if ((s->header.sample_period_ns || s->header.wall_period_ns) && !s->header.samples_unknown &&
	    !s->header.samples_in_agent && !s->header.samples_checked && !s->header.samples_unchecked) {
		print_walked(s, out);
		return;
	}
	fprintf(out, "  %s %s (context unknown: %s), %s more %s in the agent itself",
		digits_grouped(s->header.samples, samples), noun_of(s->header.samples, "sample", "samples"),
		digits_grouped(s->header.samples_unknown, unknown),
		digits_grouped(s->header.samples_in_agent, in_agent),
		noun_of(s->header.samples_in_agent, "tick", "ticks"));
	if (s->header.samples_checked || s->header.samples_unchecked)
		fprintf(out, "; %s of %s compared %s with the stack", digits_grouped(s->header.samples_agreed, agreed),
			digits_grouped(s->header.samples_checked, checked),
			noun_of(s->header.samples_checked, "sample agrees", "samples agree"));
	putc('\n', out);
}

/* How contexts of allocations were found. */
static void print_heap_walks(const struct profile_source *s, FILE *out)
{
	char cut[DIGITS_MAX], guessed[DIGITS_MAX];

	if (!s->has_walked_heap)
		return;
	fputs("  heap: contexts by walks of the stack", out);
	if (s->header.heap_cut)
		fprintf(out, "; %s without outermost frames", digits_grouped(s->header.heap_cut, cut));
	if (s->header.heap_guessed)
		fprintf(out, "; %s with frames by code or frame pointers",
			digits_grouped(s->header.heap_guessed, guessed));
	putc('\n', out);
}

static void print_source(const struct profile *p, const struct profile_source *s, FILE *out)
{
	char number[DIGITS_MAX];
	uint64_t peak_ns;
	const char *about;

	plain_print(out, s->path);
	fputs(": ", out);
	if (s->import_format) {
		fprintf(out, "%s\n", s->import_format);
		return;
	}
	plain_print(out, s->header.program);
	fprintf(out, ", pid %" PRIu32 ", %s\n", s->header.pid, recording_end_text(s->end));
	print_samples(s, out);
	if (!s->has_heap)
		return;
	if (s->header.heap_interval_bytes)
		fprintf(out, "  heap: sampled, one allocation in %s bytes: numbers with ~ are estimates\n",
			digits_grouped(s->header.heap_interval_bytes, number));
	print_heap_walks(s, out);
	about = s->header.heap_interval_bytes ? "~" : "";
	fprintf(out, "  heap: at most %s%s %s at a time", about, digits_grouped(s->header.heap_peak_bytes, number),
		noun_of(s->header.heap_peak_bytes, "byte", "bytes"));
	print_size(s->header.heap_peak_bytes, out);
	if (heap_line_peak(p, (uint32_t)(s - p->sources.items), &peak_ns))
		fprintf(out, " (at about %s)", digits_time(peak_ns, number));
	fprintf(out, ", %s%s", about, digits_grouped(s->header.heap_live_bytes, number));
	print_size(s->header.heap_live_bytes, out);
	fputs(heap_end_text(s->end), out);
	if (s->header.heap_reach && wmk_reach_text(s->header.heap_reach))
		fprintf(out, "  heap: which blocks are lost is not told: %s\n", wmk_reach_text(s->header.heap_reach));
	print_inherited(p, s, out);
}

/* The name of a metric behind a number of it: names of the heap's are nouns. */
static void print_unit(const struct metric *m, uint64_t value, FILE *out)
{
	size_t len = strlen(m->name);
	bool is_one = value == 1 && (strcmp(m->name, "bytes") == 0 || strcmp(m->name, "allocations") == 0 ||
				     strcmp(m->name, "samples") == 0 || strcmp(m->name, "live-allocations") == 0);

	plain_print_part(out, m->name, len - is_one);
}

const char *metric_number(const struct metric *m, uint64_t value, char buf[METRIC_TEXT_MAX])
{
	buf[0] = '~';
	if (m->unit == UNIT_TIME)
		digits_time(value, buf + 1);
	else
		digits_grouped(value, buf + 1);
	return m->is_estimate ? buf : buf + 1;
}

void metric_print_size(const struct metric *m, uint64_t value, FILE *out)
{
	if (m->unit == UNIT_BYTES)
		print_size(value, out);
}

/* Seconds from the first start to the last event; 0: not known, or events were left out. */
static double elapsed_of(const struct profile *p)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < p->sources.count; i++) {
		const struct profile_source *s = &p->sources.items[i];
		uint64_t start = s->header.start_realtime_ns;

		if (!s->last_event_ns)
			continue;
		first = start < first ? start : first;
		last = start + s->last_event_ns > last ? start + s->last_event_ns : last;
	}
	return last > first && !p->filtered_events ? (double)(last - first) / 1e9 : 0;
}

/* Events are as many over that time; the heap has no times. */
static void print_rate(const struct metric *m, double elapsed, FILE *out)
{
	if (elapsed <= 0 || m->is_of_heap || m->is_maximum)
		return;
	if (m->unit == UNIT_TIME)
		fprintf(out, " (%.2f s a second, over %.1f s)", (double)m->total / 1e9 / elapsed, elapsed);
	else
		fprintf(out, " (%.1f a second, over %.1f s)", (double)m->total / elapsed, elapsed);
}

/* Temporary allocations are not known where allocations are sampled; classes of sizes and life times are for histograms. */
static bool is_left_out(const struct view *v, const struct metric *m)
{
	if (m == &v->profile->metrics.items[v->metric])
		return false;
	return (m->is_estimate && !m->total && strcmp(m->name, "temporary") == 0) ||
	       (m->is_of_heap && heap_class_is_metric(m->name));
}

static void print_totals(const struct view *v, FILE *out)
{
	const struct profile *p = v->profile;
	double elapsed = elapsed_of(p);
	char number[METRIC_TEXT_MAX];

	fputs("\nTotals\n", out);
	for (size_t i = 0; i < p->metrics.count; i++) {
		const struct metric *m = &p->metrics.items[i];

		if (is_left_out(v, m))
			continue;
		fprintf(out, "  %18s  ", metric_number(m, m->total, number));
		print_unit(m, m->total, out);
		fputs(m->is_maximum ? " of any one context" : "", out);
		metric_print_size(m, m->total, out);
		print_rate(m, elapsed, out);
		putc('\n', out);
	}
}

static void print_row_numbers(const struct view *v, const struct view_row *row, const uint64_t *values, FILE *out)
{
	const struct profile *p = v->profile;
	const struct metric *front = &p->metrics.items[v->metric];
	char number[METRIC_TEXT_MAX];
	bool is_next = false;

	fprintf(out, "%s%s ", v->is_coloured ? "\033[1m" : "", metric_number(front, row->value, number));
	print_unit(front, row->value, out);
	fputs(v->is_coloured ? "\033[0m" : "", out);
	if (!front->is_maximum && front->total)
		fprintf(out, " (%.1f %%)", 100.0 * (double)row->value / (double)front->total);
	for (size_t i = 0; i < p->metrics.count; i++) {
		if (i == v->metric || !values[i] || is_left_out(v, &p->metrics.items[i]))
			continue;
		fprintf(out, "%s%s ", is_next ? ", " : "  | ", metric_number(&p->metrics.items[i], values[i], number));
		print_unit(&p->metrics.items[i], values[i], out);
		is_next = true;
	}
	putc('\n', out);
}

static struct error *print_rows(const struct view *v, FILE *out)
{
	struct frame_vec frames = {0};
	uint64_t *values = calloc(v->profile->metrics.count, sizeof *values);
	struct error *err = values ? view_check_size(v, view_depths(v) + v->row_count * v->profile->metrics.count)
				   : &error_no_memory;

	for (size_t i = 0; i < v->row_count && !err; i++) {
		putc('\n', out);
		view_values(v, &v->rows[i], values);
		print_row_numbers(v, &v->rows[i], values, out);
		err = view_frames(v->profile, v->rows[i].node, &frames);
		if (!err)
			stack_print_lines(out, "    ", frames.items, frames.count, v->is_coloured);
	}
	frame_vec_deinit(&frames);
	free(values);
	return err;
}

static void print_heading(const struct view *v, FILE *out)
{
	const struct profile *p = v->profile;

	fputs("\nContexts by ", out);
	plain_print(out, v->sort < p->metrics.count ? p->metrics.items[v->sort].name : "name");
	fprintf(out, ": %zu", v->row_count);
	if (v->row_count < v->matching_rows)
		fprintf(out, " of %zu", v->matching_rows);
	if (v->is_filtered)
		fputs(", of the chosen functions only", out);
	putc('\n', out);
}

static const char *nothing(const struct profile *p)
{
	for (size_t i = 0; i < p->sources.count; i++)
		if (p->sources.items[i].has_paths)
			return "No events and no heap were recorded, but paths: waymark paths shows them.";
	return "Nothing was recorded.";
}

static int compare_programs(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The most frequent of the sorted programs, how often it occurs, and how many there are. */
static const char *most_frequent(const char *const *programs, size_t count, size_t *ret_times, size_t *ret_different)
{
	const char *found = programs[0];

	*ret_times = *ret_different = 0;
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && strcmp(programs[end], programs[i]) == 0; end++)
			;
		(*ret_different)++;
		if (end - i > *ret_times) {
			*ret_times = end - i;
			found = programs[i];
		}
	}
	return found;
}

/* One line for all files, where there are many. */
static struct error *print_all_sources(const struct profile *p, FILE *out)
{
	const char **programs = calloc(p->sources.count, sizeof *programs);
	size_t times, different, ended = 0;
	uint64_t peak = 0;
	char number[DIGITS_MAX];

	if (!programs)
		return &error_no_memory;
	for (size_t i = 0; i < p->sources.count; i++) {
		const struct profile_source *s = &p->sources.items[i];

		programs[i] = s->import_format ? s->path : s->header.program;
		ended += s->end == RECORDING_EXIT || s->end == RECORDING_LEFT;
		peak = s->header.heap_peak_bytes > peak ? s->header.heap_peak_bytes : peak;
	}
	qsort(programs, p->sources.count, sizeof *programs, compare_programs);
	fprintf(out, "%zu recordings: ", p->sources.count);
	plain_print(out, most_frequent(programs, p->sources.count, &times, &different));
	fprintf(out, " (%zu)", times);
	if (different > 1)
		fprintf(out, " and %zu other %s", different - 1, noun_of(different - 1, "program", "programs"));
	fprintf(out, ", %zu ended by themselves", ended);
	if (peak) {
		fprintf(out, "; heap: at most %s bytes at a time in one of them", digits_grouped(peak, number));
		print_size(peak, out);
	}
	putc('\n', out);
	free(programs);
	return NULL;
}

void text_print_bar(uint64_t part, uint64_t whole, const char *before, int most, FILE *out)
{
	int length = whole ? (int)((double)part * most / (double)whole + 0.5) : 0;

	fputs(length ? before : "", out);
	for (int i = 0; i < length && i < most; i++)
		putc('#', out);
}

bool text_print_head(const struct view *v, FILE *out)
{
	struct error *err = NULL;

	for (size_t i = 0; i < v->profile->sources.count && v->profile->sources.count <= NOTES_FILES_MAX; i++)
		print_source(v->profile, &v->profile->sources.items[i], out);
	if (v->profile->sources.count > NOTES_FILES_MAX)
		err = print_all_sources(v->profile, out);
	error_destroy(err); /* without memory the line is missing */
	notes_print(v, "  ! ", out);
	if (v->has_metric)
		print_totals(v, out);
	else
		fprintf(out, "\n%s\n", nothing(v->profile));
	return v->has_metric;
}

/* None for a maximum, which does not add up. */
static struct error *print_functions(const struct view *v, FILE *out)
{
	const struct table_options options = {.kind = word_table_find(&table_kinds, "function"),
					      .top = v->top && v->top < FUNCTIONS ? v->top : FUNCTIONS};
	struct table t;
	struct error *err;

	if (v->profile->metrics.items[v->metric].is_maximum)
		return NULL;
	err = table_create(v, &options, &t);
	if (err)
		return err;
	table_print(v, &t, out);
	table_deinit(&t);
	return NULL;
}

/* None for a maximum, which does not add up. */
static struct error *print_label(const struct view *v, FILE *out)
{
	const struct metric *m = &v->profile->metrics.items[v->metric];
	struct label_sums sums;
	char number[METRIC_TEXT_MAX];
	struct error *err;

	if (!v->profile->group_label || m->is_maximum)
		return NULL;
	err = label_sums_create(v, &sums);
	if (err)
		return err;
	fprintf(out, "\n%s by ", m->name);
	plain_print(out, v->profile->group_label);
	fprintf(out, ": %zu", sums.count);
	if (sums.imbalance > 0)
		fprintf(out, ", the largest %.2f times the mean", sums.imbalance);
	putc('\n', out);
	for (size_t i = 0; i < sums.count; i++) {
		fprintf(out, "  %18s  ", metric_number(m, sums.items[i].value, number));
		plain_print(out, sums.items[i].name);
		putc('\n', out);
	}
	label_sums_deinit(&sums);
	return NULL;
}

struct error *render_text(const struct view *v, FILE *out)
{
	struct error *err;

	if (!text_print_head(v, out))
		return NULL;
	err = print_label(v, out) ?: print_functions(v, out);
	if (err)
		return err;
	print_heading(v, out);
	return print_rows(v, out);
}
