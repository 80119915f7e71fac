/* main.c - waymark-slice, which `waymark slice` and `waymark core --slice` become: reads the program's bitcode, slices it and prints the lines. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/slice.h"
#include "cli/slicing/slicing.h"
#include "object/object.h"
#include "report/slices/slice_render.h"

struct work {
	const struct slice_options *options;
	const char *program;
	const char *criterion;
	char *file;
	uint32_t line;
	struct code code;
	struct memory memory;
	struct regions regions;
	struct sources sources;
};

static struct error *parse_criterion(struct work *w)
{
	const char *colon = strrchr(w->criterion, ':');
	char *end = NULL;
	unsigned long line = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!colon || colon == w->criterion || !line || line > UINT32_MAX || *end)
		return error_create(ERROR_ARGUMENT, "%s: FILE:LINE is needed, such as main.c:12", w->criterion);
	w->file = strndup(w->criterion, (size_t)(colon - w->criterion));
	w->line = (uint32_t)line;
	return w->file ? NULL : &error_no_memory;
}

struct error *slicing_load(const struct object_search *search, const struct object_wanted *wanted, struct code *ret)
{
	CLEANUP(bitcode_deinit) struct bitcode_vec units = {0};
	struct error *err = object_find_bitcode(search, wanted, &units);

	return err ? err : code_load(&units, ret);
}

static struct error *load(struct work *w)
{
	struct object_wanted wanted = {.path = w->program};
	struct object o;
	struct error *err = object_read(w->program, 0, &o);

	if (err)
		return err;
	wanted.build_id = o.build_id;
	object_deinit(&o);
	return slicing_load(&w->options->search, &wanted, &w->code);
}

static struct error *print(struct work *w, const struct slice_lines *lines)
{
	struct slice_report report = {.program = w->program,
				      .criterion = w->criterion,
				      .lines = lines,
				      .sources = &w->sources,
				      .is_explained = w->options->is_explained};
	struct output out;
	struct error *err = output_open(w->options->output, &out);

	if (err)
		return err;
	err = w->options->format == &slice_formats[SLICE_FORMAT_JSON] ? slice_render_json(&report, out.file)
								      : slice_render_text(&report, out.file);
	return output_end(&out, err);
}

static struct error *slice_line(struct work *w)
{
	CLEANUP(slice_lines_deinit) struct slice_lines lines = {0};
	CLEANUP(slice_deinit) struct slice slice = {0};
	struct arena scratch = {0};
	uint32_t *criteria = arena_calloc(&scratch, (size_t)w->code.instruction_count + 1, sizeof *criteria);
	struct slice_request request = {.regions = &w->regions, .criteria = criteria};
	struct error *err = criteria ? NULL : &error_no_memory;

	if (!err)
		request.criterion_count = slice_find_line(&w->code, w->file, w->line, criteria);
	if (!err && !request.criterion_count)
		err = error_create(ERROR_NOT_FOUND, "%s: the program has no code of %s", w->program, w->criterion);
	if (!err)
		err = slice_backward(&request, &slice);
	arena_deinit(&scratch);
	if (!err)
		err = slice_lines_make(&w->regions, &slice, &lines);
	return err ? err : print(w, &lines);
}

static struct error *run(struct work *w)
{
	size_t limit_mb = w->options->limit_mb ? w->options->limit_mb : SLICE_LIMIT_MB;
	struct error *err = parse_criterion(w);

	for (size_t i = 0; i < w->options->source_places.count && !err; i++)
		err = sources_add_place(&w->sources, w->options->source_places.items[i]);
	if (!err)
		err = load(w);
	if (!err)
		err = memory_analyse(&w->code, NULL, limit_mb << 20, &w->memory);
	if (!err)
		err = regions_find(&w->memory, NULL, &w->regions);
	return err ? err : slice_line(w);
}

int main(int argc, char **argv)
{
	struct slice_options o = {0};
	struct work w = {.options = &o};
	int status;

	if (argc && strcmp(argv[0], "core") == 0)
		return core_slice_main(argc, argv);
	object_search_init(&o.search);
	status = options_parse(&command_slice, &o, argc, argv);
	if (status == OPTIONS_PARSED && optind + 2 != argc)
		status = message_usage("slice", "a program and FILE:LINE are needed");
	if (status == OPTIONS_PARSED) {
		w.program = argv[optind];
		w.criterion = argv[optind + 1];
		sources_init(&w.sources);
		status = message_error("slice", run(&w));
		regions_deinit(&w.regions);
		memory_deinit(&w.memory);
		code_deinit(&w.code);
		sources_deinit(&w.sources);
		free(w.file);
	}
	object_search_deinit(&o.search);
	value_vec_deinit(&o.source_places);
	return status;
}
