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
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/path_reading.h"
#include "model/crash/crash_cause.h"
#include "model/crash/crash_context.h"
#include "report/crash/crash_renderer.h"

enum {
	FRAMES_DEFAULT = 200,
};

struct request {
	struct path_reading reading;
	const struct crash_renderer *renderer;
	size_t pid; /* 0: a core */
	struct option_count frames;
	struct option_count paths;
	bool has_functions;
	bool has_no_values;
	const char *program;
	const char *core; /* NULL: coredumpctl's */
	const char *output;
};

static const struct option_row option_rows[] = {
	{.name = "format",
	 .argument = "=NAME",
	 .help = "output format: one of the above (text)",
	 OPTION_ROW(struct request, renderer, &crash_formats)},
	{.name = "pid",
	 .letter = 'p',
	 .argument = "PID",
	 .help = "read a running process: it stands still meanwhile",
	 .completion = COMPLETE_PROCESS,
	 OPTION_NUMBER(struct request, pid)},
	{.name = "frames",
	 .argument = "N",
	 .help = "at most N frames of each thread; --frames all for all",
	 .preset = FRAMES_DEFAULT,
	 OPTION_COUNT(struct request, frames)},
	{.name = "paths",
	 .argument = "N",
	 .help = "at most the last N paths of each frame (text: 3, alike ones as one); --paths all for all that it kept",
	 OPTION_COUNT(struct request, paths)},
	{.name = "no-values",
	 .help = "without values of variables, which may hold secrets",
	 OPTION_FLAG(struct request, has_no_values)},
	{.name = "functions",
	 .help = "all functions, too, with the parts that ran (text, json)",
	 OPTION_FLAG(struct request, has_functions)},
	OPTIONS_OF(path_reading_options, struct request, reading),
	OPTION_OUTPUT(struct request, output),
	OPTION_HELP,
	OPTIONS_END,
};

static int parse_options(const struct command *command, struct request *r, int argc, char **argv)
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

static struct error *render(struct request *r, const struct crash *c)
{
	struct crash_report report = {
		.crash = c,
		.frame_limit = (uint32_t)option_count_or(&r->frames, FRAMES_DEFAULT),
		.path_limit = (uint32_t)option_count_or(&r->paths, r->reading.is_full ? 0 : r->renderer->default_paths),
		.producer = "waymark " WAYMARK_VERSION,
		.has_functions = r->has_functions,
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

static struct error *open_and_render(struct request *r, const char *core)
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
			err = render(r, &c);
		crash_deinit(&c);
	}
	snapshot_close(&s);
	return err;
}

static struct error *find_and_render(struct request *r)
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
		err = open_and_render(r, fetched ? fetched : r->core);
	if (fetched)
		unlink(fetched);
	free(fetched);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {.renderer = word_table_find(&crash_formats, "text")};
	int status;

	path_reading_init(&r.reading);
	status = parse_options(command, &r, argc, argv);
	if (status == OPTIONS_PARSED)
		status = message_error("core", find_and_render(&r));
	path_reading_deinit(&r.reading);
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
		 "that the core says had run.\n",
	.options = option_rows,
	.operands = {{"program", COMPLETE_FILE, NULL, false}, {"core", COMPLETE_FILE, NULL, false}},
	.run = run,
};
