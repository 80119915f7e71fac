/*
 * core.c - `waymark core`: the last steps of each frame of a core dump or a running process.
 *
 * Without CORE, coredumpctl is asked for the newest core of the program; it writes it to a temporary file. A core alone names
 * its program itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/core.h"
#include "cli/message.h"
#include "cli/output.h"
#include "model/crash/crash_cause.h"
#include "model/crash/crash_context.h"
#include "cli/slice.h"

enum {
	FRAMES_DEFAULT = 200,
};

static const struct word slice_of_list[] = {
	[SLICE_OF_ACTIVE] = {"active", NULL},
	[SLICE_OF_STACK] = {"stack", NULL},
	[SLICE_OF_STATIC] = {"static", NULL},
	{0},
};
static const struct word_table slice_of_words = {slice_of_list, sizeof *slice_of_list};

static const struct word slice_order_list[] = {
	[SLICE_ORDER_SOURCE] = {"source", NULL},
	[SLICE_ORDER_NEAREST] = {"nearest", NULL},
	{0},
};
static const struct word_table slice_order_words = {slice_order_list, sizeof *slice_order_list};

static struct error *set_slice(void *state, const char *where)
{
	struct core_request *r = state;

	r->has_slice = true;
	r->slice_where = where;
	return NULL;
}

static struct error *set_cache(void *state, const char *folder)
{
	struct core_request *r = state;

	r->has_cache = true;
	r->cache_folder = folder;
	return NULL;
}

static const struct option_row option_rows[] = {
	{.name = "format",
	 .argument = "=NAME",
	 .help = "output format: one of the above (text)",
	 OPTION_ROW(struct core_request, renderer, &crash_formats)},
	{.name = "pid",
	 .letter = 'p',
	 .argument = "PID",
	 .help = "read a running process: it stands still meanwhile",
	 .completion = COMPLETE_PROCESS,
	 OPTION_NUMBER(struct core_request, pid)},
	{.name = "frames",
	 .argument = "N",
	 .help = "at most N frames of each thread; --frames all for all",
	 .preset = FRAMES_DEFAULT,
	 OPTION_COUNT(struct core_request, frames)},
	{.name = "paths",
	 .argument = "N",
	 .help = "at most the last N paths of each frame (text: 3, alike ones as one); --paths all for all that it kept",
	 OPTION_COUNT(struct core_request, paths)},
	{.name = "no-values",
	 .help = "without values of variables, which may hold secrets",
	 OPTION_FLAG(struct core_request, has_no_values)},
	{.name = "slice",
	 .argument = "=WHERE",
	 .is_value_optional = true,
	 .help = "which lines can have led to where the crashed thread stands, and why: WHERE is a frame (2), one of another "
		 "thread (3.0), FILE:LINE or FILE:LINE:VARIABLE",
	 OPTION_SET(set_slice)},
	{.name = "slice-of",
	 .argument = "=WHAT",
	 .help = "the slice shown is that of all code, of what can lead to the stack, or of what ran: %s (active)",
	 OPTION_WORD(struct core_request, slice_of, &slice_of_words)},
	{.name = "slice-order",
	 .argument = "=ORDER",
	 .help = "the lines of the slice in the order of the source, or the nearest to where it stands first: %s (source)",
	 OPTION_WORD(struct core_request, slice_order, &slice_order_words)},
	{.name = "explain",
	 .help = "with --slice: name the library functions that are not known and so make slices larger; all branches "
		 "that decided against what could have mattered",
	 OPTION_FLAG(struct core_request, is_explained)},
	{.name = "memory",
	 .argument = "MB",
	 .help = "with --slice: make a coarser analysis when the finer one needs more memory",
	 .preset = SLICE_LIMIT_MB,
	 OPTION_NUMBER(struct core_request, limit_mb)},
	{.name = "work",
	 .argument = "N",
	 .help = "with --slice: make a coarser analysis when the finer one, or a slice, needs more than N million steps",
	 .preset = SLICE_LIMIT_MSTEPS,
	 OPTION_NUMBER(struct core_request, limit_msteps)},
	{.name = "cache",
	 .argument = "=DIR",
	 .is_value_optional = true,
	 .help = "with --slice: keep what is found out of the code in DIR (that of CORE), so that the next question is answered sooner",
	 .completion = COMPLETE_DIRECTORY,
	 OPTION_SET(set_cache)},
	{.name = "functions",
	 .help = "all functions, too, with the parts that ran (text, json)",
	 OPTION_FLAG(struct core_request, has_functions)},
	OPTIONS_OF(path_reading_options, struct core_request, reading),
	OPTION_OUTPUT(struct core_request, output),
	OPTION_HELP,
	OPTIONS_END,
};

void core_init(struct core_request *r)
{
	*r = (struct core_request){.renderer = word_table_find(&crash_formats, "text")};
	path_reading_init(&r->reading);
}

void core_deinit(struct core_request *r)
{
	path_reading_deinit(&r->reading);
}

int core_parse(const struct command *command, struct core_request *r, int argc, char **argv)
{
	int status = options_parse(command, r, argc, argv);
	int most;

	if (status != OPTIONS_PARSED)
		return status;
	most = r->pid ? 1 : 2;
	if (!r->pid && optind >= argc)
		return message_usage("core", "a program is needed, and its core, or the core");
	if (argc - optind > most)
		return message_usage("core", "%s: one argument too many", argv[optind + most]);
	r->program = optind < argc ? argv[optind] : NULL;
	r->core = optind + 1 < argc ? argv[optind + 1] : NULL;
	if (r->pid > INT32_MAX)
		return message_usage("core", "--pid %zu: there is no such process", r->pid);
	if (r->has_slice && r->renderer->render == crash_render_lcov)
		return message_usage("core", "--slice has the formats text, json, html and sarif");
	if (!r->has_slice && !r->renderer->render)
		return message_usage("core", "--format=%s needs --slice", r->renderer->format.name);
	return OPTIONS_PARSED;
}

/* ---- systemd-coredump ---- */

enum {
	SAID_MAX = 512, /* bytes of what coredumpctl says when it fails */
};

/* Its standard output is quiet or not: that is not ours to show. Standard error goes to `said`. errno, or 0. */
static int spawn_coredumpctl(const char *path, const char *core, int said, pid_t *ret)
{
	char name[] = "coredumpctl", quiet[] = "-q", dump[] = "dump", output[] = "-o";
	char *argv[] = {name, quiet, output, (char *)core, dump, (char *)path, NULL};
	posix_spawn_file_actions_t actions;
	int failure = posix_spawn_file_actions_init(&actions);

	if (failure)
		return failure;
	failure = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (!failure)
		failure = posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
	if (!failure)
		failure = posix_spawnp(ret, name, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return failure;
}

/* The end of what comes from `from`; its length. */
static size_t read_said(int from, char said[SAID_MAX])
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(from, said + len, SAID_MAX - 1 - len)) != 0) {
		if (n < 0 && errno != EINTR)
			break;
		len += n > 0 ? (size_t)n : 0;
		if (len == SAID_MAX - 1) { /* the end counts */
			memmove(said, said + SAID_MAX / 2, len - SAID_MAX / 2);
			len -= SAID_MAX / 2;
		}
	}
	return len;
}

/* Leaves the last line, without its full stop. */
static void trim_said(char said[SAID_MAX], size_t len)
{
	while (len && (said[len - 1] == '\n' || said[len - 1] == '.'))
		len--;
	said[len] = '\0';
	for (char *line; (line = strchr(said, '\n')) != NULL;)
		memmove(said, line + 1, strlen(line + 1) + 1);
}

/* Runs coredumpctl. *ret_said: what it says on standard error, its last line. */
static struct error *run_coredumpctl(const char *path, const char *core, int *ret_status, char ret_said[SAID_MAX])
{
	int ends[2], failure;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return error_os(errno, "pipe");
	failure = spawn_coredumpctl(path, core, ends[1], &pid);
	close(ends[1]);
	if (!failure)
		trim_said(ret_said, read_said(ends[0], ret_said));
	close(ends[0]);
	if (failure == ENOENT)
		return error_create(
			ERROR_NOT_FOUND,
			"coredumpctl is not there (systemd-coredump keeps no cores here): name the core of %s", path);
	if (failure)
		return error_os(failure, "coredumpctl");
	while (waitpid(pid, ret_status, 0) != pid)
		if (errno != EINTR)
			return error_os(errno, "coredumpctl");
	return NULL;
}

/* *ret: malloc'd, the name of a temporary file with the core; the caller removes it. */
static struct error *fetch_core(const char *program, char **ret)
{
	const char *dir = getenv("TMPDIR");
	char *path = realpath(program, NULL);
	char *core = NULL;
	char said[SAID_MAX];
	struct error *err;
	int fd, status;

	if (!path)
		return error_os(errno, "%s", program);
	if (asprintf(&core, "%s/waymark-core.XXXXXX", dir && *dir ? dir : "/var/tmp") < 0) {
		free(path);
		return &error_no_memory;
	}
	fd = mkstemp(core);
	if (fd < 0) {
		err = error_os(errno, "%s", core);
		free(path);
		free(core);
		return err;
	}
	close(fd);
	err = run_coredumpctl(path, core, &status, said);
	if (!err && (!WIFEXITED(status) || WEXITSTATUS(status)))
		err = error_create(ERROR_NOT_FOUND, "coredumpctl has no core of %s%s%s%s: name one", path,
				   *said ? " (" : "", said, *said ? ")" : "");
	free(path);
	if (err) {
		unlink(core);
		free(core);
	} else {
		*ret = core;
	}
	return err;
}

/* ---- rendering ---- */

struct error *core_render(struct core_request *r, const struct crash *c, const struct slice_layer *slice)
{
	struct crash_report report = {
		.crash = c,
		.frame_limit = (uint32_t)option_count_or(&r->frames, FRAMES_DEFAULT),
		.path_limit = (uint32_t)option_count_or(&r->paths, r->reading.is_full ? 0 : r->renderer->default_paths),
		.producer = "waymark " WAYMARK_VERSION,
		.has_functions = r->has_functions,
		.slice = slice,
	};
	struct activity_result activity;
	struct crash_values values;
	struct arena arena;
	struct output out;
	struct error *err = NULL;

	arena_init(&arena);
	if ((r->renderer->wants_activity || r->has_functions) && c->first_function[c->stopped->module_count]) {
		err = crash_analyse(c, &arena, &activity);
		report.activity = &activity;
	}
	if (!err && !r->has_no_values) {
		err = crash_values_create(c, &r->reading.sources, &values);
		report.values = err ? NULL : &values;
	}
	if (!err)
		err = crash_cause_of(c, report.values, &arena, &report.cause);
	if (!err)
		err = output_open(r->output, &out);
	if (!err) {
		report.style = path_reading_style(&r->reading, out.file);
		err = output_end(&out, r->renderer->render(&report, out.file));
	}
	if (report.values)
		crash_values_deinit(&values);
	arena_deinit(&arena);
	return err;
}

static struct error *render(struct core_request *r, const struct crash *c, void *data)
{
	(void)data;
	return core_render(r, c, NULL);
}

static struct error *open_and_use(struct core_request *r, const char *core, core_use use, void *data)
{
	const struct object_search *search = &r->reading.cache.search;
	struct snapshot_options options = {.program = r->program, .search = search};
	struct snapshot s;
	struct crash c;
	struct error *err;

	if (r->pid)
		err = snapshot_open_process((pid_t)r->pid, &options, &s);
	else
		err = snapshot_open_core(core, &options, &s);
	if (err)
		return err;
	err = crash_create(&s, search, &c);
	if (!err) {
		err = crash_find_contexts(&c, &r->reading.cache);
		if (!err)
			err = use(r, &c, data);
		crash_deinit(&c);
	}
	snapshot_close(&s);
	return err;
}

struct error *core_find(struct core_request *r, core_use use, void *data)
{
	char *fetched = NULL;
	struct error *err = NULL;

	if (!r->pid && !r->core && snapshot_is_core(r->program)) {
		r->core = r->program;
		r->program = NULL;
	} else if (!r->pid && !r->core) {
		err = fetch_core(r->program, &fetched);
	}
	if (!err)
		err = open_and_use(r, fetched ? fetched : r->core, use, data);
	if (fetched)
		unlink(fetched);
	free(fetched);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct core_request r;
	int status;

	core_init(&r);
	status = core_parse(command, &r, argc, argv);
	if (status == OPTIONS_PARSED && r.has_slice)
		status = slice_hand_over("core", argv);
	else if (status == OPTIONS_PARSED)
		status = message_error("core", core_find(&r, render, NULL));
	core_deinit(&r);
	return status;
}

const struct command command_core = {
	.name = "core",
	.summary = "show the last steps of each frame of a crashed or running program",
	.usage = "Usage: waymark core [OPTIONS] PROGRAM [CORE]\n"
		 "       waymark core [OPTIONS] CORE\n"
		 "       waymark core [OPTIONS] -p PID [PROGRAM]\n"
		 "\n"
		 "Shows the stacks of a core dump or of a running process, and for functions built\n"
		 "with `waymark cc --wm=trace` the last paths that each frame took. Without CORE,\n"
		 "the newest one that systemd-coredump keeps of PROGRAM; without PROGRAM, the file\n"
		 "that the core says had run. With --slice, the lines that can have led there.\n",
	.options = option_rows,
	.operands = {{"program", COMPLETE_FILE, NULL, false}, {"core", COMPLETE_FILE, NULL, false}},
	.run = run,
};
