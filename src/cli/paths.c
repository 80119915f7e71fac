/*
 * paths.c - `waymark paths`: which paths through each function ran, and how often. Reads any number of .wmk files, joins them
 * with the metadata of their programs and hands the view that was asked for to a renderer.
 */
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/path_reading.h"
#include "report/paths/path_renderer.h"

enum {
	BY_PATH,
	BY_FUNCTION,
};

struct request {
	struct path_reading reading;
	const struct path_renderer *renderer;
	unsigned int by; /* enum */
	struct option_count top;
	const char *output;
};

static const struct word by[] = {[BY_PATH] = {"path", NULL}, [BY_FUNCTION] = {"function", NULL}, {0}};
static const struct word_table by_words = {by, sizeof *by};

static const struct option_row option_rows[] = {
	{.name = "format",
	 .argument = "=NAME",
	 .help = "output format: one of the above (text)",
	 OPTION_ROW(struct request, renderer, &path_formats)},
	{.name = "by",
	 .argument = "=WHAT",
	 .help = "what to show in text: the hottest paths (path) or a table of functions (function)",
	 OPTION_WORD(struct request, by, &by_words)},
	{.name = "top",
	 .argument = "N",
	 .help = "only the first N of them (text: 10), of each function (html: 10); --top all for all",
	 OPTION_COUNT(struct request, top)},
	{.name = "function",
	 .argument = "GLOB",
	 .help = "only functions of such a name; may be given several times",
	 OPTION_LIST(struct request, reading.globs)},
	OPTIONS_OF(path_reading_options, struct request, reading),
	OPTION_OUTPUT(struct request, output),
	OPTION_HELP,
	OPTIONS_END,
};

static struct error *render(struct request *r, const struct path_view *view)
{
	struct path_report report = {.view = view, .is_by_function = r->by == BY_FUNCTION};
	struct output out;
	struct error *err = output_open(r->output, &out);

	if (err)
		return err;
	report.style = path_reading_style(&r->reading, out.file);
	err = r->renderer->render(&report, out.file);
	return output_end(&out, err);
}

static struct error *render_profile(struct request *r, const struct path_profile *p)
{
	struct path_view_options options = {
		.functions = r->reading.globs.items,
		.function_count = r->reading.globs.count,
		.top = option_count_or(&r->top, r->renderer->default_top),
	};
	struct path_view view;
	struct error *err = path_view_create(p, &options, "waymark " WAYMARK_VERSION, &view);

	if (err)
		return err;
	if (!view.function_count && view.is_filtered)
		err = error_create(ERROR_NOT_FOUND, "--function %s: no function has this name", options.functions[0]);
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

static struct error *render_files(struct request *r, char **paths)
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
		err = render_profile(r, &p);
	path_profile_deinit(&p);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {.renderer = word_table_find(&path_formats, "text")};
	int status;

	path_reading_init(&r.reading);
	status = options_parse(command, &r, argc, argv);
	if (status == OPTIONS_PARSED && optind >= argc)
		status = message_usage("paths", "a .wmk file is needed");
	else if (status == OPTIONS_PARSED)
		status = message_error("paths", render_files(&r, argv + optind));
	path_reading_deinit(&r.reading);
	return status;
}

const struct command command_paths = {
	.name = "paths",
	.summary = "show which paths through functions ran, as text, JSON, lcov, a page",
	.usage = "Usage: waymark paths [OPTIONS] FILE.wmk...\n"
		 "\n"
		 "Shows which paths through the functions of programs built with\n"
		 "`waymark cc --wm=paths` ran, and how often. Several files are added up.\n",
	.options = option_rows,
	.operands = {{"recording", COMPLETE_FILE, "wmk", true}},
	.run = run,
};
