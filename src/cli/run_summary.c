/* run_summary.c - reads the recordings of a run as `waymark report` does, and prints a line for each metric: its sum and the functions with most of it. */
#include "cli/run_summary.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/plain_text.h"
#include "cli/message.h"
#include "cli/profile_reading.h"
#include "report/contexts/renderer.h"

enum {
	RECORDINGS_MAX = 64,
	FUNCTIONS = 3,
};

/* Of all files. A second or two of reading. */
static const uint64_t bytes_max = 64 << 20;

static const struct {
	const char *metric;
	const char *what; /* behind the metric's number */
} lines[] = {
	{"cpu", "of CPU time"},
	{"bytes", "allocated"},
	{"leaked", "not given back at the end"},
	{"alloc:sum", "bytes allocated in Java, by samples"},
};

static bool is_quick(const struct recording_paths *recordings)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < recordings->count; i++) {
		struct stat st;

		if (stat(recordings->items[i], &st) == 0)
			bytes += (uint64_t)st.st_blocks * 512;
	}
	return recordings->count <= RECORDINGS_MAX && bytes <= bytes_max;
}

/* "1.2 s of CPU time: 41.2 % regexec, 12.0 % malloc" */
static void print_table(const struct table *t, const struct metric *m, const char *what, FILE *out)
{
	char number[METRIC_TEXT_MAX], percent[DIGITS_MAX];
	const char *before = ": ";

	fputs(metric_number(m, m->total, number), out);
	if (m->unit == UNIT_BYTES)
		fputs(" bytes", out);
	metric_print_size(m, m->total, out);
	fprintf(out, " %s", what);
	for (size_t i = 0; i < t->row_count && t->rows[i].self; i++) {
		fprintf(out, "%s%s ", before, digits_percent(t->rows[i].self, m->total, percent));
		plain_print(out, t->rows[i].name);
		before = ", ";
	}
}

static struct error *table_line(const struct profile *p, uint32_t metric, const char *what, char **ret)
{
	const struct metric *m = &p->metrics.items[metric];
	const struct view_options options = {.metric = m->name, .adds_up = true};
	const struct table_options table_options = {
		.kind = word_table_find(&table_kinds, "function"), .order = TABLE_BY_SELF, .top = FUNCTIONS};
	struct view view;
	struct table table;
	size_t len;
	FILE *out;
	struct error *err = view_create(p, &options, "waymark", &view);

	if (err)
		return err;
	err = table_create(&view, &table_options, &table);
	if (!err) {
		out = open_memstream(ret, &len);
		if (out)
			print_table(&table, m, what, out);
		if (!out || fclose(out) != 0)
			err = &error_no_memory;
		table_deinit(&table);
	}
	view_deinit(&view);
	return err;
}

static struct error *print_lines(const struct profile *p)
{
	struct error *err = NULL;
	bool is_any = false;

	for (size_t i = 0; i < sizeof lines / sizeof *lines && !err; i++) {
		char *text = NULL;
		uint32_t metric;

		if (!profile_find_metric(p, lines[i].metric, &metric) || !p->metrics.items[metric].total)
			continue;
		is_any = true;
		err = table_line(p, metric, lines[i].what, &text);
		if (!err)
			message_warn("run", "%s", text);
		free(text);
	}
	if (!is_any)
		message_warn(
			"run",
			"too short for a sample: --sample=10000 takes more of them, --heap records each allocation");
	return err;
}

static struct error *read_and_print(char *const *paths)
{
	struct profile_reading reading;
	struct profile p;
	struct error *err = profile_init(&p);

	if (err)
		return err;
	profile_reading_init(&reading);
	err = profile_reading_add(&reading, "run", paths, &p);
	if (!err)
		err = print_lines(&p);
	profile_reading_deinit(&reading);
	profile_deinit(&p);
	return err;
}

void run_summary_print(const struct recording_paths *recordings)
{
	char **paths = calloc(recordings->count + 1, sizeof *paths);
	const char *file = recordings->count == 1 ? recordings->items[0] : "";

	if (paths && is_quick(recordings)) {
		if (recordings->count)
			memcpy(paths, recordings->items, recordings->count * sizeof *paths);
		message_error("run", read_and_print(paths));
	}
	free(paths);
	message_warn("run",
		     "more by: waymark report%s%s; with --by=function, --tree, --metric=leaked, --format=svg -o FILE",
		     *file ? " " : "", file);
}
