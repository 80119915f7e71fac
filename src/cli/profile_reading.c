/* profile_reading.c - reads recordings into a profile, and the options that filter it. */
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/profile_reading.h"
#include "cli/progress.h"
#include "cli/recording_operands.h"
#include "model/base/recording.h"
#include "model/contexts/profile_read.h"
#include "model/archive/archive.h"
#include "model/imports/import.h"

enum {
	TASKS_SPLIT,
	TASKS_FOLD,
};
static const struct word task_words[] = {
	[TASKS_SPLIT] = {"split", NULL},
	[TASKS_FOLD] = {"fold", NULL},
	{0},
};
static const struct word_table task_kinds = {task_words, sizeof *task_words};

enum {
	FORGET_EVERY = 1 << 19, /* records, of the heap 59 MB */
};

void profile_reading_init(struct profile_reading *r)
{
	*r = (struct profile_reading){.time.to_ns = UINT64_MAX};
	image_cache_init(&r->cache);
	suppressions_init(&r->suppressions);
}

void profile_reading_deinit(struct profile_reading *r)
{
	patterns_deinit(&r->functions);
	patterns_deinit(&r->modules);
	patterns_deinit(&r->threads);
	suppressions_deinit(&r->suppressions);
	image_cache_deinit(&r->cache);
}

/* ---- options ---- */

static struct error *add_function(void *functions, const char *text)
{
	return patterns_add(functions, "--function", text);
}

static struct error *add_module(void *modules, const char *text)
{
	return patterns_add(modules, "--module", text);
}

static struct error *add_thread(void *threads, const char *text)
{
	return patterns_add(threads, "--thread", text);
}

static struct error *add_suppressions(void *suppressions, const char *path)
{
	return suppressions_read(suppressions, path);
}

static struct error *set_time(void *state, const char *text)
{
	struct profile_reading *r = state;

	r->has_time = true;
	return time_range_parse(text, &r->time);
}

static struct error *set_min(void *state, const char *text)
{
	struct profile_reading *r = state;
	char *end;

	r->has_min = true;
	r->min = strtod(text, &end);
	if (end != text && (*end == '\0' || strcmp(end, "%") == 0) && r->min >= 0 && r->min <= 100)
		return NULL;
	return error_create(ERROR_ARGUMENT, "--min %s: must be a percentage from 0 to 100", text);
}

const struct option_row profile_reading_options[] = {
	{.name = "function",
	 .argument = "PATTERN",
	 .help = "only contexts with a function of such a name in them: a glob, or /REGEX/; may be given several times",
	 .is_repeatable = true,
	 OPTION_SET(add_function),
	 .off = offsetof(struct profile_reading, functions)},
	{.name = "module",
	 .argument = "PATTERN",
	 .help = "only contexts with a function (with --function: of such a name) of such a source file, class or image in "
		 "them",
	 .is_repeatable = true,
	 OPTION_SET(add_module),
	 .off = offsetof(struct profile_reading, modules)},
	{.name = "suppressions",
	 .argument = "FILE",
	 .help = "leave out contexts that FILE names, in the form of valgrind or LeakSanitizer; may be given several times",
	 .is_repeatable = true,
	 .completion = COMPLETE_FILE,
	 OPTION_SET(add_suppressions),
	 .off = offsetof(struct profile_reading, suppressions)},
	{.name = "thread",
	 .argument = "PATTERN",
	 .help = "only events of threads of such a name or number",
	 .is_repeatable = true,
	 OPTION_SET(add_thread),
	 .off = offsetof(struct profile_reading, threads)},
	{.name = "time",
	 .argument = "FROM..TO",
	 .help = "only events of that time after the first process has started, as 1.5..3 (seconds), 250ms.. or ..2m",
	 OPTION_SET(set_time)},
	{.name = "min",
	 .argument = "=PERCENT",
	 .help = "leave out what has less than that of the metric (trees: 0.5)",
	 OPTION_SET(set_min)},
	{.name = "columns",
	 .help = "distinguish samples of one line by their column",
	 OPTION_FLAG(struct profile_reading, keeps_columns)},
	{.name = "tasks",
	 .argument = "=HOW",
	 .help = "contexts in tasks: split by who enqueued them, which they continue (the preset), or fold: those of the thread that "
		 "ran them",
	 OPTION_WORD(struct profile_reading, tasks, &task_kinds)},
	{.name = "max-depth",
	 .argument = "N",
	 .help = "do not decode contexts of more than N frames",
	 .preset = CONTEXT_DEPTH_MAX,
	 OPTION_NUMBER(struct profile_reading, max_depth)},
	OPTIONS_OF(search_options, struct profile_reading, cache.search),
	OPTIONS_END,
};

void profile_reading_filter(const struct profile_reading *r, struct view_options *view)
{
	view->functions = &r->functions;
	view->modules = &r->modules;
	view->suppressions = &r->suppressions;
	view->min = r->min;
}

/* ---- reading ---- */

struct reading {
	struct progress line;
	const struct recording *recording;
	uint64_t forgotten; /* records that were read when its pages were last given back */
};

static void report_progress(void *data, uint64_t done, uint64_t total)
{
	struct reading *reading = data;

	progress_update(&reading->line, done, total);
	if (done - reading->forgotten < FORGET_EVERY)
		return;
	reading->forgotten = done;
	file_forget(&reading->recording->file);
}

/* An archive has the threads of its events, and no process that times could begin with; a profile of another tool has neither. */
static struct error *check_filter(const struct profile_reading *r, const char *path, const struct mapped_file *file)
{
	if (r->has_time)
		return error_create(ERROR_ARGUMENT, "%s: --time is for recordings, which this is not", path);
	if (r->threads.count && !archive_is_one(file))
		return error_create(ERROR_ARGUMENT, "%s: --thread is for recordings: this is a profile of another tool",
				    path);
	return NULL;
}

/* An archive, or a file of another tool, is known by its content. The latter is added only if it may be. */
static struct error *add_import(struct profile *p, const struct profile_reading *r, const char *path,
				bool may_be_foreign, bool *ret_is_foreign, bool *ret_is_import)
{
	struct mapped_file file;
	struct error *err = file_map(path, &file);

	if (err)
		return err;
	*ret_is_import = false;
	*ret_is_foreign = import_is_foreign(&file);
	if (!*ret_is_foreign || may_be_foreign)
		err = import_file(p, path, &file, ret_is_import);
	if (!err && *ret_is_import)
		err = check_filter(r, path, &file);
	file_unmap(&file);
	return err;
}

static struct error *add_recording(struct profile *p, struct profile_reading *r, const char *path)
{
	struct recording recording;
	struct reading reading = {.recording = &recording};
	struct profile_progress progress = {.report = report_progress, .data = &reading};
	struct error *err;

	progress_start(&reading.line, path);
	reading.line.is_terminal &= !r->is_silent;
	err = recording_open(path, &recording);
	if (!err) {
		file_forget(&recording.file);
		err = profile_add_file(p, &recording.wmk, &r->cache, &progress);
		recording_close(&recording);
	}
	progress_end(&reading.line);
	return err;
}

/* Recordings and archives come first, profiles of other tools second (import.h). */
static struct error *add_files(struct profile *p, struct profile_reading *r, const struct recording_paths *paths)
{
	bool *is_foreign = calloc(paths->count + 1, sizeof *is_foreign), is_import;
	struct error *err = is_foreign ? NULL : &error_no_memory;

	for (size_t i = 0; i < paths->count && !err; i++) {
		err = add_import(p, r, paths->items[i], false, &is_foreign[i], &is_import);
		if (!err && !is_import && !is_foreign[i])
			err = add_recording(p, r, paths->items[i]);
	}
	for (size_t i = 0; i < paths->count && !err; i++)
		if (is_foreign[i])
			err = add_import(p, r, paths->items[i], true, &is_foreign[i], &is_import);
	free(is_foreign);
	return err;
}

/* The user has not named them. */
static void tell_newest(const char *command, const struct recording_paths *paths)
{
	if (paths->count == 1)
		message_warn(command, "the newest recording is %s", paths->items[0]);
	else
		message_warn(command, "the newest run has %zu recordings: %s to %s", paths->count, paths->items[0],
			     paths->items[paths->count - 1]);
}

/* CLOCK_REALTIME; 0: no file has a header, which reading them will say. */
static uint64_t first_start(const struct recording_paths *paths)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < paths->count; i++) {
		struct wmk_header header;

		if (recording_header(paths->items[i], &header) && header.start_realtime_ns < first)
			first = header.start_realtime_ns;
	}
	return first == UINT64_MAX ? 0 : first;
}

static struct profile_filter filter_of(const struct profile_reading *r, const struct recording_paths *paths)
{
	struct profile_filter filter = {.threads = &r->threads, .to_ns = UINT64_MAX};
	uint64_t start = r->has_time ? first_start(paths) : 0;

	if (!r->has_time)
		return filter;
	filter.from_ns = start + r->time.from_ns;
	if (r->time.to_ns < UINT64_MAX - start)
		filter.to_ns = start + r->time.to_ns;
	return filter;
}

struct error *profile_reading_add(struct profile_reading *r, const char *command, char *const *operands,
				  struct profile *p)
{
	struct recording_paths paths = {0};
	struct profile_filter filter;
	struct error *err = recording_operands(command, operands, &paths);

	if (!err && !*operands && !r->is_silent)
		tell_newest(command, &paths);
	filter = filter_of(r, &paths);
	if (r->has_time || r->threads.count)
		p->filter = &filter;
	if (r->max_depth)
		p->max_depth = r->max_depth;
	p->keeps_columns = r->keeps_columns;
	p->folds_tasks = r->tasks == TASKS_FOLD;
	if (!err)
		err = add_files(p, r, &paths);
	p->filter = NULL;
	profile_finish(p);
	recording_paths_free(&paths);
	return err;
}
