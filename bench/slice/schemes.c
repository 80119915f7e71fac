/*
 * schemes.c - slices of a stopped program by what was traced: for schemes.sh.
 *
 *	bench-slice-schemes PROGRAM CORE [MSTEPS]
 *
 * PROGRAM was built with the scheme stmt+pt, which knows the most. For each other scheme facts that it would not have are taken away before what
 * ran is found, so that all slices are of one core and of the same code:
 *
 *	none    neither coverage nor paths      stmt    coverage of blocks
 *	fc      which functions were entered    pt      the last paths of each frame
 *	cc      and which calls were reached    cc+pt   both: the realistic scheme, as only paths of frames on the stack count
 *
 * A call is known not to have been reached if its block was not; cc itself knows more where one call of a block ends the activation and another one
 * follows. A line for each slice, tab-separated: WHAT INSTRUCTIONS LINES RAN-INSTRUCTIONS RAN-LINES SECONDS MEGABYTES KIND, where what ran is what
 * ran or may have; or WHAT and why there is none. KIND is `fine`, or `coarse`: the analysis or the slice would need more than MSTEPS million steps
 * (default: the command's limit), or the analysis more memory than the command has, so that a coarser one takes its place, as in the command. The
 * slice has at most so many instructions and lines then. Each is made by a process of its own, from the file to the answer (`stack` after `full`,
 * whose analysis it shares; if that is coarse it is taken for `stack`, too). Each may use SECONDS_MAX of CPU time and MEGABYTES_MAX of memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/slice.h"
#include "model/slices/crash_stack.h"
#include "model/slices/slice_places.h"
#include "object/find.h"
#include "object/object.h"

enum {
	MILLION = 1000000,
	SECONDS_MAX = 300,
	MEGABYTES_MAX = 6144,
	FULL = -1,
};

static const struct scheme {
	const char *name;
	int keeps; /* of enum wm1_scheme, FULL */
} schemes[] = {
	{"full", FULL},
	{"none", WM1_SCHEME_NONE},
	{"fc", WM1_SCHEME_FUNCTION},
	{"cc", WM1_SCHEME_CALLS},
	{"stmt", WM1_SCHEME_BLOCKS},
	{"pt", WM1_SCHEME_PATHS},
	{"cc+pt", WM1_SCHEME_CALLS | WM1_SCHEME_PATHS},
	{"stmt+pt", WM1_SCHEME_BLOCKS | WM1_SCHEME_PATHS},
};

struct work {
	const char *program;
	const struct scheme *scheme;
	uint64_t limit_steps; /* of the analysis and of each slice */
	struct object_search search;
	struct snapshot snapshot;
	struct crash crash;
	struct code code;
	struct slice_places places;
	struct crash_code map;
	struct arena arena;
	struct activity_result activity;
	struct ran ran;
	struct memory memory;
	struct regions regions;
};

/* ---- facts ---- */

/* What coverage of calls knows of what coverage of blocks knows. *ret: the crash's arena's, or NULL. */
static struct error *calls_of_blocks(struct crash *c, const struct tracemeta_function *meta, const uint8_t *nodes_used,
				     uint8_t **ret)
{
	*ret = NULL;
	if (!nodes_used)
		return NULL;
	*ret = arena_calloc(&c->arena, (size_t)meta->call_count + 1, 1);
	if (!*ret)
		return &error_no_memory;
	for (uint32_t i = 0; i < meta->call_count; i++) {
		bool is_first = !i || meta->calls[i - 1].node != meta->calls[i].node;
		uint8_t used = nodes_used[meta->calls[i].node];

		(*ret)[i] = used == POINT_UNUSED || is_first ? used : POINT_UNKNOWN;
	}
	return NULL;
}

static struct error *keep(struct crash *c, const struct tracemeta_function *meta, int keeps, uint8_t **calls,
			  uint8_t **nodes)
{
	struct error *err = NULL;

	*calls = NULL;
	if (keeps & WM1_SCHEME_CALLS)
		err = calls_of_blocks(c, meta, *nodes, calls);
	if (!(keeps & WM1_SCHEME_BLOCKS))
		*nodes = NULL;
	return err;
}

static struct error *keep_of_run(struct crash *c, int keeps)
{
	struct error *err = NULL;

	for (uint32_t m = 0; m < c->stopped->module_count; m++)
		for (uint32_t i = 0; i < c->images[m].trace.meta.function_count && !err; i++) {
			uint32_t f = c->first_function[m] + i;

			err = keep(c, &c->images[m].trace.meta.functions[i], keeps, &c->calls_used[f],
				   &c->nodes_used[f]);
			if (!(keeps & (WM1_SCHEME_FUNCTION | WM1_SCHEME_CALLS | WM1_SCHEME_BLOCKS)))
				c->entered[f] = POINT_UNKNOWN;
		}
	return err;
}

static struct error *keep_of_frames(struct crash *c, int keeps)
{
	struct error *err = NULL;

	for (uint32_t t = 0; t < c->thread_count; t++)
		for (uint32_t i = 0; i < c->threads[t].frame_count && !err; i++) {
			struct crash_frame *f = &c->threads[t].frames[i];

			if (!f->meta)
				continue;
			err = keep(c, f->meta, keeps, &f->calls_used, &f->nodes_used);
			if (keeps & WM1_SCHEME_PATHS)
				continue;
			f->trace = CRASH_TRACE_NONE;
			f->paths = NULL;
			f->path_count = 0;
		}
	return err;
}

/* ---- slices ---- */

static struct error *print(const struct work *w, const char *what, const struct slice *s)
{
	uint32_t lines;
	struct error *err = slice_places_count(&w->places, &w->code, s, &lines);

	if (!err)
		printf("%s\t%" PRIu32 "\t%" PRIu32, what, s->count, lines);
	return err;
}

/* All that ran, or may have, then what it took. */
static struct error *print_rest(const struct work *w, bool is_coarse)
{
	struct slice slice = {.why = calloc((size_t)w->code.instruction_count + 1, sizeof *slice.why)};
	struct error *err = slice.why ? NULL : &error_no_memory;
	struct rusage used;

	for (uint32_t i = 0; i < w->code.instruction_count && !err; i++)
		if (!w->ran.runs || w->ran.runs[w->code.instructions[i].block]) {
			slice.why[i] = (struct slice_why){SLICE_CRITERION, CODE_NONE};
			slice.count++;
		}
	if (!err)
		err = print(w, "", &slice);
	slice_deinit(&slice);
	getrusage(RUSAGE_SELF, &used);
	printf("\t%.2f\t%ld\t%s\n",
	       (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
	       used.ru_maxrss / 1024, is_coarse ? "coarse" : "fine");
	fflush(stdout);
	return err;
}

static struct error *print_slice(const struct work *w, const char *what, const struct slice *s)
{
	struct error *err = print(w, what, s);

	return err ? err : print_rest(w, w->memory.is_coarse || s->is_coarse);
}

static struct error *slice_once(struct work *w, bool has_frames, struct slice *ret)
{
	struct slice_request request = {.regions = &w->regions,
					.runs = w->ran.runs,
					.comes = w->ran.comes,
					.criteria_stand = true,
					.limit_steps = w->limit_steps};
	struct crash_stack stack;
	struct crash_stack_request stack_request = {
		.code = &w->map, .ran = w->ran.runs ? &w->activity : NULL, .memory = &w->memory};
	struct error *err = crash_stack_create(&stack_request, &stack);

	if (err)
		return err;
	request.criteria = stack.criteria;
	request.criterion_count = stack.criterion_count;
	if (has_frames) {
		request.frames = stack.frames;
		request.frame_count = stack.frame_count;
		request.frames_are_whole = stack.is_whole;
	} else {
		request.calls = stack.calls;
		request.call_count = stack.call_count;
	}
	err = slice_backward(&request, ret);
	crash_stack_deinit(&stack);
	return err;
}

/* Of all code, and what leads to the stack. */
static struct error *slice_all_code(struct work *w)
{
	struct slice slice;
	struct error *err = slice_once(w, false, &slice);

	if (err)
		return err;
	err = print_slice(w, "full", &slice);
	if (!err && !slice.is_coarse) {
		slice_deinit(&slice);
		err = slice_once(w, true, &slice);
	}
	if (!err)
		err = print_slice(w, "stack", &slice);
	slice_deinit(&slice);
	return err;
}

static struct error *slice_what_ran(struct work *w)
{
	struct slice slice;
	struct error *err = slice_once(w, true, &slice);

	if (err)
		return err;
	err = print_slice(w, w->scheme->name, &slice);
	slice_deinit(&slice);
	return err;
}

static struct error *load(struct work *w)
{
	struct bitcode_vec units = {0};
	struct object_wanted wanted = {.path = w->program};
	struct object o;
	struct error *err = object_read(w->program, 0, &o);

	if (err)
		return err;
	wanted.build_id = o.build_id;
	object_deinit(&o);
	err = object_find_bitcode(&w->search, &wanted, &units);
	if (!err)
		err = code_open(&units, &w->code);
	bitcode_deinit(&units);
	if (!err)
		err = code_number_all(&w->code);
	return err ? err : slice_places_make(&w->code, &w->places);
}

static struct error *find_ran(struct work *w)
{
	int keeps = w->scheme->keeps;
	struct error *err = keep_of_run(&w->crash, keeps);

	if (!err)
		err = keep_of_frames(&w->crash, keeps);
	if (!err)
		err = crash_analyse(&w->crash, &w->arena, &w->activity);
	return err ? err : crash_code_ran(&w->map, &w->activity, &w->ran);
}

static struct error *analyse(struct work *w)
{
	struct error *err =
		memory_analyse(&w->code, w->ran.runs,
			       (struct pointers_limit){.bytes = (size_t)SLICE_LIMIT_MB << 20, .steps = w->limit_steps},
			       &w->memory);

	if (err && err->code == ERROR_OVERFLOW) {
		error_destroy(err);
		err = memory_analyse_coarsely(&w->code, w->ran.runs, &w->memory);
	}
	return err ? err : regions_find(&w->memory, w->ran.runs, &w->regions);
}

static struct error *run(struct work *w, const char *core)
{
	bool is_full = w->scheme->keeps == FULL;
	struct snapshot_options options = {.search = &w->search, .program = w->program};
	struct error *err = snapshot_open_core(core, &options, &w->snapshot);

	if (!err)
		err = crash_create(&w->snapshot, &w->search, &w->crash);
	if (!err)
		err = load(w);
	if (!err)
		err = crash_code_create(&w->crash, &w->code, &w->map);
	if (!err && !is_full)
		err = find_ran(w);
	if (!err)
		err = analyse(w);
	if (err)
		return err;
	return is_full ? slice_all_code(w) : slice_what_ran(w);
}

/* A process of its own ends with all that it has. */
static int run_alone(const char *program, const char *core, const struct scheme *scheme, uint64_t limit_steps)
{
	const struct rlimit seconds = {SECONDS_MAX, SECONDS_MAX},
			    bytes = {(rlim_t)MEGABYTES_MAX << 20, (rlim_t)MEGABYTES_MAX << 20};
	struct work w = {.program = program, .scheme = scheme, .limit_steps = limit_steps};
	struct error *err;

	setrlimit(RLIMIT_CPU, &seconds);
	setrlimit(RLIMIT_AS, &bytes);
	object_search_init(&w.search);
	err = run(&w, core);
	if (err)
		printf("%s\t%s\n", scheme->name, err->message);
	fflush(stdout);
	return err != NULL;
}

int main(int argc, char **argv)
{
	unsigned long msteps = argc == 4 ? strtoul(argv[3], NULL, 10) : SLICE_LIMIT_MSTEPS;
	int failed = 0;

	if (argc < 3 || argc > 4 || !msteps) {
		fputs("usage: bench-slice-schemes PROGRAM CORE [MSTEPS]\n", stderr);
		return 2;
	}
	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
		int status = 0;
		pid_t child = fork();

		if (child < 0) {
			perror("bench-slice-schemes: fork");
			return 1;
		}
		if (!child)
			_exit(run_alone(argv[1], argv[2], &schemes[i], (uint64_t)msteps * MILLION));
		waitpid(child, &status, 0);
		if (WIFSIGNALED(status)) {
			printf("%s\tended by %s\n", schemes[i].name, strsignal(WTERMSIG(status)));
			fflush(stdout);
		}
		failed |= status != 0;
	}
	return failed;
}
