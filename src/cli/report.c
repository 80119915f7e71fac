/*
 * report.c - `waymark report`: merges .wmk files into a profile, takes the view that was asked for and hands it, or a table or a tree made of
 * it, to a renderer. The output appears when it is whole.
 */
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/profile_reading.h"
#include "model/contexts/profile_notes.h"
#include "report/contexts/renderer.h"

struct request {
	struct profile_reading reading;
	const struct renderer *renderer;
	struct view_options view;
	struct option_count top;
	bool keeps_threads;
	const char *group_label;
	const char *output;
	/* what is shown in place of contexts; one of them at most */
	const struct table_kind *table;
	bool is_tree, is_inverted, is_timeline, is_sizes, is_lifetimes;
	struct pattern_vec callers, callees;
};

static const double tree_min = 0.5; /* percent; trees have too many lines otherwise */

/* The orders of tables, then metrics. */
static const char *const orders[] = {[TABLE_BY_SELF] = "self", [TABLE_BY_TOTAL] = "total", [TABLE_BY_NAME] = "name"};

enum {
	ORDERS = sizeof orders / sizeof *orders,
};

static const char *sort_at(size_t index)
{
	return index < ORDERS ? orders[index] : profile_heap_metric(index - ORDERS);
}

static struct error *add_callers(void *callers, const char *text)
{
	return patterns_add(callers, "--callers", text);
}

static struct error *add_callees(void *callees, const char *text)
{
	return patterns_add(callees, "--callees", text);
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
	{.name = "tree",
	 .help = "a tree of calls in text or json, from the outermost functions down",
	 OPTION_FLAG(struct request, is_tree)},
	{.name = "inverted",
	 .help = "a tree of callers, from the innermost functions up",
	 OPTION_FLAG(struct request, is_inverted)},
	{.name = "callers",
	 .argument = "=PATTERN",
	 .help = "a tree of the callers of functions of such a name: a glob, or /REGEX/",
	 .is_repeatable = true,
	 OPTION_SET(add_callers),
	 .off = offsetof(struct request, callers)},
	{.name = "callees",
	 .argument = "=PATTERN",
	 .help = "a tree of what functions of such a name call",
	 .is_repeatable = true,
	 OPTION_SET(add_callees),
	 .off = offsetof(struct request, callees)},
	{.name = "timeline",
	 .help = "the live bytes of the heap by time, in text or json",
	 OPTION_FLAG(struct request, is_timeline)},
	{.name = "sizes",
	 .help = "how large the blocks of the heap are, in text or json: of all contexts and of each",
	 OPTION_FLAG(struct request, is_sizes)},
	{.name = "lifetimes",
	 .help = "how long blocks lived that were freed, in allocations of the process",
	 OPTION_FLAG(struct request, is_lifetimes)},
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
	{.name = "threads",
	 .help = "distinguish events by their threads: the outermost frame is the thread's name, or its number",
	 OPTION_FLAG(struct request, keeps_threads)},
	{.name = "group-by",
	 .argument = "=LABEL",
	 .help = "distinguish recordings by a label (rank, host, name, those of `waymark run`): the outermost frame is its value",
	 OPTION_TEXT(struct request, group_label)},
	OPTIONS_OF(profile_reading_options, struct request, reading),
	OPTION_OUTPUT(struct request, output),
	OPTION_HELP,
	OPTIONS_END,
};

static bool has_tree(const struct request *r)
{
	return r->is_tree || r->is_inverted || r->callers.count || r->callees.count;
}

static bool has_histogram(const struct request *r)
{
	return r->is_sizes || r->is_lifetimes;
}

/* ---- tables and trees ---- */

/* What --sort says of a table is not for contexts. */
static struct error *take_order(struct request *r, enum table_order *ret)
{
	const char *wanted = r->view.sort;

	r->view.sort = NULL;
	*ret = TABLE_BY_SELF;
	for (int i = 0; i < ORDERS && wanted; i++) {
		if (strcmp(wanted, orders[i]) == 0) {
			*ret = (enum table_order)i;
			return NULL;
		}
	}
	return wanted ? error_create(ERROR_ARGUMENT, "--sort %s: a table is sorted by self, total or name", wanted)
		      : NULL;
}

static struct error *render_table(const struct view *v, const struct request *r, enum table_order order, FILE *out)
{
	const struct table_options options = {.kind = r->table,
					      .order = order,
					      .top = option_count_or(&r->top, r->renderer->default_top),
					      .min = r->reading.min};
	struct table t;
	struct error *err = table_create(v, &options, &t);

	if (err)
		return err;
	err = r->renderer->render_table(v, &t, out);
	table_deinit(&t);
	return err;
}

static struct error *render_tree(const struct view *v, const struct request *r, FILE *out)
{
	const struct call_tree_options options = {.is_up = r->is_inverted || r->callers.count,
						  .functions = r->callers.count ? &r->callers : &r->callees,
						  .min = r->reading.has_min ? r->reading.min : tree_min};
	struct call_tree t;
	struct error *err = call_tree_create(v, &options, &t);

	if (err)
		return err;
	err = r->renderer->render_tree(v, &t, out);
	call_tree_deinit(&t);
	return err;
}

/* What cannot be together, before anything is read. */
static struct error *check(const struct request *r)
{
	int shapes = (r->table != NULL) + r->is_tree + r->is_inverted + (r->callers.count > 0) +
		     (r->callees.count > 0) + r->is_timeline + r->is_sizes + r->is_lifetimes;

	if (shapes > 1)
		return error_create(
			ERROR_ARGUMENT,
			"give one of --by, --tree, --inverted, --callers, --callees, --timeline, --sizes and --lifetimes, "
			"not several");
	if (shapes && !r->renderer->render_table)
		return error_create(ERROR_ARGUMENT, "--format=%s has no tables and no trees; use text or json",
				    r->renderer->format.name);
	if (has_tree(r) && (r->top.is_given || r->view.sort))
		return error_create(ERROR_ARGUMENT, "%s: a tree is limited by --min, and its order is that of totals",
				    r->top.is_given ? "--top" : "--sort");
	return NULL;
}

/* ---- the report ---- */

/* Tables and trees are of all contexts, which their own limits do not cut. */
static void choose_view(struct request *r)
{
	bool is_whole = r->table || has_tree(r) || r->is_timeline || has_histogram(r);

	profile_reading_filter(&r->reading, &r->view);
	r->view.keeps_zeros = r->renderer->keeps_zeros;
	if (has_histogram(r) && !r->view.metric)
		r->view.metric = "allocations";
	r->view.metric = r->view.metric ?: r->renderer->metric;
	r->view.adds_up = r->renderer->adds_up || is_whole;
	r->view.top = option_count_or(&r->top, r->renderer->default_top);
	if (!is_whole)
		return;
	r->view.top = 0;
	r->view.min = 0;
}

static struct error *render_view(const struct view *v, const struct request *r, enum table_order order, FILE *out)
{
	if (r->table && v->has_metric)
		return render_table(v, r, order, out);
	if (has_tree(r) && v->has_metric)
		return render_tree(v, r, out);
	if (r->is_timeline)
		return r->renderer->render_timeline(v, option_count_or(&r->top, r->renderer->default_top), out);
	if (has_histogram(r) && v->has_metric)
		return r->renderer->render_histogram(v, r->is_sizes ? HEAP_CLASS_SIZE : HEAP_CLASS_LIFE,
						     option_count_or(&r->top, r->renderer->default_top), out);
	return r->renderer->render(v, out);
}

static struct error *render(const struct profile *p, struct request *r)
{
	enum table_order order = TABLE_BY_SELF;
	struct view view;
	struct output out;
	struct error *err = r->table ? take_order(r, &order) : NULL;

	if (r->renderer->is_binary && !r->output && isatty(STDOUT_FILENO))
		return error_create(ERROR_ARGUMENT, "--format=%s is no text: -o FILE writes it to a file",
				    r->renderer->format.name);
	choose_view(r);
	if (!err)
		err = output_open(r->output, &out);
	if (err)
		return err;
	r->view.is_coloured = message_has_colour(out.file);
	err = view_create(p, &r->view, "waymark " WAYMARK_VERSION, &view);
	if (!err) {
		err = render_view(&view, r, order, out.file);
		if (!err && !r->renderer->has_notes)
			notes_print(&view, "waymark report: ", stderr);
		view_deinit(&view);
	}
	return output_end(&out, err);
}

static struct error *report(struct request *r, char **operands)
{
	struct profile p;
	struct error *err = profile_init(&p);

	if (err)
		return err;
	p.keeps_threads = r->keeps_threads || (r->table && r->table->key == KEY_THREAD);
	p.keeps_classes = has_histogram(r) || (r->view.metric && heap_class_is_metric(r->view.metric));
	p.group_label = r->group_label;
	p.keeps_events = r->renderer->wants_events;
	err = profile_reading_add(&r->reading, "report", operands, &p);
	if (!err)
		err = render(&p, r);
	profile_deinit(&p);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {.renderer = word_table_find(&report_formats, "text")};
	int status;

	profile_reading_init(&r.reading);
	status = options_parse(command, &r, argc, argv);
	if (status == OPTIONS_PARSED) {
		struct error *err = check(&r);

		status = err ? message_usage("report", "%s", err->message)
			     : message_error("report", report(&r, argv + optind));
		error_destroy(err);
	}
	patterns_deinit(&r.callers);
	patterns_deinit(&r.callees);
	profile_reading_deinit(&r.reading);
	return status;
}

const struct command command_report = {
	.name = "report",
	.summary = "show what was recorded in which function and calling context, as text, JSON, a flame graph",
	.usage = "Usage: waymark report [OPTIONS] [FILE.wmk|DIRECTORY]...\n"
		 "\n"
		 "Shows what was recorded in which calling context: samples, events (wm_event)\n"
		 "and heap use (waymark run --heap). Several files are merged. Without a file it\n"
		 "takes the newest recording in the working directory, of a directory all of them.\n",
	.options = option_rows,
	.operands = {{"recording", COMPLETE_FILE, "wmk", true}},
	.run = run,
};
