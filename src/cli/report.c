/*
 * report.c - `waymark report`: merges .wmk files into a profile, takes the view that was asked for and hands it to a
 * renderer. The output appears when it is whole.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/formats.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "model/contexts/recording.h"
#include "report/contexts/renderer.h"

static const char help_head[] = "Usage: waymark report [OPTIONS] FILE.wmk...\n"
				"\n"
				"Shows what was recorded in which calling context: events (wm_event) and heap\n"
				"use (waymark run --heap). Several files are merged.\n"
				"\n"
				"Formats (--format=NAME):\n";

static const char help_tail[] =
	"\n"
	"Options:\n"
	"  --format=NAME     one of the above (text)\n"
	"  --metric=NAME     what to show in front: bytes, allocations, live,\n"
	"                    live-allocations, peak, leaked; of forked children\n"
	"                    inherited, inherited-live; or EVENT (how often) or\n"
	"                    EVENT:sum (of its values)\n"
	"  --sort=NAME       sort by another metric, or by name\n"
	"  --top N           only the first N contexts (text: 20); --top all for all\n"
	"  --function GLOB   only contexts with a function of such a name in them;\n"
	"                    may be given several times\n"
	"  --max-depth N     do not decode contexts of more than N frames (4194304)\n" SEARCH_HELP
	"  -o, --output FILE write to FILE\n"
	"  -h, --help        this text\n";

enum {
	OPTION_FORMAT = OPTION_FIRST,
	OPTION_METRIC,
	OPTION_SORT,
	OPTION_TOP,
	OPTION_FUNCTION,
	OPTION_MAX_DEPTH,
};

static const struct option long_options[] = {
	{"format", required_argument, NULL, OPTION_FORMAT},
	{"metric", required_argument, NULL, OPTION_METRIC},
	{"sort", required_argument, NULL, OPTION_SORT},
	{"top", required_argument, NULL, OPTION_TOP},
	{"function", required_argument, NULL, OPTION_FUNCTION},
	{"max-depth", required_argument, NULL, OPTION_MAX_DEPTH},
	SEARCH_OPTIONS,
	{"output", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

struct request {
	const struct renderer *renderer;
	struct view_options view;
	struct glob_vec globs;
	bool has_top;
	size_t max_depth;
	const char *output;
	struct image_cache cache;
};

static struct error *set_option(void *state, int option)
{
	struct request *r = state;

	switch (option) {
	case OPTION_FORMAT:
		r->renderer = word_table_find(&report_formats, optarg);
		return r->renderer ? NULL : formats_unknown("report", optarg);
	case OPTION_METRIC:
		r->view.metric = optarg;
		return NULL;
	case OPTION_SORT:
		r->view.sort = optarg;
		return NULL;
	case OPTION_TOP:
		r->has_top = true;
		return number_parse_top(optarg, &r->view.top);
	case OPTION_FUNCTION:
		return glob_vec_append(&r->globs, optarg);
	case OPTION_MAX_DEPTH:
		return number_parse("--max-depth", optarg, &r->max_depth);
	case 'o':
		r->output = optarg;
		return NULL;
	default:
		return search_option(&r->cache.search, option, optarg);
	}
}

static int parse_options(struct request *r, int argc, char **argv)
{
	static const struct options options = {"report", "o:", long_options, set_option};
	int status = options_parse(&options, r, argc, argv);

	return status == STATUS_OK && optind >= argc ? message_usage("report", "a .wmk file is needed") : status;
}

static void report_progress(void *data, uint64_t done, uint64_t total)
{
	progress_update(data, done, total);
}

static struct error *add_file(struct profile *p, struct request *r, const char *path)
{
	struct progress line;
	struct profile_progress progress = {.report = report_progress, .data = &line};
	struct recording recording;
	struct error *err;

	progress_start(&line, path);
	err = recording_open(path, &recording);
	if (!err) {
		err = profile_add_file(p, &recording.wmk, &r->cache, &progress);
		recording_close(&recording);
	}
	progress_end(&line);
	return err;
}

static struct error *render(const struct profile *p, struct request *r)
{
	struct view view;
	struct output out;
	struct error *err;

	r->view.functions = r->globs.items;
	r->view.function_count = r->globs.count;
	r->view.keeps_zeros = r->renderer->keeps_zeros;
	if (!r->has_top)
		r->view.top = r->renderer->default_top;
	err = output_open(r->output, &out);
	if (err)
		return err;
	r->view.is_coloured = message_has_colour(out.file);
	err = view_create(p, &r->view, "waymark " WAYMARK_VERSION, &view);
	if (!err) {
		err = r->renderer->render(&view, out.file);
		view_deinit(&view);
	}
	return output_end(&out, err);
}

static struct error *report_files(struct request *r, char **paths)
{
	struct profile p;
	struct error *err = profile_init(&p);

	if (err)
		return err;
	if (r->max_depth)
		p.max_depth = r->max_depth;
	p.keeps_events = r->renderer->wants_events;
	for (; *paths && !err; paths++)
		err = add_file(&p, r, *paths);
	if (!err)
		err = render(&p, r);
	profile_deinit(&p);
	return err;
}

int command_report(int argc, char **argv)
{
	struct request r = {.renderer = word_table_find(&report_formats, "text")};
	int status;

	image_cache_init(&r.cache);
	status = parse_options(&r, argc, argv);
	if (status == OPTIONS_HELP)
		status = formats_help("report", &report_formats, help_head, help_tail);
	else if (status == STATUS_OK)
		status = message_error("report", report_files(&r, argv + optind));
	glob_vec_deinit(&r.globs);
	image_cache_deinit(&r.cache);
	return status;
}
