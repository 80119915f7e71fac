/*
 * core_slice.c - `waymark core --slice`: what can have led to where a stopped program stands. Three slices are made: of all code, of what can
 * lead to the stack, and of what ran; one of them is shown.
 */
#include "cli/slicing/analysis.h"
#include "cli/slicing/line.h"
#include "cli/slicing/slicing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/core.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/slice.h"
#include "model/slices/crash_stack.h"
#include "report/slices/slice_render.h"

/* What is known of memory: of all code, or of what ran. */
struct analysis {
	const bool *runs, *comes;
	uint64_t limit_steps;    /* of a slice */
	bool is_coarsely_sliced; /* the last slice of it is coarse */
	struct slicing_analysis of;
};

struct work {
	struct core_request *request;
	const struct crash *crash;
	struct arena arena;
	char *cache;              /* the folder; NULL: none */
	struct build_id build_id; /* of the program */
	struct code *code;
	struct activity_result activity;
	struct crash_code map;
	struct ran ran;
	struct analysis all, active;
	struct slicing_progress progress;
	/* Where: a frame, or a line. */
	uint32_t thread, frame;
	uint32_t stands_in; /* frame: that it is, or one further out that has code of the program */
	bool is_line;       /* else a frame */
	struct slicing_line line;
	const char *criterion;
	uint32_t *line_instructions;
	uint32_t line_instruction_count;
	struct slice_size sizes[SLICES_OF + 1];
	struct slice_places places;
	struct slice_lines shown;
	struct slice active_slice;
	uint32_t *distances; /* [instruction] of the active slice, if it is shown */
	/* Of the slice that is shown; the graph for HTML and for the order. */
	struct slice_chain chain;
	struct slice_graph graph;
	struct slice_order order;
	struct slice_omissions omissions;
	struct slice_overruns overruns;
};

/* ---- where ---- */

/* THREAD.FRAME or FRAME; threads from 1. */
static bool parse_frame(const char *where, uint32_t *ret_thread, uint32_t *ret_frame)
{
	char *end;
	unsigned long first = strtoul(where, &end, 10), second;

	if (end == where || *where < '0' || *where > '9' || first > INT32_MAX)
		return false;
	if (!*end) {
		*ret_thread = 0;
		*ret_frame = (uint32_t)first;
		return true;
	}
	if (*end != '.' || end[1] < '0' || end[1] > '9' || !first)
		return false;
	second = strtoul(end + 1, &end, 10);
	if (*end || second > INT32_MAX)
		return false;
	*ret_thread = (uint32_t)first - 1;
	*ret_frame = (uint32_t)second;
	return true;
}

static struct error *parse_where(struct work *w, const char *where)
{
	struct error *err;

	if (parse_frame(where, &w->thread, &w->frame)) {
		if (w->thread >= w->crash->thread_count)
			return error_create(ERROR_ARGUMENT, "--slice=%s: there are %" PRIu32 " threads", where,
					    w->crash->thread_count);
		if (w->frame >= w->crash->threads[w->thread].frame_count)
			return error_create(ERROR_ARGUMENT, "--slice=%s: the thread has %" PRIu32 " frames", where,
					    w->crash->threads[w->thread].frame_count);
		return NULL;
	}
	err = slicing_line_parse(where, &w->line, &w->is_line);
	if (err)
		return err;
	if (!w->is_line)
		return error_create(
			ERROR_ARGUMENT,
			"--slice=%s: a frame (2, of another thread 3.0), FILE:LINE or FILE:LINE:VARIABLE is needed",
			where);
	w->criterion = where;
	return NULL;
}

static struct error *find_line(struct work *w)
{
	const struct snapshot *s = w->crash->stopped;

	w->line_instructions =
		arena_calloc(&w->arena, (size_t)w->code->instruction_count + 1, sizeof *w->line_instructions);
	if (!w->line_instructions)
		return &error_no_memory;
	return slicing_line_find(&w->line, w->code, w->ran.runs, s->modules[s->main_module].path, w->line_instructions,
				 &w->line_instruction_count);
}

static struct error *name_frame(struct work *w, uint32_t number)
{
	const struct crash_thread *t = &w->crash->threads[w->thread];
	const struct crash_frame *f;

	/* The line that control is in is that of the innermost inlined function. */
	while (number && t->frames[number - 1].machine == t->frames[number].machine)
		number--;
	f = &t->frames[number];
	if (f->file && f->line)
		w->criterion = arena_printf(&w->arena, "%s:%" PRIu32 " (thread %" PRIu32 ", frame %" PRIu32 ", %s)",
					    strrchr(f->file, '/') ? strrchr(f->file, '/') + 1 : f->file, f->line,
					    w->thread + 1, number, f->name ? f->name : "?");
	else
		w->criterion = arena_printf(&w->arena, "thread %" PRIu32 ", frame %" PRIu32 " (%s)", w->thread + 1,
					    number, f->name ? f->name : "?");
	return w->criterion ? NULL : &error_no_memory;
}

/* ---- slices ---- */

static struct error *analyse(struct work *w, struct analysis *a, bool is_shown)
{
	struct slicing_cache_key key = {.folder = w->cache,
					.build_id = &w->build_id,
					.code = w->code,
					.runs = a->runs,
					.limit = slicing_limit(w->request->limit_mb, w->request->limit_msteps,
							       is_shown ? NULL : w->code)};

	a->limit_steps = is_shown || w->request->limit_msteps ? key.limit.steps
							      : (uint64_t)COUNTED_SLICE_MSTEPS * SLICING_MILLION;
	/* What ran is asked about once more behind the analysis of all code, for omissions, which the coarser one does not tell. */
	return slicing_analyse(&key, a == &w->all ? &w->active.of : NULL, &a->of);
}

static struct error *explain(struct work *w, const struct slice_request *request, const struct slice *s)
{
	CLEANUP(depends_deinit) struct depends depends = {0};
	const struct slice_order_request order = {.graph = &w->graph,
						  .lines = &w->shown,
						  .code = &w->map,
						  .thread = w->thread,
						  .frame = w->is_line ? UINT32_MAX : w->stands_in};
	struct error *err = depends_init(request->regions, s, request->runs, &depends);

	if (!err)
		err = slice_chain_find(&depends, &w->shown, request, &w->chain);
	if (!err && (w->request->renderer->render == crash_render_html || w->request->slice_order))
		err = slice_graph_make(&depends, &w->shown, &w->graph);
	if (!err && w->request->slice_order == SLICE_ORDER_NEAREST)
		err = slice_order_make(&order, &w->order);
	if (!err && w->request->slice_of == SLICE_OF_ACTIVE)
		err = slice_distances_find(&depends, &w->shown, request, &w->distances);
	return err;
}

static struct error *measure(struct work *w, const struct slice_request *request, const struct slice *s,
			     enum slice_of of)
{
	struct slice_size *size = &w->sizes[of];
	struct error *err = slice_places_count(&w->places, w->code, s, &size->lines);

	size->instructions = s->count;
	if (err || w->request->slice_of != of)
		return err;
	err = slice_lines_make(&w->places, request->regions, s, &w->shown);
	return err ? err : explain(w, request, s);
}

static struct slice_request request_of(const struct work *w, const struct analysis *a, const struct crash_stack *stack,
				       enum slice_of of)
{
	bool is_shown = w->request->slice_of == of;
	struct slice_request request = {.regions = &a->of.regions,
					.runs = a->runs,
					.comes = a->comes,
					.criteria_stand = stack != NULL,
					.limit_steps = a->limit_steps,
					.is_coarse = !is_shown && a->of.memory.is_coarse};

	if (stack) {
		request.criteria = stack->criteria;
		request.criterion_count = stack->criterion_count;
	} else {
		request.criteria = w->line_instructions;
		request.criterion_count = w->line_instruction_count;
	}
	if (stack && of == SLICE_OF_STATIC) {
		request.calls = stack->calls;
		request.call_count = stack->call_count;
	} else if (stack) {
		request.frames = stack->frames;
		request.frame_count = stack->frame_count;
		request.frames_are_whole = stack->is_whole;
	}
	return request;
}

static struct error *slice_once(struct work *w, struct analysis *a, const struct crash_stack *stack, enum slice_of of)
{
	CLEANUP(slice_deinit) struct slice slice = {0};
	const struct slice_request request = request_of(w, a, stack, of);
	struct error *err = slice_backward(&request, &slice);

	if (!err)
		err = slicing_take_slice(&slice, &request, &a->of.coarse);
	a->is_coarsely_sliced = slice.is_coarse;
	w->sizes[of].is_coarse = a->of.memory.is_coarse || slice.is_coarse;
	if (!err)
		err = measure(w, &request, &slice, of);
	if (!err && of == SLICE_OF_ACTIVE) {
		w->active_slice = slice;
		slice = (struct slice){0};
	}
	return err;
}

/* From a line the stack tells nothing: its slice is that of all code. */
static struct error *slice_of(struct work *w, struct analysis *a, const struct activity_result *ran, enum slice_of of)
{
	CLEANUP(crash_stack_deinit) struct crash_stack stack = {0};
	struct crash_stack_request request = {
		.code = &w->map, .ran = ran, .memory = &a->of.memory, .thread = w->thread, .frame = w->frame};
	struct error *err;

	if (w->is_line)
		return slice_once(w, a, NULL, of);
	err = crash_stack_create(&request, &stack);
	w->stands_in = stack.frame;
	if (!err)
		err = name_frame(w, stack.frame);
	return err ? err : slice_once(w, a, &stack, of);
}

/* What the slice of what ran leaves out, by the analysis of all code. */
static struct error *find_omissions(struct work *w)
{
	CLEANUP(crash_stack_deinit) struct crash_stack stack = {0};
	const struct crash_stack_request stack_request = {.code = &w->map,
							  .ran = &w->activity,
							  .memory = &w->active.of.memory,
							  .thread = w->thread,
							  .frame = w->frame};
	struct slice_request slice_request;
	struct omissions_request request = {.slice_request = &slice_request,
					    .slice = &w->active_slice,
					    .all = &w->all.of.regions,
					    .distances = w->distances};
	struct error *err = NULL;

	if (w->request->slice_of != SLICE_OF_ACTIVE)
		return NULL;
	/* The coarser analysis says of nearly every store that it could have changed what was read. */
	w->omissions.why = w->all.of.coarse;
	if (w->omissions.why)
		return NULL;
	if (!w->is_line)
		err = crash_stack_create(&stack_request, &stack);
	if (err)
		return err;
	slice_request = request_of(w, &w->active, w->is_line ? NULL : &stack, SLICE_OF_ACTIVE);
	err = slice_omissions_make(&request, &w->shown, &w->omissions);
	if (!err || err->code != ERROR_OVERFLOW)
		return err;
	w->omissions.why = arena_strdup(&w->arena, err->message);
	error_destroy(err);
	return w->omissions.why ? NULL : &error_no_memory;
}

/* What may have been written out of bounds, by the analysis of what ran. */
static struct error *find_overruns(struct work *w)
{
	struct crash_values values;
	struct slice_overruns_request request = {.regions = &w->active.of.regions,
						 .slice = &w->active_slice,
						 .runs = w->active.runs,
						 .distances = w->distances,
						 .lines = &w->shown,
						 .code = &w->map,
						 .values = &values,
						 .thread = w->thread,
						 .frame = w->is_line ? UINT32_MAX : w->stands_in,
						 .shows_text = !w->request->has_no_values};
	struct error *err;

	if (w->request->slice_of != SLICE_OF_ACTIVE)
		return NULL;
	err = crash_values_create(w->crash, &w->request->reading.sources, &values);
	if (err)
		return err;
	err = slice_overruns_make(&request, &w->overruns);
	crash_values_deinit(&values);
	return err;
}

static struct error *count_ran(struct work *w)
{
	struct slice_size *size = &w->sizes[SLICES_OF];
	struct slice slice = {.why = calloc((size_t)w->code->instruction_count + 1, sizeof *slice.why)};
	struct error *err = slice.why ? NULL : &error_no_memory;

	for (uint32_t i = 0; i < w->code->instruction_count && !err; i++)
		if (w->ran.runs[w->code->instructions[i].block]) {
			slice.why[i] = (struct slice_why){SLICE_CRITERION, CODE_NONE};
			slice.count++;
		}
	size->instructions = slice.count;
	if (!err)
		err = slice_places_count(&w->places, w->code, &slice, &size->lines);
	slice_deinit(&slice);
	return err;
}

static struct error *slice_all(struct work *w)
{
	struct error *err = analyse(w, &w->active, true);

	if (!err)
		err = slice_of(w, &w->active, &w->activity, SLICE_OF_ACTIVE);
	if (!err)
		err = count_ran(w);
	if (!err)
		err = find_overruns(w);
	if (!err)
		err = analyse(w, &w->all, w->request->slice_of != SLICE_OF_ACTIVE);
	if (!err)
		err = find_omissions(w);
	if (!err)
		err = slice_of(w, &w->all, NULL, SLICE_OF_STACK);
	/* The coarse slice of what leads to the stack is that of all code. */
	if (!err && w->all.is_coarsely_sliced && w->request->slice_of != SLICE_OF_STATIC) {
		w->sizes[SLICE_OF_STATIC].lines = w->sizes[SLICE_OF_STACK].lines;
		w->sizes[SLICE_OF_STATIC].instructions = w->sizes[SLICE_OF_STACK].instructions;
		w->sizes[SLICE_OF_STATIC].is_coarse = true;
	} else if (!err) {
		err = slice_of(w, &w->all, NULL, SLICE_OF_STATIC);
	}
	return err;
}

/* ---- the whole ---- */

static struct error *load(struct work *w)
{
	const struct snapshot *s = w->crash->stopped;
	const struct snapshot_module *m;
	struct object_wanted wanted;
	struct error *err;

	if (s->main_module >= s->module_count)
		return error_create(ERROR_NOT_FOUND, "it is not known which program this is");
	m = &s->modules[s->main_module];
	w->build_id = m->build_id;
	wanted = (struct object_wanted){.path = m->file ? m->file : m->path, .build_id = m->build_id};
	err = slicing_open(&w->request->reading.cache.search, &wanted, w->code);
	if (!err && w->is_line)
		err = slicing_line_probe(&w->line, w->code);
	if (!err)
		err = code_number_all(w->code);
	return err ? err : slice_places_make(w->code, &w->places);
}

static struct error *print(struct work *w)
{
	const struct snapshot *s = w->crash->stopped;
	/* The larger ones first. */
	const struct slice_size items[] = {w->sizes[SLICE_OF_STATIC], w->sizes[SLICE_OF_STACK],
					   w->sizes[SLICE_OF_ACTIVE], w->sizes[SLICES_OF]};
	struct slice_sizes sizes = {.items = items,
				    .count = SLICES_OF + 1,
				    .lines = w->shown.count,
				    .coarse = w->active.of.coarse ? w->active.of.coarse : w->all.of.coarse,
				    .unknown_functions = w->map.unknown_count};
	struct slice_report report = {.producer = "waymark " WAYMARK_VERSION,
				      .program = s->modules[s->main_module].path,
				      .criterion = w->criterion,
				      .lines = &w->shown,
				      .chain = &w->chain,
				      .graph = &w->graph,
				      .order = w->order.count ? &w->order : NULL,
				      .sources = &w->request->reading.sources,
				      .is_explained = w->request->is_explained,
				      .sizes = &sizes,
				      .omissions = &w->omissions,
				      .overruns = &w->overruns};
	struct slice_layer layer;
	struct output out;
	struct error *err;

	if (w->request->renderer->render == crash_render_html) {
		err = slice_layer_make(&report, &w->arena, &layer);
		return err ? err : core_render(w->request, w->crash, &layer);
	}
	err = output_open(w->request->output, &out);
	if (err)
		return err;
	if (!w->request->renderer->render)
		err = slice_render_sarif(&report, out.file);
	else if (w->request->renderer->render == crash_render_json)
		err = slice_render_json(&report, out.file);
	else
		err = slice_render_text(&report, out.file);
	return output_end(&out, err);
}

static struct error *run(struct work *w)
{
	struct error *err = w->request->slice_where ? parse_where(w, w->request->slice_where) : NULL;

	if (!err && w->request->has_cache)
		err = slicing_cache_folder(w->request->cache_folder, w->request->core, &w->cache);
	if (!err)
		err = load(w);
	if (!err)
		err = crash_code_create(w->crash, w->code, &w->map);
	if (!err)
		err = crash_analyse(w->crash, &w->arena, &w->activity);
	if (!err)
		err = crash_code_ran(&w->map, &w->activity, &w->ran);
	w->active.runs = w->ran.runs;
	w->active.comes = w->ran.comes;
	if (!err && w->is_line)
		err = find_line(w);
	slicing_progress_start(&w->progress, w->code);
	if (!err)
		err = slice_all(w);
	slicing_progress_end(&w->progress);
	return err ? err : print(w);
}

static void work_deinit(struct work *w)
{
	slice_lines_deinit(&w->shown);
	slice_places_deinit(&w->places);
	slice_chain_deinit(&w->chain);
	slice_graph_deinit(&w->graph);
	slice_order_deinit(&w->order);
	slice_omissions_deinit(&w->omissions);
	slice_overruns_deinit(&w->overruns);
	slice_deinit(&w->active_slice);
	free(w->distances);
	slicing_analysis_deinit(&w->all.of);
	slicing_analysis_deinit(&w->active.of);
	free(w->cache);
	slicing_line_deinit(&w->line);
	ran_deinit(&w->ran);
	crash_code_deinit(&w->map);
	arena_deinit(&w->arena);
}

static struct error *use(struct core_request *r, const struct crash *c, void *data)
{
	struct work w = {.request = r,
			 .crash = c,
			 .code = data,
			 .sizes = {[SLICE_OF_STATIC] = {.name = "static", .text = "of all code:"},
				   [SLICE_OF_STACK] = {.name = "stack", .text = "that leads to the stack:"},
				   [SLICE_OF_ACTIVE] = {.name = "active", .text = "that ran:"},
				   [SLICES_OF] = {.name = "ran", .text = "all that ran, or may:"}}};
	struct error *err;

	w.sizes[r->slice_of].is_shown = true;
	err = run(&w);
	work_deinit(&w);
	return err;
}

int core_slice_main(int argc, char **argv, struct code *code)
{
	struct core_request r;
	int status;

	core_init(&r);
	status = core_parse(&command_core, &r, argc, argv);
	if (status == OPTIONS_PARSED)
		status = message_error("core", core_find(&r, use, code));
	core_deinit(&r);
	return status;
}
