/*
 * run.c - `waymark run`: checks what can be checked before, starts the program with the recording set up in its environment,
 * waits, passes signals and the exit status through, and says which files were written.
 *
 * The program runs in the same process group and on the same terminal: Ctrl+C and job control reach it as without us.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/find_recordings.h"
#include "cli/recording_options.h"
#include "cli/run_java.h"
#include "cli/run_live.h"
#include "cli/run_preload.h"
#include "cli/run_session.h"
#include "cli/run_summary.h"

/* Of the heap, where no option says what to record. */
static const uint32_t default_heap_interval = 512 << 10; /* bytes, as --alloc's */

enum {
	STATUS_CANNOT_RUN = 126, /* as of shells and env(1) */
	STATUS_NO_PROGRAM = 127,
};

struct request {
	struct run_clients clients;
	struct run_libraries libraries;
	struct run_java_options java_options;
	struct run_java java;
	bool is_events;  /* --events */
	bool is_leaks;   /* --leaks */
	bool is_default; /* no option says what to record */
	bool is_quiet;
	const char *output; /* NULL: WAYMARK_OUT, else the current directory */
	const char *limit;
	char **argv;
	char *program;         /* the path that will be run */
	char *place;           /* directory of the files, as the user would name it */
	struct timespec began; /* by the clock of its file system: older files are of other runs */
	bool is_any_name;      /* the files' names need not end in .wmk */
	struct run_session session;
	bool is_live;
	struct run_live live;
};

/* As execvp searches; the shell's "command not found" is the user's most likely mistake. */
static struct error *find_program(const char *name, char **ret)
{
	const char *path = getenv("PATH");
	struct error *err = NULL;
	char *copy, *rest, *dir;

	if (strchr(name, '/')) {
		*ret = strdup(name);
		return *ret ? NULL : &error_no_memory;
	}
	copy = rest = strdup(path ? path : "/bin:/usr/bin");
	if (!copy)
		return &error_no_memory;
	while (!err && !*ret && (dir = strsep(&rest, ":")) != NULL) {
		struct stat st;
		char *try;

		if (asprintf(&try, "%s/%s", *dir ? dir : ".", name) < 0)
			err = &error_no_memory;
		else if (stat(try, &st) == 0 && S_ISREG(st.st_mode) && access(try, X_OK) == 0)
			*ret = try;
		else
			free(try);
	}
	free(copy);
	if (!err && !*ret)
		err = error_create(ERROR_NOT_FOUND, "%s: no such program in PATH; give its path, as in ./%s", name,
				   name);
	return err;
}

/* Whether it is there and may be run. *status: the exit status that says so. */
static struct error *check_file_to_run(const char *program, int *status)
{
	struct stat st;

	*status = STATUS_CANNOT_RUN;
	if (stat(program, &st) != 0) {
		if (errno == ENOENT)
			*status = STATUS_NO_PROGRAM;
		return error_os(errno, "%s", program);
	}
	if (!S_ISREG(st.st_mode))
		return error_create(ERROR_ARGUMENT, "%s: is not a file that can be run", program);
	if (access(program, X_OK) != 0)
		return error_os(errno, "%s: cannot be run", program);
	return NULL;
}

/* The option for which Java programs have contexts by words, without its dashes; NULL: none. */
static const char *words_option(const struct request *r)
{
	const struct agent_choice *heap = &r->clients.agent.of[WM1_AGENT_heap];

	return r->clients.is_encode                         ? "encode"
	       : r->clients.agent.of[WM1_AGENT_check].is_on ? "check"
	       : heap->is_on && !heap->number               ? "heap"
	       : r->java_options.profile                    ? "profile"
	       : r->java_options.cache                      ? "cache"
							    : NULL;
}

/* Samples and allocations, what most want to see first, at a price that nobody notices; or of these what the program takes. */
static struct error *check_default(struct request *r)
{
	struct agent_choice *heap = &r->clients.agent.of[WM1_AGENT_heap];
	struct agent_choice *sample = &r->clients.agent.of[WM1_AGENT_sample];
	struct error *err = run_preload_check(&r->clients, r->program, r->argv, &r->libraries), *without;

	if (!err)
		return NULL;
	error_destroy(err);
	*heap = (struct agent_choice){0};
	err = run_preload_check(&r->clients, r->program, r->argv, &r->libraries);
	if (!err)
		return NULL;
	*sample = (struct agent_choice){0};
	r->is_default = false;
	without = run_preload_check(&r->clients, r->program, r->argv, &r->libraries);
	if (!without)
		message_warn("run", "only events and tokens are recorded: %s", err->message);
	error_destroy(err);
	return without;
}

static struct error *choose_agent(struct request *r)
{
	struct error *err;

	err = run_java_find(&r->clients, &r->java_options, r->program, &r->java);
	r->libraries.java = r->java.library;
	if (err)
		return err;
	if (r->java.is_launcher && wait_option(&r->clients.waits) && words_option(r))
		return error_create(ERROR_ARGUMENT,
				    "--%s walks the stacks of Java threads, and --%s needs classes that are rewritten",
				    wait_option(&r->clients.waits), words_option(r));
	if (r->java.is_launcher)
		return run_preload_check_java(r->program);
	if (run_java_is_all(&r->clients, &r->java_options))
		return NULL;
	return r->is_default ? check_default(r) : run_preload_check(&r->clients, r->program, r->argv, &r->libraries);
}

/*
 * Permission bits do not suffice (root, read-only mounts, /proc): a file is made and removed. *ret_now: the time by the file system's clock.
 */
static struct error *try_file(const char *dir, const char *asked, struct timespec *ret_now)
{
	struct error *err = NULL;
	struct stat st;
	char *path;
	int fd;

	if (asprintf(&path, "%s/.waymark-XXXXXX", dir) < 0)
		return &error_no_memory;
	fd = mkstemp(path);
	if (fd < 0) {
		err = error_os(errno, "%s: files cannot be written there; choose another place with -o", asked);
	} else {
		*ret_now = fstat(fd, &st) == 0 ? st.st_ctim : (struct timespec){0};
		close(fd);
		unlink(path);
	}
	free(path);
	return err;
}

static struct error *check_writable(const char *dir, const char *asked, struct timespec *ret_now)
{
	struct stat st;

	if (stat(dir, &st) != 0)
		return error_os(errno, "%s: files cannot be written there", asked);
	if (!S_ISDIR(st.st_mode))
		return error_create(ERROR_ARGUMENT, "%s: %s is not a directory", asked, dir);
	return try_file(dir, asked, ret_now);
}

static struct error *set_place(struct request *r)
{
	const char *env = getenv("WAYMARK_OUT");
	const char *place = r->output ? r->output : env && *env ? env : ".";
	struct buffer pattern = {0};
	struct stat st;
	bool is_directory = (stat(place, &st) == 0 && S_ISDIR(st.st_mode)) || place[strlen(place) - 1] == '/';
	char *copy = strdup(place);
	struct error *err;

	if (!copy)
		return &error_no_memory;
	r->place = strdup(is_directory ? place : dirname(copy));
	r->is_any_name = !is_directory && (strlen(place) < 4 || strcmp(place + strlen(place) - 4, ".wmk"));
	free(copy);
	if (!r->place)
		return &error_no_memory;
	err = check_writable(r->place, place, &r->began);
	if (!err)
		err = recording_pattern(place, &pattern);
	if (!err && setenv("WAYMARK_OUT", (char *)pattern.bytes, 1) != 0)
		err = &error_no_memory;
	buffer_deinit(&pattern);
	return err;
}

static struct error *set_limit(void *state, const char *text)
{
	struct request *r = state;

	r->limit = text;
	return recording_limit_check(text);
}

/* The program's pid, for forward_signal: written before the handlers are set, read by them. */
static volatile pid_t child_pid;

static void forward_signal(int number)
{
	int saved = errno;

	kill(child_pid, number);
	errno = saved;
}

/* Signals of the terminal go to the whole group, so the program has them already; signals that others send to this process are passed on. */
static void set_signals(void)
{
	static const int forwarded[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};
	struct sigaction action = {.sa_handler = forward_signal, .sa_flags = SA_RESTART};
	struct sigaction before;

	for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
		if (sigaction(forwarded[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
}

/* Without a copy of this process's memory, which a fork would make. */
static struct error *start_program(const struct request *r, pid_t *ret)
{
	int failed = posix_spawn(ret, r->program, r->is_live ? &r->live.actions : NULL, NULL, r->argv, environ);

	return failed ? error_os(failed, "%s: cannot be run", r->program) : NULL;
}

/* Ends as the program did, by the same signal too; without a second core file. */
static int pass_status(int status)
{
	const struct rlimit no_core = {0, 0};
	sigset_t set;
	int number;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	number = WTERMSIG(status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	fflush(NULL);
	raise(number);
	return 128 + number;
}

/* Where all worked. */
static const char *what_was_missing(const struct request *r)
{
	bool is_built = r->libraries.has_agent || r->java.is_launcher || r->session.page->started;

	if (run_java_is_all(&r->clients, &r->java_options))
		return "it ran no Java program that had such an event";
	if (r->clients.agent.of[WM1_AGENT_heap].is_on)
		return is_built ? "it allocated nothing" : "it allocated nothing, or was not built with waymark cc";
	if (r->clients.agent.of[WM1_AGENT_sample].is_on && !r->java.is_launcher)
		return "it took no CPU time that was sampled, made no event and took no token";
	if (wait_option(&r->clients.waits) && !r->java.is_launcher)
		return "it ended before a thread was looked at, made no event and took no token";
	return is_built ? "it made no event and took no token"
			: "it made no event and took no token, or was not built with waymark cc";
}

/* Prints what no recording says. */
static void say_rest(const struct request *r, bool is_recorded)
{
	char *text;

	if (r->is_quiet)
		return;
	if (is_recorded) {
		run_session_say_missing(&r->session, r->place);
	} else {
		text = run_session_why_nothing(&r->session, r->place, r->libraries.has_agent, what_was_missing(r));
		message_warn("run", "%s recorded nothing: %s", r->program, text ? text : "not enough memory");
		free(text);
	}
	run_session_say_missed(&r->session);
}

/* Until the program has ended. */
static struct error *wait_for(const struct request *r, const struct recordings_place *place, pid_t pid, int *status)
{
	bool has_ended = false;
	struct error *err = r->is_live ? run_live_show(place, r->argv[0], pid, status, &has_ended) : NULL;

	if (err)
		message_error("run", err);
	while (!has_ended && waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return error_os(errno, "waiting for %s", r->program);
	return NULL;
}

static int run_program(struct request *r)
{
	struct recording_paths written = {0};
	struct recordings_place place = {.dir = r->place,
					 .session = r->session.number,
					 .is_any_name = r->is_any_name,
					 .began = r->began,
					 .is_quiet = r->is_quiet,
					 .is_checked =
						 r->clients.agent.of[WM1_AGENT_check].is_on && r->libraries.has_agent,
					 .written = r->is_default && !r->is_quiet ? &written : NULL};
	struct timespec now;
	pid_t pid = 0;
	int status = 0;
	struct error *err;

	if (clock_gettime(CLOCK_REALTIME, &now) == 0)
		place.since_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	err = r->is_live ? run_live_begin(&r->live) : NULL;
	if (!err)
		err = start_program(r, &pid);
	if (err) {
		message_error("run", err);
		return STATUS_CANNOT_RUN;
	}
	child_pid = pid;
	set_signals();
	err = wait_for(r, &place, pid, &status);
	if (r->is_live)
		run_live_end(&r->live);
	if (err)
		return message_error("run", err);
	say_rest(r, recordings_print(&place) > 0);
	if (written.count)
		run_summary_print(&written);
	recording_paths_free(&written);
	return pass_status(status);
}

/* The program's path in *r. *status: the exit status of an error. */
static struct error *find(struct request *r, int *status)
{
	struct error *err = find_program(r->argv[0], &r->program);

	if (err)
		*status = err->code == ERROR_NOT_FOUND ? STATUS_NO_PROGRAM : STATUS_FAILED;
	return err ? err : check_file_to_run(r->program, status);
}

static struct error *prepare(struct request *r)
{
	struct error *err = recording_environment_check();

	err = err ?: choose_agent(r) ?: set_place(r) ?: run_session_begin(&r->session);
	if (!err && r->limit && setenv("WAYMARK_LIMIT", r->limit, 1) != 0)
		err = &error_no_memory;
	unsetenv("WAYMARK_LEAKS"); /* of a run around this one */
	if (!err && r->is_leaks && setenv("WAYMARK_LEAKS", "1", 1) != 0)
		err = &error_no_memory;
	if (!err)
		err = run_java_set(&r->clients, &r->java_options, &r->java)
			      ?: run_preload_set(&r->clients, &r->libraries);
	if (!err && r->output)
		err = recording_make_room("run", r->output, r->is_quiet);
	return err;
}

static struct error *set_recent(void *state, const char *text)
{
	struct error *err = recording_recent_check(text);

	(void)state;
	return err || setenv("WAYMARK_RECENT", text, 1) == 0 ? err : &error_no_memory;
}

static struct error *add_label(void *state, const char *text)
{
	(void)state;
	return recording_label_add(text);
}

static struct error *set_output(void *state, const char *place)
{
	struct request *r = state;

	r->output = place;
	return *place ? NULL : error_create(ERROR_ARGUMENT, "option -o needs a place");
}

static const struct option_row option_rows[] = {
	OPTIONS_OF(run_agent_options, struct request, clients.agent),
	OPTIONS_OF(wait_options, struct request, clients.waits),
	OPTIONS_OF(run_java_options, struct request, java_options),
	OPTIONS_OF(run_java_file_options, struct request, java_options),
	{.name = "leaks",
	 .help = "record every allocation, and when the program ends to which blocks there is no pointer any more",
	 OPTION_FLAG(struct request, is_leaks)},
	{.name = "events",
	 .help = "record events and tokens of the program alone; of one that was not built with waymark cc by encoding every call",
	 OPTION_FLAG(struct request, is_events)},
	{.name = "encode",
	 .help = "encode every call of the program as it runs: samples have the frames that tail calls replaced, too",
	 OPTION_FLAG(struct request, clients.is_encode)},
	{.name = "agent",
	 .help = "encode all code of a program that was built with waymark cc as it runs, libraries that were not, too",
	 OPTION_FLAG(struct request, clients.is_with_agent)},
	{.name = "no-agent",
	 .help = "leave a program that was not built with waymark cc as it is",
	 OPTION_FLAG(struct request, clients.is_without_agent)},
	{.name = "output",
	 .letter = 'o',
	 .argument = "PLACE",
	 .help = "a directory, or a file name in which %e becomes the program's name, %p its pid, %h the host, %r the rank "
		 "and %q{VARIABLE} a variable (waymark-%e-%p.wmk); a recording of that name is kept as NAME.old",
	 .completion = COMPLETE_FILE,
	 OPTION_SET(set_output)},
	{.name = "label",
	 .argument = "KEY=VALUE",
	 .help = "write a label into each recording, by which `waymark report` can group them; may be given several times",
	 .is_repeatable = true,
	 OPTION_SET(add_label)},
	{.name = "limit",
	 .argument = "SIZE",
	 .help = "record at most SIZE bytes a process; K, M, G are known (4G)",
	 OPTION_SET(set_limit)},
	{.name = "recent",
	 .argument = "SIZE",
	 .help = "keep the newest SIZE bytes of samples and events with their times, and add older ones up by context; K, M, G are "
		 "known (64M)",
	 OPTION_SET(set_recent)},
	{.name = "watch",
	 .help = "show functions and contexts while the program runs, as `waymark top`; it prints behind that",
	 OPTION_FLAG(struct request, is_live)},
	{.name = "quiet",
	 .letter = 'q',
	 .help = "do not say which files were written",
	 OPTION_FLAG(struct request, is_quiet)},
	OPTION_HELP,
	OPTIONS_END,
};

/* Without an option that chooses, what most people want first. */
static void choose_default(struct request *r)
{
	const struct run_clients *c = &r->clients;

	r->is_default = !r->is_events && !c->is_encode && !c->is_with_agent && !c->is_without_agent &&
			!agent_choices_is_any(&c->agent) && !wait_option(&c->waits) &&
			!run_java_option(&r->java_options);
	if (!r->is_default)
		return;
	r->clients.agent.of[WM1_AGENT_sample] = (struct agent_choice){
		.is_on = true, .is_given = true, .number = wm1_agent_client_options[WM1_AGENT_sample].preset};
	r->clients.agent.of[WM1_AGENT_heap] =
		(struct agent_choice){.is_on = true, .is_given = true, .number = default_heap_interval};
}

static int parse_options(const struct command *command, struct request *r, int argc, char **argv)
{
	int status = options_parse(command, r, argc, argv);

	if (status == OPTIONS_PARSED && optind >= argc)
		return message_usage("run", "a program is needed");
	r->argv = argv + optind;
	if (r->clients.agent.of[WM1_AGENT_check].is_on)
		agent_choices_add(&r->clients.agent, WM1_AGENT_sample);
	if (r->is_leaks && r->clients.agent.of[WM1_AGENT_heap].number)
		return message_usage("run", "--leaks needs every allocation: --heap without a number of bytes");
	if (r->is_leaks)
		agent_choices_add(&r->clients.agent, WM1_AGENT_heap);
	choose_default(r);
	return status;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {0};
	int status = parse_options(command, &r, argc, argv);
	struct error *err;

	if (status != OPTIONS_PARSED)
		return status;
	err = find(&r, &status);
	if (!err) {
		status = STATUS_FAILED;
		err = prepare(&r);
	}
	if (err)
		message_error("run", err);
	else
		status = run_program(&r);
	run_session_end(&r.session);
	run_java_deinit(&r.java);
	free(r.program);
	free(r.place);
	return status;
}

const struct command command_run = {
	.name = "run",
	.summary = "run a program and record its contexts, of every allocation if wanted",
	.usage = "Usage: waymark run [OPTIONS] PROGRAM [ARGUMENTS]\n"
		 "\n"
		 "Runs PROGRAM, records it and prints where its recording is. Without an option\n"
		 "that says what: CPU samples (--sample) and sampled allocations (--heap=512K),\n"
		 "and a summary at the end. Java virtual machines that it is or starts, too. The\n"
		 "exit status is the program's.\n",
	.options = option_rows,
	.operands = {{"program", COMPLETE_COMMAND, NULL, false}},
	.stops_at_operand = true,
	.run = run,
};
