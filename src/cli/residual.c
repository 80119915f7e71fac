/*
 * residual.c - `waymark residual`: which paths ran in the field that no test ran, from two sets of .wmk files.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/formats.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/path_reading.h"
#include "report/paths/path_compare_renderer.h"

enum {
	STATUS_NEW = 3, /* the field ran what no test ran; 1 and 2 keep the meaning that they have everywhere */
	STATUS_UNKNOWN = 4,
	TOP_DEFAULT = 10,
	HOT_DEFAULT = 90,
};

static const char help[] = "Usage: waymark residual [OPTIONS] --tested FILE.wmk... --field FILE.wmk...\n"
			   "\n"
			   "Shows the paths that ran in the field and in no test, and the hot paths of the\n"
			   "tests that are cold in the field. The two sides may be of other builds:\n"
			   "functions whose control flow is the same are compared, others are listed.\n"
			   "\n"
			   "Options:\n"
			   "  --tested FILE...  what was recorded in tests\n"
			   "  --field FILE...   what was recorded in the field\n"
			   "  --format=NAME     text or json (text)\n"
			   "  --top N           only the first N of each list (10; json: all), or all\n"
			   "  --hot N           hot are the paths that make up N % of the tests' counts (90)\n"
			   "  --function GLOB   only functions of such a name; may be given several times\n" PATH_HELP
			   "  -o, --output FILE write to FILE\n"
			   "  -h, --help        this text\n"
			   "\n"
			   "Exit status: 0 when every path of the field ran in the tests, 3 when not or when\n"
			   "it cannot be said of functions that changed, 4 when no path is new but paths of\n"
			   "the source are not told apart (--wm-stage=final) or were lost, 1 on failure,\n"
			   "2 for a wrong command line.\n";

enum {
	OPTION_TESTED = PATH_OPTION_FIRST,
	OPTION_FIELD,
	OPTION_FORMAT,
	OPTION_TOP,
	OPTION_HOT,
	OPTION_FUNCTION,
	OPERAND = 1, /* what getopt_long returns for operands with '-' first */
};

static const struct option long_options[] = {
	{"tested", required_argument, NULL, OPTION_TESTED},
	{"field", required_argument, NULL, OPTION_FIELD},
	{"format", required_argument, NULL, OPTION_FORMAT},
	{"top", required_argument, NULL, OPTION_TOP},
	{"hot", required_argument, NULL, OPTION_HOT},
	{"function", required_argument, NULL, OPTION_FUNCTION},
	PATH_OPTIONS,
	{"output", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

struct request {
	struct path_reading reading;
	struct glob_vec tested;
	struct glob_vec field;
	struct glob_vec *side; /* that operands belong to: of the last --tested or --field */
	bool is_json;
	bool has_top;
	size_t top;
	double hot;
	const char *output;
	enum path_verdict verdict;
};

static struct error *add_operand(struct request *r, const char *path)
{
	if (!r->side)
		return error_create(ERROR_ARGUMENT, "%s: say --tested or --field before it", path);
	return glob_vec_append(r->side, path);
}

static struct error *set_format(struct request *r, const char *name)
{
	r->is_json = strcmp(name, "json") == 0;
	if (r->is_json || strcmp(name, "text") == 0)
		return NULL;
	return formats_unknown("residual", name);
}

static struct error *set_hot(struct request *r, const char *text)
{
	char *end;

	r->hot = strtod(text, &end);
	if (end != text && (*end == '\0' || strcmp(end, "%") == 0) && r->hot > 0 && r->hot <= 100)
		return NULL;
	return error_create(ERROR_ARGUMENT, "--hot %s: must be a percentage over 0 and up to 100", text);
}

static struct error *set_option(void *state, int option)
{
	struct request *r = state;

	switch (option) {
	case OPTION_TESTED:
	case OPTION_FIELD:
		r->side = option == OPTION_TESTED ? &r->tested : &r->field;
		return add_operand(r, optarg);
	case OPERAND:
		return add_operand(r, optarg);
	case OPTION_FORMAT:
		return set_format(r, optarg);
	case OPTION_TOP:
		r->has_top = true;
		return number_parse_top(optarg, &r->top);
	case OPTION_HOT:
		return set_hot(r, optarg);
	case OPTION_FUNCTION:
		return glob_vec_append(&r->reading.globs, optarg);
	case 'o':
		r->output = optarg;
		return NULL;
	default:
		return path_reading_option(&r->reading, option);
	}
}

static int parse_options(struct request *r, int argc, char **argv)
{
	static const struct options options = {"residual", "-o:", long_options, set_option};
	int status = options_parse(&options, r, argc, argv);
	struct error *err = NULL;

	for (; status == STATUS_OK && optind < argc && !err; optind++) /* behind "--" */
		err = add_operand(r, argv[optind]);
	if (err) {
		message_error("residual", err);
		return STATUS_USAGE;
	}
	if (status == STATUS_OK && !r->tested.count)
		return message_usage("residual", "--tested with a .wmk file is needed");
	if (status == STATUS_OK && !r->field.count)
		return message_usage("residual", "--field with a .wmk file is needed");
	return status;
}

static struct error *read_side(const struct glob_vec *files, struct path_profile *p)
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
	err = r->is_json ? path_compare_json(c, style.sources, out.file) : path_compare_text(c, &style, out.file);
	return output_end(&out, err);
}

static struct error *compare(struct request *r, struct path_profile *tested, struct path_profile *field)
{
	struct path_compare_options options = {
		.view = {.functions = r->reading.globs.items,
			 .function_count = r->reading.globs.count,
			 .top = r->has_top   ? r->top
				: r->is_json ? 0
					     : TOP_DEFAULT},
		.hot = r->hot,
	};
	struct path_comparison c;
	struct error *err = read_side(&r->tested, tested);

	if (!err)
		err = read_side(&r->field, field);
	if (!err)
		err = check_metadata(tested, field);
	if (!err)
		err = path_compare(tested, field, &options, "waymark " WAYMARK_VERSION, &c);
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

int command_residual(int argc, char **argv)
{
	struct request r = {.hot = HOT_DEFAULT};
	int status;

	path_reading_init(&r.reading);
	status = parse_options(&r, argc, argv);
	if (status == OPTIONS_HELP) {
		status = message_help("residual", help);
	} else if (status == STATUS_OK) {
		status = message_error("residual", compare_files(&r));
		if (status == STATUS_OK && r.verdict != PATH_VERDICT_COVERED)
			status = r.verdict == PATH_VERDICT_NEW ? STATUS_NEW : STATUS_UNKNOWN;
	}
	glob_vec_deinit(&r.tested);
	glob_vec_deinit(&r.field);
	path_reading_deinit(&r.reading);
	return status;
}
