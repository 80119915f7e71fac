/*
 * residual.c - `waymark residual`: which paths ran in the field that no test ran, from two sets of .wmk files.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/path_reading.h"
#include "report/paths/path_compare_renderer.h"

enum {
	STATUS_NEW = 3, /* the field ran what no test ran; 1 and 2 keep the meaning that they have everywhere */
	STATUS_UNKNOWN = 4,
	HOT_DEFAULT = 90, /* percent */
};

struct request {
	struct path_reading reading;
	struct value_vec tested;
	struct value_vec field;
	struct value_vec *side; /* that operands belong to: of the last --tested or --field */
	const struct path_compare_renderer *renderer;
	struct option_count top;
	double hot;
	const char *output;
	enum path_verdict verdict;
};

static struct error *add_operand(void *state, const char *path)
{
	struct request *r = state;

	if (!r->side)
		return error_create(ERROR_ARGUMENT, "%s: say --tested or --field before it", path);
	return value_vec_append(r->side, path);
}

static struct error *add_tested(void *state, const char *path)
{
	struct request *r = state;

	r->side = &r->tested;
	return add_operand(r, path);
}

static struct error *add_field(void *state, const char *path)
{
	struct request *r = state;

	r->side = &r->field;
	return add_operand(r, path);
}

static struct error *set_hot(void *state, const char *text)
{
	struct request *r = state;
	char *end;

	r->hot = strtod(text, &end);
	if (end != text && (*end == '\0' || strcmp(end, "%") == 0) && r->hot > 0 && r->hot <= 100)
		return NULL;
	return error_create(ERROR_ARGUMENT, "--hot %s: must be a percentage over 0 and up to 100", text);
}

static const struct option_row option_rows[] = {
	{.name = "tested",
	 .argument = "FILE...",
	 .help = "what was recorded in tests",
	 .is_repeatable = true,
	 .is_required = true,
	 .completion = COMPLETE_FILE,
	 .suffix = "wmk",
	 OPTION_SET(add_tested)},
	{.name = "field",
	 .argument = "FILE...",
	 .help = "what was recorded in the field",
	 .is_repeatable = true,
	 .is_required = true,
	 .completion = COMPLETE_FILE,
	 .suffix = "wmk",
	 OPTION_SET(add_field)},
	{.name = "format",
	 .argument = "=NAME",
	 .help = "output format: %s (text)",
	 OPTION_ROW(struct request, renderer, &path_compare_formats)},
	{.name = "top",
	 .argument = "N",
	 .help = "only the first N of each list (10; json: all), or all",
	 OPTION_COUNT(struct request, top)},
	{.name = "hot",
	 .argument = "N",
	 .help = "hot are the paths that make up N % of the tests' counts",
	 .preset = HOT_DEFAULT,
	 OPTION_SET(set_hot)},
	{.name = "function",
	 .argument = "GLOB",
	 .help = "only functions of such a name; may be given several times",
	 OPTION_LIST(struct request, reading.globs)},
	OPTIONS_OF(path_reading_options, struct request, reading),
	OPTION_OUTPUT(struct request, output),
	OPTION_HELP,
	OPTIONS_END,
};

static int parse_options(const struct command *command, struct request *r, int argc, char **argv)
{
	int status = options_parse(command, r, argc, argv);

	if (status == OPTIONS_PARSED && !r->tested.count)
		return message_usage("residual", "--tested with a .wmk file is needed");
	if (status == OPTIONS_PARSED && !r->field.count)
		return message_usage("residual", "--field with a .wmk file is needed");
	return status;
}

static struct error *read_side(const struct value_vec *files, struct path_profile *p)
{
	struct error *err = NULL;

	for (size_t i = 0; i < files->count && !err; i++)
		err = path_reading_add(p, files->items[i]);
	if (!err)
		err = path_profile_finish(p);
	return err ? err : path_profile_check_counts(p);
}

/* Metadata of one side is enough: numbers of the same function mean the same. */
static struct error *check_metadata(const struct path_profile *tested, const struct path_profile *field)
{
	struct error *tested_err = path_profile_check_metadata(tested);
	struct error *field_err = path_profile_check_metadata(field);

	if (!tested_err || !field_err) {
		error_destroy(tested_err);
		error_destroy(field_err);
		return NULL;
	}
	error_destroy(field_err);
	return tested_err;
}

static struct error *render(struct request *r, const struct path_comparison *c)
{
	struct output out;
	struct path_style style;
	struct error *err = output_open(r->output, &out);

	if (err)
		return err;
	style = path_reading_style(&r->reading, out.file);
	return output_end(&out, r->renderer->render(c, &style, out.file));
}

/* A name that is wrong would say that nothing is new. */
static struct error *check_functions(const struct path_view_options *options, const struct path_profile *tested,
				     const struct path_profile *field)
{
	if (!options->function_count || path_view_matches_any(options, tested) || path_view_matches_any(options, field))
		return NULL;
	return error_create(ERROR_NOT_FOUND, "--function %s: no function has this name", options->functions[0]);
}

static struct error *compare(struct request *r, struct path_profile *tested, struct path_profile *field)
{
	struct path_compare_options options = {
		.view = {.functions = r->reading.globs.items,
			 .function_count = r->reading.globs.count,
			 .top = option_count_or(&r->top, r->renderer->default_top)},
		.hot = r->hot,
	};
	struct path_comparison c;
	struct error *err;

	err = read_side(&r->tested, tested) ?:
	      read_side(&r->field, field) ?:
	      path_profile_note_shared(field, tested) ?:
	      check_metadata(tested, field) ?:
	      check_functions(&options.view, tested, field) ?:
	      path_compare(tested, field, &options, "waymark " WAYMARK_VERSION, &c);
	if (err)
		return err;
	err = render(r, &c);
	r->verdict = path_comparison_verdict(&c);
	path_comparison_deinit(&c);
	return err;
}

static struct error *compare_files(struct request *r)
{
	struct path_profile tested, field;
	struct error *err = path_profile_init(&tested, &r->reading.cache.search, NULL);

	if (err)
		return err;
	err = path_profile_init(&field, &r->reading.cache.search, &r->reading.cache);
	if (!err) {
		err = compare(r, &tested, &field);
		path_profile_deinit(&field);
	}
	path_profile_deinit(&tested);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {.renderer = word_table_find(&path_compare_formats, "text"), .hot = HOT_DEFAULT};
	int status;

	path_reading_init(&r.reading);
	status = parse_options(command, &r, argc, argv);
	if (status == OPTIONS_PARSED) {
		status = message_error("residual", compare_files(&r));
		if (status == STATUS_OK && r.verdict != PATH_VERDICT_COVERED)
			status = r.verdict == PATH_VERDICT_NEW ? STATUS_NEW : STATUS_UNKNOWN;
	}
	value_vec_deinit(&r.tested);
	value_vec_deinit(&r.field);
	path_reading_deinit(&r.reading);
	return status;
}

const struct command command_residual = {
	.name = "residual",
	.summary = "show the paths that ran in the field and in no test",
	.usage = "Usage: waymark residual [OPTIONS] --tested FILE.wmk... --field FILE.wmk...\n"
		 "\n"
		 "Shows the paths that ran in the field and in no test, and the hot paths of the\n"
		 "tests that are cold in the field. The two sides may be of other builds:\n"
		 "functions whose control flow is the same are compared, others are listed.\n",
	.options = option_rows,
	.notes = "\n"
		 "Exit status: 0 if every path of the field ran in the tests; 3 if one did not,\n"
		 "or if functions changed, so that their paths cannot be compared; 4 if no path is\n"
		 "new, but several source paths count as one (--wm-stage=final) or paths were\n"
		 "lost; 1 on failure; 2 for a wrong command line.\n",
	.operands = {{"recording", COMPLETE_FILE, "wmk", true}},
	.add_operand = add_operand,
	.run = run,
};
