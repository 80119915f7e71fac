/* main.c - waymark-slice, which `waymark slice` and `waymark core --slice` become: reads the program's bitcode, slices it and prints the lines. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/forward.h"
#include "analyze/uncount.h"
#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/path_reading.h"
#include "cli/slicing/analysis.h"
#include "cli/slicing/line.h"
#include "cli/slicing/slicing.h"
#include "model/slices/profile_ran.h"
#include "object/object.h"

struct work {
	const struct slice_options *options;
	const char *program;
	const char *criterion;
	struct slicing_line line;
	char *cache;              /* the folder; NULL: none */
	struct build_id build_id; /* of the program */
	struct code code;
	struct ran ran; /* --ran */
	struct profile_ran_count ran_count;
	uint32_t *criteria; /* instructions of the line */
	uint32_t criterion_count;
	struct slicing_analysis analysis;
	struct slicing_progress progress;
	struct sources sources;
};

static struct error *parse_criterion(struct work *w)
{
	bool is_line;
	struct error *err = slicing_line_parse(w->criterion, &w->line, &is_line);

	if (err)
		return err;
	if (!is_line)
		return error_create(ERROR_ARGUMENT, "%s: FILE:LINE is needed, such as main.c:12, or FILE:LINE:VARIABLE",
				    w->criterion);
	if (w->line.variable && w->options->is_forward)
		return error_create(ERROR_ARGUMENT, "%s: --forward begins at a line: FILE:LINE is needed",
				    w->criterion);
	return NULL;
}

struct error *slicing_open(const struct object_search *search, const struct object_wanted *wanted, struct code *ret)
{
	CLEANUP(bitcode_deinit) struct bitcode_vec units = {0};
	struct error *err = object_find_bitcode(search, wanted, &units);

	return err ? err : code_open(&units, ret);
}

static struct error *load(struct work *w)
{
	struct object_wanted wanted = {.path = w->program};
	struct object o;
	struct error *err = object_read(w->program, 0, &o);

	if (err)
		return err;
	wanted.build_id = w->build_id = o.build_id;
	object_deinit(&o);
	err = slicing_open(&w->options->search, &wanted, &w->code);
	if (!err && w->options->ran.count)
		uncount_paths(&w->code);
	if (!err)
		err = slicing_line_probe(&w->line, &w->code);
	return err ? err : code_number_all(&w->code);
}

/* What ran in the recorded runs. */
static struct error *read_runs(struct work *w)
{
	const struct value_vec *files = &w->options->ran;
	struct path_profile p;
	struct error *err;

	if (!files->count)
		return NULL;
	err = path_profile_init(&p, &w->options->search, NULL);
	if (err)
		return err;
	for (size_t i = 0; i < files->count && !err; i++)
		err = path_reading_add(&p, files->items[i]);
	if (!err)
		err = path_profile_finish(&p);
	if (!err)
		err = path_profile_check_counts(&p);
	if (!err)
		err = profile_ran(&p, &w->build_id, &w->code, &w->ran, &w->ran_count);
	path_profile_deinit(&p);
	return err;
}

struct error *slicing_render(enum slice_format format, const struct slice_report *report, FILE *out)
{
	static struct error *(*const renderers[])(const struct slice_report *r, FILE *out) = {
		[SLICE_FORMAT_TEXT] = slice_render_text,
		[SLICE_FORMAT_JSON] = slice_render_json,
		[SLICE_FORMAT_HTML] = slice_render_html,
		[SLICE_FORMAT_SARIF] = slice_render_sarif,
	};

	return renderers[format](report, out);
}

static enum slice_format format_of(const struct work *w)
{
	return w->options->format ? (enum slice_format)(w->options->format - slice_formats) : SLICE_FORMAT_TEXT;
}

static struct error *print(struct work *w, const struct slice_lines *lines, const struct slice_chain *chain,
			   const struct slice_graph *graph)
{
	enum slice_format format = format_of(w);
	struct slice_report report = {.producer = "waymark " WAYMARK_VERSION,
				      .program = w->program,
				      .criterion = w->criterion,
				      .lines = lines,
				      .chain = chain,
				      .graph = graph,
				      .sources = &w->sources,
				      .coarse = w->analysis.coarse,
				      .ran = w->ran.runs ? &w->ran_count : NULL,
				      .is_forward = w->options->is_forward,
				      .is_explained = w->options->is_explained};
	struct output out;
	struct error *err = output_open(w->options->output, &out);

	if (err)
		return err;
	err = slicing_render(format, &report, out.file);
	return output_end(&out, err);
}

static struct pointers_limit limit_of(const struct work *w)
{
	return slicing_limit(w->options->limit_mb, w->options->limit_msteps, NULL);
}

static struct error *slice_line(struct work *w)
{
	CLEANUP(slice_places_deinit) struct slice_places places = {0};
	CLEANUP(slice_lines_deinit) struct slice_lines lines = {0};
	CLEANUP(slice_deinit) struct slice slice = {0};
	CLEANUP(depends_deinit) struct depends depends = {0};
	CLEANUP(slice_chain_deinit) struct slice_chain chain = {0};
	CLEANUP(slice_graph_deinit) struct slice_graph graph = {0};
	const struct slice_request request = {.regions = &w->analysis.regions,
					      .runs = w->ran.runs,
					      .comes = w->ran.comes,
					      .criteria = w->criteria,
					      .criterion_count = w->criterion_count,
					      .limit_steps = limit_of(w).steps};
	struct error *err = w->options->is_forward ? slice_forward(&request, &slice) : slice_backward(&request, &slice);

	if (!err)
		err = slicing_take_slice(&slice, &request, &w->analysis.coarse);
	if (!err)
		err = slice_places_make(&w->code, &places);
	if (!err)
		err = slice_lines_make(&places, &w->analysis.regions, &slice, &lines);
	if (!err)
		err = depends_init(&w->analysis.regions, &slice, w->ran.runs, &depends);
	if (!err && !w->options->is_forward)
		err = slice_chain_find(&depends, &lines, &request, &chain);
	if (!err && format_of(w) == SLICE_FORMAT_HTML)
		err = slice_graph_make(&depends, &lines, &graph);
	slicing_progress_end(&w->progress);
	return err ? err : print(w, &lines, &chain, &graph);
}

static struct error *find_criterion(struct work *w)
{
	w->criteria = calloc((size_t)w->code.instruction_count + 1, sizeof *w->criteria);
	if (!w->criteria)
		return &error_no_memory;
	return slicing_line_find(&w->line, &w->code, w->ran.runs, w->program, w->criteria, &w->criterion_count);
}

static struct error *run(struct work *w)
{
	struct slicing_cache_key key = {.build_id = &w->build_id, .code = &w->code, .limit = limit_of(w)};
	struct error *err = parse_criterion(w);

	if (!err && w->options->has_cache)
		err = slicing_cache_folder(w->options->cache_folder, w->program, &w->cache);
	for (size_t i = 0; i < w->options->source_places.count && !err; i++)
		err = sources_add_place(&w->sources, w->options->source_places.items[i]);
	if (!err)
		err = load(w);
	if (!err)
		err = read_runs(w);
	/* A line that is not there is told before all code is analysed. */
	if (!err)
		err = find_criterion(w);
	slicing_progress_start(&w->progress, &w->code);
	key.folder = w->cache;
	key.runs = w->ran.runs;
	if (!err)
		err = slicing_analyse(&key, NULL, &w->analysis);
	return err ? err : slice_line(w);
}

int main(int argc, char **argv)
{
	struct slice_options o = {0};
	struct work w = {.options = &o};
	int status;

	/*
	 * Nobody deinits the code: LLVM takes long to free it, and the process ends. exit() is called here, so that the code is not lost for
	 * who looks for leaks.
	 */
	if (argc && strcmp(argv[0], "core") == 0)
		exit(core_slice_main(argc, argv, &w.code));
	object_search_init(&o.search);
	status = options_parse(&command_slice, &o, argc, argv);
	if (status == OPTIONS_PARSED && optind + 2 != argc)
		status = message_usage("slice", "a program and FILE:LINE are needed");
	if (status == OPTIONS_PARSED) {
		w.program = argv[optind];
		w.criterion = argv[optind + 1];
		sources_init(&w.sources);
		status = message_error("slice", run(&w));
		slicing_analysis_deinit(&w.analysis);
		ran_deinit(&w.ran);
		sources_deinit(&w.sources);
		slicing_line_deinit(&w.line);
		free(w.criteria);
		free(w.cache);
	}
	object_search_deinit(&o.search);
	value_vec_deinit(&o.source_places);
	value_vec_deinit(&o.ran);
	exit(status);
}
