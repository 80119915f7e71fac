/*
 * paths.c - `waymark paths`: which paths through each function ran, and how often. Reads any number of .wmk files, joins them
 * with the metadata of their programs and hands the view that was asked for to a renderer.
 */
#include <string.h>

#include "cli/command.h"
#include "cli/formats.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/path_reading.h"
#include "report/paths/path_renderer.h"

static const char help_head[] = "Usage: waymark paths [OPTIONS] FILE.wmk...\n"
				"\n"
				"Shows which paths through the functions of programs built with\n"
				"`waymark cc --wm=paths` ran, and how often. Several files are added up.\n"
				"\n"
				"Formats (--format=NAME):\n";

static const char help_tail[] =
	"\n"
	"Options:\n"
	"  --format=NAME     one of the above (text)\n"
	"  --by=WHAT         text: show the hottest paths (path) or a table of functions\n"
	"                    (function)\n"
	"  --top N           only the first N of them (text: 10), of each function (html:\n"
	"                    10); --top all for all\n"
	"  --function GLOB   only functions of such a name; may be given several times\n" PATH_HELP
	"  -o, --output FILE write to FILE\n"
	"  -h, --help        this text\n";

enum {
	OPTION_FORMAT = PATH_OPTION_FIRST,
	OPTION_BY,
	OPTION_TOP,
	OPTION_FUNCTION,
};

static const struct option long_options[] = {
	{"format", required_argument, NULL, OPTION_FORMAT},
	{"by", required_argument, NULL, OPTION_BY},
	{"top", required_argument, NULL, OPTION_TOP},
	{"function", required_argument, NULL, OPTION_FUNCTION},
	PATH_OPTIONS,
	{"output", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

struct request {
	struct path_reading reading;
	const struct path_renderer *renderer;
	bool is_by_function;
	bool has_top;
	size_t top;
	const char *output;
};

static struct error *set_by(struct request *r, const char *name)
{
	r->is_by_function = strcmp(name, "function") == 0;
	if (r->is_by_function || strcmp(name, "path") == 0)
		return NULL;
	return error_create(ERROR_ARGUMENT, "--by %s: must be path or function", name);
}

static struct error *set_option(void *state, int option)
{
	struct request *r = state;

	switch (option) {
	case OPTION_FORMAT:
		r->renderer = word_table_find(&path_formats, optarg);
		return r->renderer ? NULL : formats_unknown("paths", optarg);
	case OPTION_BY:
		return set_by(r, optarg);
	case OPTION_TOP:
		r->has_top = true;
		return number_parse_top(optarg, &r->top);
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
	static const struct options options = {"paths", "o:", long_options, set_option};
	int status = options_parse(&options, r, argc, argv);

	return status == STATUS_OK && optind >= argc ? message_usage("paths", "a .wmk file is needed") : status;
}

static struct error *render(struct request *r, const struct path_view *view)
{
	struct path_report report = {.view = view, .is_by_function = r->is_by_function};
	struct output out;
	struct error *err = output_open(r->output, &out);

	if (err)
		return err;
	report.style = path_reading_style(&r->reading, out.file);
	err = r->renderer->render(&report, out.file);
	return output_end(&out, err);
}

static struct error *show(struct request *r, const struct path_profile *p)
{
	struct path_view_options options = {
		.functions = r->reading.globs.items,
		.function_count = r->reading.globs.count,
		.top = r->has_top ? r->top : r->renderer->default_top,
	};
	struct path_view view;
	struct error *err = path_view_create(p, &options, "waymark " WAYMARK_VERSION, &view);

	if (err)
		return err;
	if (!view.function_count && view.is_filtered)
		err = error_create(ERROR_NOT_FOUND, "--function %s: no function is called so", options.functions[0]);
	else
		err = render(r, &view);
	if (!err && !r->renderer->has_notes) {
		path_notes_print(p, "waymark paths: ", stderr);
		path_optimized_print(&view.summary,
				     "what may have run so is left out, and other counts may not be exact",
				     "waymark paths: ", stderr);
	}
	path_view_deinit(&view);
	return err;
}

static struct error *show_files(struct request *r, char **paths)
{
	struct path_profile p;
	struct error *err = path_profile_init(&p, &r->reading.cache.search, &r->reading.cache);

	if (err)
		return err;
	for (; *paths && !err; paths++)
		err = path_reading_add(&p, *paths);
	if (!err)
		err = path_profile_finish(&p);
	if (!err)
		err = path_profile_check_counts(&p);
	if (!err)
		err = path_profile_check_metadata(&p);
	if (!err)
		err = show(r, &p);
	path_profile_deinit(&p);
	return err;
}

int command_paths(int argc, char **argv)
{
	struct request r = {.renderer = word_table_find(&path_formats, "text")};
	int status;

	path_reading_init(&r.reading);
	status = parse_options(&r, argc, argv);
	if (status == OPTIONS_HELP)
		status = formats_help("paths", &path_formats, help_head, help_tail);
	else if (status == STATUS_OK)
		status = message_error("paths", show_files(&r, argv + optind));
	path_reading_deinit(&r.reading);
	return status;
}
