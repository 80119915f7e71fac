/*
 * attach_agent.c - what `waymark attach` does to the process: looks at what can be refused from outside, stops it, loads the library by
 * a call of dlopen and calls the agent, again and again until no thread is in the way.
 */
#include "cli/attach_agent.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/install_paths.h"
#include "object/object.h"
#include "snapshot/inject.h"
#include "waymark/attach.h"

enum {
	MOST_SECONDS = 15,
	TRIES_STACK = 200, /* with a stack that cannot be walked to its end, or with frames of the agent's */
	PROC_PATH_MAX = 64,
	REASON_MAX = 512,
	ALONE = 8,    /* tries, in the last of which all threads run */
	BIND_NOW = 2, /* RTLD_NOW of glibc on x86-64 */
};

static const char libc[] = "libc.so.6";

/* ---- before it is stopped ---- */

/* "KEY: value" of /proc/PID/status; 0 when it is not there. */
static uint64_t status_of(pid_t pid, const char *key, int base)
{
	char path[PROC_PATH_MAX], *line = NULL;
	size_t capacity = 0, len = strlen(key);
	uint64_t value = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && getline(&line, &capacity, f) > 0)
		if (strncmp(line, key, len) == 0 && line[len] == ':')
			value = strtoull(line + len + 1, NULL, base);
	free(line);
	if (f)
		fclose(f);
	return value;
}

static struct error *check_program(pid_t pid)
{
	struct object_program p;
	char path[PROC_PATH_MAX];
	struct error *err;

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	err = object_read_program(path, &p);
	if (err && err->code == ERROR_FORMAT)
		return err;
	if (err) { /* not ours: stopping it says so in better words */
		error_destroy(err);
		return NULL;
	}
	if (!p.is_x86_64)
		return error_create(ERROR_ARGUMENT, "process %d: is no x86-64 program: the agent works on those only",
				    (int)pid);
	if (!p.is_dynamic)
		return error_create(ERROR_ARGUMENT,
				    "process %d: is linked statically: the agent works on dynamically linked programs",
				    (int)pid);
	if (p.is_instrumented)
		return error_create(ERROR_ARGUMENT,
				    "process %d: was built with waymark cc: the agent is for programs that were not",
				    (int)pid);
	return NULL;
}

static struct error *check_status(pid_t pid)
{
	struct error *err;

	if (kill(pid, 0) != 0 && errno == ESRCH)
		return error_create(ERROR_NOT_FOUND, "process %d: there is no such process", (int)pid);
	err = check_program(pid);
	if (err)
		return err;
	if (status_of(pid, "Seccomp", 10))
		return error_create(
			ERROR_ARGUMENT,
			"process %d: has a seccomp filter, which may end it for what the agent asks of the kernel",
			(int)pid);
	if (status_of(pid, "SigIgn", 16) >> (SIGSEGV - 1) & 1)
		return error_create(ERROR_ARGUMENT,
				    "process %d: ignores SIGSEGV, which the kernel would undo when the agent is loaded",
				    (int)pid);
	return NULL;
}

/* The process sees the same file under that path. */
static struct error *check_library(pid_t pid, const char *path)
{
	struct stat ours, theirs;
	struct error *err = NULL;
	char *there;

	if (stat(path, &ours) != 0)
		return error_os(errno, "%s: the agent is not there; build or install Waymark as a whole", path);
	if (asprintf(&there, "/proc/%d/root%s", (int)pid, path) < 0)
		return &error_no_memory;
	if (stat(there, &theirs) != 0 && (errno == EACCES || errno == EPERM))
		err = NULL; /* not ours: stopping it says so in better words */
	else if (stat(there, &theirs) != 0 || ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
		err = error_create(ERROR_ARGUMENT, "process %d: does not see %s: it runs in another file system",
				   (int)pid, path);
	free(there);
	return err;
}

static struct error *agent_path(pid_t pid, char **ret)
{
	struct install_paths paths;
	struct error *err = install_paths_find(&paths);

	if (err)
		return err;
	if (asprintf(ret, "%s/" INSTALL_AGENT, paths.agent_dir) < 0)
		err = &error_no_memory;
	install_paths_deinit(&paths);
	return err ? err : check_library(pid, *ret);
}

/* ---- calls ---- */

static struct error *call(struct inject *in, uint64_t function, uint64_t a, uint64_t b, uint64_t *ret)
{
	const uint64_t arguments[INJECT_ARGUMENTS] = {a, b};

	return inject_call(in, function, arguments, ret);
}

static struct error *put_text(struct inject *in, const char *text, uint64_t *ret)
{
	*ret = inject_room(in, strlen(text) + 1);
	return inject_write(in, *ret, text, strlen(text) + 1);
}

/* What dlerror says there. */
static struct error *cannot_load(struct inject *in)
{
	char reason[REASON_MAX] = "";
	uint64_t at = 0;
	struct error *err = call(in, inject_find(in, libc, "dlerror"), 0, 0, &at);

	if (!err && at) { /* it may end before the page does */
		size_t len = REASON_MAX - 1, page = 4096 - at % 4096;

		err = inject_read(in, at, reason, len < page ? len : page);
	}
	if (err)
		return err;
	return error_create(ERROR_FORMAT, "process %d: cannot load the agent: %s", (int)in->pid, reason);
}

static struct error *load(struct inject *in, const char *path, const char *function, uint64_t *ret)
{
	uint64_t path_at, name_at, handle, dlopen_at = inject_find(in, libc, "dlopen");
	struct error *err;

	if (!dlopen_at)
		return error_create(ERROR_FORMAT,
				    "process %d: its C library has no dlopen: glibc 2.35 or later is needed",
				    (int)in->pid);
	err = put_text(in, path, &path_at) ?: put_text(in, function, &name_at);
	if (!err)
		err = call(in, dlopen_at, path_at, BIND_NOW, &handle);
	if (!err && !handle)
		return cannot_load(in);
	if (!err)
		err = call(in, inject_find(in, libc, "dlsym"), handle, name_at, ret);
	if (!err && !*ret)
		return cannot_load(in);
	return err;
}

static struct error *ask(struct inject *in, uint64_t function, struct wm1_attach_request *request)
{
	size_t len = sizeof *request + in->thread_count * sizeof request->threads[0];
	struct wm1_attach_request *r = malloc(len);
	uint64_t at = inject_room(in, len), ignored;
	struct error *err;

	if (!r)
		return &error_no_memory;
	*r = *request;
	r->thread_count = in->thread_count;
	for (size_t i = 0; i < in->thread_count; i++) {
		r->threads[i].tid = (uint64_t)in->threads[i].tid;
		r->threads[i].is_in_the_way = 0;
		memcpy(r->threads[i].registers, in->threads[i].registers, sizeof r->threads[i].registers);
	}
	err = inject_write(in, at, r, len);
	if (!err)
		err = call(in, function, at, 0, &ignored);
	if (!err)
		err = inject_read(in, at, r, len);
	if (!err) {
		*request = *r;
		for (size_t i = 0; i < in->thread_count; i++)
			in->threads[i].is_in_the_way = r->threads[i].is_in_the_way != 0;
	}
	free(r);
	return err;
}

/* ---- trying ---- */

struct attempt {
	struct inject in;
	const char *path;     /* of the library; NULL: it has to be there */
	const char *function; /* of the agent */
	uint64_t at;          /* where that is; 0: not known yet */
	const char *in_the_way;
	struct wm1_attach_request request;
};

/* Once, where the process is now. */
static struct error *try_once(struct attempt *a)
{
	struct wm1_attach_request request = a->request;
	/* Who leaves loads nothing. */
	struct error *err = inject_is_safe(&a->in, a->path != NULL, &a->in_the_way), *end;

	if (err || a->in_the_way)
		return err;
	if (a->path && !inject_has_c_threads(&a->in)) {
		a->request.result = WM1_ATTACH_THREADS;
		return NULL;
	}
	err = inject_begin(&a->in);
	if (!err && !a->at)
		err = load(&a->in, a->path, a->function, &a->at);
	if (!err)
		err = ask(&a->in, a->at, &request);
	end = inject_end(&a->in);
	if (err) {
		error_destroy(end);
		return err;
	}
	if (!end)
		a->request = request;
	return end;
}

/*
 * Those that are in the way go on alone, so that the others stay out of it; now and then all, for what they may wait for. Where the agent
 * works it is always all: its threads stop each other.
 */
static struct error *run_a_little(struct attempt *a, int tries)
{
	bool is_any = false;

	if (!a->path)
		return inject_run(&a->in, true);
	for (size_t i = 0; i < a->in.thread_count; i++)
		is_any |= a->in.threads[i].is_in_the_way;
	return inject_run(&a->in, !is_any || tries % ALONE == ALONE - 1);
}

static bool is_to_try_again(const struct attempt *a, int tries)
{
	return a->in_the_way || a->request.result == WM1_ATTACH_AGAIN ||
	       (a->request.result == WM1_ATTACH_STACK && tries < TRIES_STACK);
}

/* The agent, which has waited to leave, goes on. */
static struct error *stay(struct attempt *a)
{
	struct error *err;

	a->request.is_over = true;
	for (int i = 0; i <= TRIES_STACK; i++) {
		err = try_once(a);
		if (err || !a->in_the_way)
			return err;
		err = run_a_little(a, i);
		if (err)
			return err;
	}
	return NULL;
}

static struct error *try_until_done(struct attempt *a)
{
	time_t end = time(NULL) + MOST_SECONDS;
	struct error *err = NULL;

	for (int i = 0; i <= TRIES_STACK + 1 || time(NULL) < end; i++) {
		char output[sizeof a->request.output];

		memcpy(output, a->request.output, sizeof output);
		a->request.result = 0;
		a->request.is_last = i > TRIES_STACK;
		err = try_once(a);
		if (err || !is_to_try_again(a, i))
			return err;
		memcpy(a->request.output, output, sizeof output);
		err = run_a_little(a, i);
		if (err)
			return err;
	}
	err = a->path ? NULL : stay(a);
	if (err)
		return err;
	return error_create(ERROR_FORMAT, "process %d: found no moment for it: %s", (int)a->in.pid,
			    a->in_the_way ? a->in_the_way : "it is always where code is to be written");
}

static struct error *refusal(const struct attempt *a)
{
	int pid = (int)a->in.pid;

	switch ((enum wm1_attach_result)a->request.result) {
	case WM1_ATTACH_DONE:
		return NULL;
	case WM1_ATTACH_ALREADY:
		return error_create(ERROR_ARGUMENT, "process %d: the agent is attached already; --detach takes it out",
				    pid);
	case WM1_ATTACH_NOT:
		return error_create(ERROR_ARGUMENT, "process %d: the agent is not attached", pid);
	case WM1_ATTACH_STARTED:
		return error_create(ERROR_ARGUMENT,
				    "process %d: runs under `waymark run`, and has its agent from there", pid);
	case WM1_ATTACH_OTHER:
		return error_create(ERROR_ARGUMENT, "process %d: has Waymark's runtime already", pid);
	case WM1_ATTACH_THREADS:
		return error_create(
			ERROR_ARGUMENT,
			"process %d: has a thread that its C library has not made, which the agent cannot work in",
			pid);
	case WM1_ATTACH_STACK:
		return error_create(
			ERROR_FORMAT,
			"process %d: its stack cannot be walked to its end: code without unwind tables runs", pid);
	case WM1_ATTACH_OUTPUT:
		return error_os(a->request.error, "process %d: cannot write files to %s; choose another place with -o",
				pid, a->request.output);
	case WM1_ATTACH_ALLOCATOR:
		return error_create(
			ERROR_ARGUMENT,
			"process %d: has an allocator in the program itself: --heap records one that is in a library",
			pid);
	case WM1_ATTACH_BAD_VERSION:
		return error_create(ERROR_MISMATCH, "process %d: has the agent of another version of Waymark", pid);
	case WM1_ATTACH_AGAIN:
	case WM1_ATTACH_FAILED:
		break;
	}
	return error_create(ERROR_OS, "process %d: has no memory for the agent, or its code cannot be written", pid);
}

static struct error *check_images(struct attempt *a)
{
	struct inject *in = &a->in;
	int pid = (int)in->pid;

	if (!inject_has_image(in, libc))
		return error_create(ERROR_FORMAT, "process %d: has no libc.so.6: the agent works with glibc only", pid);
	if (inject_has_image(in, "libwaymark-rt") || inject_has_image(in, "libwaymark-heap"))
		return error_create(ERROR_ARGUMENT, "process %d: has Waymark's runtime already", pid);
	a->at = inject_find(in, "libwaymark-agent", a->function);
	return NULL;
}

static struct error *prepare(struct attempt *a, pid_t pid)
{
	struct error *err = inject_open(pid, &a->in);

	a->request.version = WM1_ATTACH_VERSION;
	return err ? err : check_images(a);
}

struct error *attach_agent(pid_t pid, const struct attach_options *options)
{
	struct attempt *a = calloc(1, sizeof *a);
	char *path = NULL;
	struct error *err;

	if (!a)
		return &error_no_memory;
	a->function = "wm1_agent_attach";
	err = check_status(pid) ?: agent_path(pid, &path);
	if (!err && (strlen(options->options) >= sizeof a->request.options ||
		     strlen(options->pattern) >= sizeof a->request.output))
		err = error_create(ERROR_ARGUMENT, "%s: is too long", options->pattern);
	if (!err)
		err = prepare(a, pid);
	if (!err) {
		a->path = path;
		strcpy(a->request.options, options->options);
		strcpy(a->request.output, options->pattern);
		a->request.limit_bytes = options->limit_bytes;
		err = try_until_done(a);
	}
	if (!err)
		err = refusal(a);
	inject_close(&a->in);
	free(path);
	free(a);
	return err;
}

struct error *detach_agent(pid_t pid, char ret[PATH_MAX])
{
	struct attempt *a = calloc(1, sizeof *a);
	struct error *err;

	if (!a)
		return &error_no_memory;
	a->function = "wm1_agent_detach";
	err = prepare(a, pid);
	if (!err) {
		if (!a->at)
			a->request.result = WM1_ATTACH_NOT;
		else
			err = try_until_done(a);
	}
	if (!err)
		err = refusal(a);
	if (!err)
		memcpy(ret, a->request.output, sizeof a->request.output);
	inject_close(&a->in);
	free(a);
	return err;
}
