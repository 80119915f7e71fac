/*
 * report.c - `waymark report`: merges .wmk files into a profile, takes the view that was asked for and hands it to a
 * renderer. The output appears when it is whole.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/recording_operands.h"
#include "cli/search_options.h"
#include "model/contexts/profile_notes.h"
#include "model/contexts/profile_read.h"
#include "model/base/recording.h"
#include "model/imports/import.h"
#include "report/contexts/renderer.h"

struct request {
	const struct renderer *renderer;
	const struct table_kind *table; /* NULL: contexts */
	struct view_options view;
	struct value_vec globs;
	struct option_count top;
	size_t max_depth;
	bool keeps_columns;
	bool keeps_threads;
	const char *output;
	struct image_cache cache;
};

/* The orders of tables, then metrics. */
static const char *const orders[] = {[TABLE_BY_SELF] = "self", [TABLE_BY_TOTAL] = "total", [TABLE_BY_NAME] = "name"};

enum {
	ORDERS = sizeof orders / sizeof *orders,
};

static const char *sort_at(size_t index)
{
	return index < ORDERS ? orders[index] : profile_heap_metric(index - ORDERS);
}

static const struct option_row option_rows[] = {
	{.name = "format",
	 .argument = "=NAME",
	 .help = "output format: one of the above (text)",
	 OPTION_ROW(struct request, renderer, &report_formats)},
	{.name = "by",
	 .argument = "=WHAT",
	 .help = "a table in text or json, with self and total of each: %s",
	 OPTION_ROW(struct request, table, &table_kinds)},
	{.name = "metric",
	 .argument = "=NAME",
	 .help = "metric to show first: %s (inherited: of forked children); or EVENT (how often) "
		 "or EVENT:sum (of its values)",
	 .word_at = profile_heap_metric,
	 OPTION_TEXT(struct request, view.metric)},
	{.name = "sort",
	 .argument = "=NAME",
	 .help = "sort tables by self, total or name, contexts by another metric or by name",
	 .word_at = sort_at,
	 OPTION_TEXT(struct request, view.sort)},
	{.name = "top",
	 .argument = "N",
	 .help = "only the first N contexts or rows (text: 20); --top all for all",
	 OPTION_COUNT(struct request, top)},
	{.name = "function",
	 .argument = "GLOB",
	 .help = "only contexts with a function of such a name in them; may be given several times",
	 OPTION_LIST(struct request, globs)},
	{.name = "columns",
	 .help = "distinguish samples of one line by their column",
	 OPTION_FLAG(struct request, keeps_columns)},
	{.name = "threads",
	 .help = "distinguish events by their threads: the outermost frame is the thread's name, or its number",
	 OPTION_FLAG(struct request, keeps_threads)},
	{.name = "max-depth",
	 .argument = "N",
	 .help = "do not decode contexts of more than N frames",
	 .preset = CONTEXT_DEPTH_MAX,
	 OPTION_NUMBER(struct request, max_depth)},
	OPTIONS_OF(search_options, struct request, cache.search),
	OPTION_OUTPUT(struct request, output),
	OPTION_HELP,
	OPTIONS_END,
};

enum {
	FORGET_EVERY = 1 << 19, /* records, of the heap 52 MB */
};

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

/* A file of another tool is known by its content. */
static struct error *add_import(struct profile *p, const char *path, bool *ret_is_import)
{
	struct mapped_file file;
	struct error *err = file_map(path, &file);

	if (err)
		return err;
	err = import_file(p, path, &file, ret_is_import);
	file_unmap(&file);
	return err;
}

static struct error *add_file(struct profile *p, struct request *r, const char *path)
{
	struct recording recording;
	struct reading reading = {.recording = &recording};
	struct profile_progress progress = {.report = report_progress, .data = &reading};
	bool is_import;
	struct error *err;

	err = add_import(p, path, &is_import);
	if (err || is_import)
		return err;
	progress_start(&reading.line, path);
	err = recording_open(path, &recording);
	if (!err) {
		file_forget(&recording.file);
		err = profile_add_file(p, &recording.wmk, &r->cache, &progress);
		recording_close(&recording);
	}
	progress_end(&reading.line);
	return err;
}

/* A view of all contexts, and a table of them. */
static struct error *render_table(const struct view *v, const struct request *r, const struct table_options *options,
				  FILE *out)
{
	struct table t;
	struct error *err;

	if (!v->has_metric)
		return r->renderer->render(v, out);
	err = table_create(v, options, &t);
	if (err)
		return err;
	err = r->renderer->render_table(v, &t, out);
	table_deinit(&t);
	return err;
}

/* What --sort and --top say of a table is taken from what they say of contexts. */
static struct error *take_table_options(struct request *r, struct table_options *ret)
{
	*ret = (struct table_options){.kind = r->table, .top = r->view.top};
	r->view.top = 0;
	r->view.adds_up = true;
	if (!r->renderer->render_table)
		return error_create(ERROR_ARGUMENT, "--by: --format=%s has no tables; use text or json",
				    r->renderer->format.name);
	if (!r->view.sort)
		return NULL;
	for (int i = 0; i < ORDERS; i++) {
		if (strcmp(r->view.sort, orders[i]) == 0) {
			ret->order = (enum table_order)i;
			r->view.sort = NULL;
			return NULL;
		}
	}
	return error_create(ERROR_ARGUMENT, "--sort %s: a table is sorted by self, total or name", r->view.sort);
}

static struct error *render(const struct profile *p, struct request *r)
{
	struct table_options table;
	struct view view;
	struct output out;
	struct error *err;

	if (r->renderer->is_binary && !r->output && isatty(STDOUT_FILENO))
		return error_create(ERROR_ARGUMENT, "--format=%s is no text: -o FILE writes it to a file",
				    r->renderer->format.name);
	r->view.functions = r->globs.items;
	r->view.function_count = r->globs.count;
	r->view.keeps_zeros = r->renderer->keeps_zeros;
	r->view.adds_up = r->renderer->adds_up;
	r->view.top = option_count_or(&r->top, r->renderer->default_top);
	err = r->table ? take_table_options(r, &table) : NULL;
	if (!err)
		err = output_open(r->output, &out);
	if (err)
		return err;
	r->view.is_coloured = message_has_colour(out.file);
	err = view_create(p, &r->view, "waymark " WAYMARK_VERSION, &view);
	if (!err) {
		err = r->table ? render_table(&view, r, &table, out.file) : r->renderer->render(&view, out.file);
		if (!err && !r->renderer->has_notes)
			notes_print(&view, "waymark report: ", stderr);
		view_deinit(&view);
	}
	return output_end(&out, err);
}

static struct error *report_files(struct request *r, const struct recording_paths *paths)
{
	struct profile p;
	struct error *err = profile_init(&p);

	if (err)
		return err;
	if (r->max_depth)
		p.max_depth = r->max_depth;
	p.keeps_columns = r->keeps_columns;
	p.keeps_threads = r->keeps_threads || (r->table && r->table->key == KEY_THREAD);
	p.keeps_events = r->renderer->wants_events;
	for (size_t i = 0; i < paths->count && !err; i++)
		err = add_file(&p, r, paths->items[i]);
	profile_finish(&p);
	if (!err)
		err = render(&p, r);
	profile_deinit(&p);
	return err;
}

/* The user has not named them. */
static void tell_newest(const struct recording_paths *paths)
{
	if (paths->count == 1)
		message_warn("report", "the newest recording is %s", paths->items[0]);
	else
		message_warn("report", "the newest run has %zu recordings: %s to %s", paths->count, paths->items[0],
			     paths->items[paths->count - 1]);
}

static struct error *report(struct request *r, char **operands)
{
	struct recording_paths paths = {0};
	struct error *err = recording_operands("report", operands, &paths);

	if (!err && !*operands)
		tell_newest(&paths);
	if (!err)
		err = report_files(r, &paths);
	recording_paths_free(&paths);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {.renderer = word_table_find(&report_formats, "text")};
	int status;

	image_cache_init(&r.cache);
	status = options_parse(command, &r, argc, argv);
	if (status == OPTIONS_PARSED)
		status = message_error("report", report(&r, argv + optind));
	value_vec_deinit(&r.globs);
	image_cache_deinit(&r.cache);
	return status;
}

const struct command command_report = {
	.name = "report",
	.summary = "show what was recorded in which calling context, as text, JSON, a flame graph",
	.usage = "Usage: waymark report [OPTIONS] [FILE.wmk|DIRECTORY]...\n"
		 "\n"
		 "Shows what was recorded in which calling context: samples, events (wm_event)\n"
		 "and heap use (waymark run --heap). Several files are merged. Without a file it\n"
		 "takes the newest recording in the working directory, of a directory all of them.\n",
	.options = option_rows,
	.operands = {{"recording", COMPLETE_FILE, "wmk", true}},
	.run = run,
};
