/*
 * diff.c - `waymark diff`: what changed between two recordings, or two directories of them, of any builds. Its exit status can tell a build
 * system that a number has grown.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/profile_reading.h"
#include "model/contexts/profile_notes.h"
#include "report/contexts/diff_renderer.h"

enum {
	STATUS_GROWN = 3, /* by more than --fail-above */
};

struct request {
	struct profile_reading reading;
	const struct diff_renderer *renderer;
	const char *metric;
	struct option_count top;
	double fail_above; /* percent */
	bool may_fail;
	bool has_grown;
	bool keeps_names;
	const char *output;
};

static struct error *set_fail_above(void *state, const char *text)
{
	struct request *r = state;
	char *end;

	r->may_fail = true;
	r->fail_above = strtod(text, &end);
	if (end != text && (*end == '\0' || strcmp(end, "%") == 0) && r->fail_above >= 0 && r->fail_above < 1e6)
		return NULL;
	return error_create(ERROR_ARGUMENT, "--fail-above %s: must be a percentage", text);
}

static const struct option_row option_rows[] = {
	{.name = "format",
	 .argument = "=NAME",
	 .help = "output format: one of the above (text)",
	 OPTION_ROW(struct request, renderer, &diff_formats)},
	{.name = "metric",
	 .argument = "=NAME",
	 .help = "what to compare, as for waymark report: %s; or EVENT, or EVENT:sum",
	 .word_at = profile_heap_metric,
	 OPTION_TEXT(struct request, metric)},
	{.name = "top",
	 .argument = "N",
	 .help = "only the first N functions and contexts (text: 20); --top all for all",
	 OPTION_COUNT(struct request, top)},
	{.name = "fail-above",
	 .argument = "=PERCENT",
	 .help = "exit with status 3 if the metric of NEW is more than PERCENT above that of OLD",
	 OPTION_SET(set_fail_above)},
	{.name = "no-renames",
	 .help = "a function of another name is another one, however alike they are",
	 OPTION_FLAG(struct request, keeps_names)},
	OPTIONS_OF(profile_reading_options, struct request, reading),
	OPTION_OUTPUT(struct request, output),
	OPTION_HELP,
	OPTIONS_END,
};

static struct error *render(struct request *r, const struct view *views)
{
	struct profile_diff diff;
	struct diff_report report = {.diff = &diff,
				     .views = {&views[DIFF_OLD], &views[DIFF_NEW]},
				     .top = option_count_or(&r->top, r->renderer->default_top),
				     .min = r->reading.min};
	struct output out;
	struct error *err = profile_diff_create(&views[DIFF_OLD], &views[DIFF_NEW],
						&(struct diff_options){.keeps_names = r->keeps_names}, &diff);

	if (err)
		return err;
	r->has_grown =
		r->may_fail && (double)diff.total[DIFF_NEW] > (double)diff.total[DIFF_OLD] * (1 + r->fail_above / 100);
	err = output_open(r->output, &out);
	if (!err)
		err = output_end(&out, r->renderer->render(&report, out.file));
	profile_diff_deinit(&diff);
	if (!err && !r->renderer->has_notes) {
		notes_print(&views[DIFF_OLD], "waymark diff: old: ", stderr);
		notes_print(&views[DIFF_NEW], "waymark diff: new: ", stderr);
	}
	return err;
}

static struct error *view_side(const struct profile *p, const struct view_options *options, const char *operand,
			       struct view *ret)
{
	struct error *err = view_create(p, options, "waymark " WAYMARK_VERSION, ret);

	if (err)
		return error_context(err, "%s", operand);
	return ret->has_metric ? NULL : error_create(ERROR_NOT_FOUND, "%s: nothing was recorded", operand);
}

/* One side may lack the functions that were chosen, but not both. */
static struct error *check_chosen(const struct request *r, const struct view *views)
{
	const struct pattern_vec *chosen = r->reading.functions.count ? &r->reading.functions : &r->reading.modules;

	if (!chosen->count || views[DIFF_OLD].matching_rows || views[DIFF_NEW].matching_rows)
		return NULL;
	return error_create(ERROR_NOT_FOUND, "%s: neither recording has a context with it", chosen->items[0].text);
}

static struct error *compare(struct request *r, const struct profile *profiles, char **operands)
{
	struct view_options options = {.metric = r->metric, .adds_up = true};
	struct view views[DIFF_SIDES] = {0};
	struct error *err;

	profile_reading_filter(&r->reading, &options);
	options.min = 0; /* it is for changes */
	options.may_match_nothing = true;
	err = view_side(&profiles[DIFF_OLD], &options, operands[DIFF_OLD], &views[DIFF_OLD]);
	if (!err) {
		options.metric = profiles[DIFF_OLD].metrics.items[views[DIFF_OLD].metric].name;
		err = view_side(&profiles[DIFF_NEW], &options, operands[DIFF_NEW], &views[DIFF_NEW]);
	}
	if (!err)
		err = check_chosen(r, views);
	if (!err)
		err = render(r, views);
	view_deinit(&views[DIFF_OLD]);
	view_deinit(&views[DIFF_NEW]);
	return err;
}

static struct error *diff(struct request *r, char **operands)
{
	struct profile profiles[DIFF_SIDES] = {0};
	struct error *err = profile_init(&profiles[DIFF_OLD]) ?: profile_init(&profiles[DIFF_NEW]);

	for (int side = 0; side < DIFF_SIDES && !err; side++) {
		profiles[side].keeps_functions = !r->keeps_names;
		err = profile_reading_add(&r->reading, "diff", (char *[]){operands[side], NULL}, &profiles[side]);
	}
	if (!err)
		err = compare(r, profiles, operands);
	for (int side = 0; side < DIFF_SIDES; side++)
		if (profiles[side].nodes.count)
			profile_deinit(&profiles[side]);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {.renderer = word_table_find(&diff_formats, "text")};
	int status;

	profile_reading_init(&r.reading);
	status = options_parse(command, &r, argc, argv);
	if (status == OPTIONS_PARSED && argc - optind != DIFF_SIDES)
		status = message_usage("diff", "two recordings are needed, OLD and NEW");
	else if (status == OPTIONS_PARSED)
		status = message_error("diff", diff(&r, argv + optind));
	profile_reading_deinit(&r.reading);
	return status == STATUS_OK && r.has_grown ? STATUS_GROWN : status;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "show what changed between two recordings, function by function and context by context",
	.usage = "Usage: waymark diff [OPTIONS] OLD NEW\n"
		 "\n"
		 "Compares two recordings, or two directories of them: samples, heap use, events.\n"
		 "The builds may differ: contexts are matched by the names of their functions,\n"
		 "also of renamed ones, and by call sites where there are several.\n",
	.options = option_rows,
	.operands = {{"recording", COMPLETE_FILE, "wmk", true}},
	.run = run,
};
