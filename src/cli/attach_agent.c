/*
 * attach_agent.c - what `waymark attach` does to the process: looks at what can be refused from outside, stops it, loads the library by
 * a call of dlopen and calls the agent, again and again until no thread is in the way.
 *
 *      all threads are stopped          <-------------------------------.
 *        one is in the way: it goes on alone for a moment  <-.          |
 *        and is stopped again        ------------------------'          |
 *      after STAND_NS all go on for as long as they have stood still ---'
 */
#include "cli/attach_agent.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "cli/attach_root.h"
#include "cli/install_paths.h"
#include "object/object.h"
#include "snapshot/inject/inject.h"
#include "waymark/attach.h"

enum {
	MOST_SECONDS = 15,
	PROC_PATH_MAX = 64,
	REASON_MAX = 512,
	LEAST_TRIES = 8,
	STAND_NS = 20000000, /* of the 50 ms (INJECT_LIMIT_NS): what is left is for the call */
	CALL_NS = 15000000,  /* a call is begun while so much is left */
	REST_NS = 2000000,
	HIDES_NS =
		100000000, /* with such a stack: it may be code that was made at run time, which samples are taken of */
	STACK_NS = 500000000,  /* with a stack that cannot be walked to its end: refused */
	FRAMES_NS = 400000000, /* with frames of the agent's on a stack: they may stay there */
	BIND_NOW = 2,          /* RTLD_NOW of glibc on x86-64 */
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

/* Nothing but the number of the process, or of its first thread, is left. */
static bool is_gone(pid_t pid)
{
	char path[PROC_PATH_MAX], line[PROC_PATH_MAX * 2] = "";
	bool ret = true;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "State:", 6) == 0)
			ret = strchr(line, 'Z') || strchr(line, 'X');
	if (f)
		fclose(f);
	return ret;
}

static struct error *has_gone(pid_t pid)
{
	return error_create(ERROR_NOT_FOUND, "process %d: has ended, or its first thread has", (int)pid);
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
	if (is_gone(pid))
		return has_gone(pid);
	err = check_program(pid);
	if (err)
		return err;
	if (status_of(pid, "Seccomp", 10))
		return error_create(ERROR_ARGUMENT,
				    "process %d: has a seccomp filter, which may forbid system calls of the agent",
				    (int)pid);
	if (status_of(pid, "SigIgn", 16) >> (SIGSEGV - 1) & 1)
		return error_create(ERROR_ARGUMENT,
				    "process %d: ignores SIGSEGV, which the kernel would undo when the agent is loaded",
				    (int)pid);
	return NULL;
}

static struct error *library_path(bool is_sampler, char **ret)
{
	struct install_paths paths;
	struct error *err = install_paths_find(&paths);

	if (err)
		return err;
	if (asprintf(ret, "%s/%s", is_sampler ? paths.sampler_dir : paths.agent_dir,
		     is_sampler ? INSTALL_SAMPLER : INSTALL_AGENT) < 0)
		err = &error_no_memory;
	install_paths_deinit(&paths);
	return err;
}

struct error *attach_is_apart(pid_t pid, bool is_sampler, bool *ret)
{
	char *path = NULL;
	struct error *err = library_path(is_sampler, &path);

	if (!err)
		err = attach_root_is_apart(pid, path, ret);
	free(path);
	return err;
}

/* ---- calls ---- */

static struct error *call(struct inject *in, uint64_t function, uint64_t a, uint64_t b, bool is_alone, uint64_t *ret)
{
	const uint64_t arguments[INJECT_ARGUMENTS] = {a, b};

	return inject_call(in, function, arguments, is_alone, ret);
}

static struct error *take_room(struct inject *in, size_t len, uint64_t *ret)
{
	*ret = inject_room(in, len);
	return *ret ? NULL
		    : error_create(ERROR_FORMAT, "process %d: has too many threads (%zu)", (int)in->pid,
				   in->thread_count);
}

static struct error *put_text(struct inject *in, const char *text, uint64_t *ret)
{
	return take_room(in, strlen(text) + 1, ret) ?: inject_write(in, *ret, text, strlen(text) + 1);
}

/* Gets the text of dlerror in the process. */
static struct error *cannot_load(struct inject *in)
{
	char reason[REASON_MAX] = "";
	uint64_t at = 0;
	struct error *err = call(in, inject_find(in, libc, "dlerror"), 0, 0, false, &at);

	if (!err && at) { /* it may end before the page does */
		size_t len = REASON_MAX - 1, page = 4096 - at % 4096;

		err = inject_read(in, at, reason, len < page ? len : page);
	}
	if (err)
		return err;
	return error_create(ERROR_FORMAT, "process %d: cannot load the agent: %s", (int)in->pid, reason);
}

/* What the thread is called in the innermost namespace of process numbers that it is in. *ret_depth: how many of them know it. */
static uint64_t number_there(pid_t pid, pid_t tid, unsigned int *ret_depth)
{
	static const char key[] = "NSpid:";
	char path[PROC_PATH_MAX], line[PROC_PATH_MAX * 4];
	uint64_t number = (uint64_t)tid;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
	*ret_depth = 0;
	f = fopen(path, "re");
	while (f && !*ret_depth && fgets(line, sizeof line, f)) {
		char *at = line + sizeof key - 1, *end;

		if (strncmp(line, key, sizeof key - 1) != 0)
			continue;
		for (;; at = end) {
			uint64_t next = strtoull(at, &end, 10);

			if (end == at)
				break;
			number = next;
			++*ret_depth;
		}
	}
	if (f)
		fclose(f);
	return number;
}

/* As the process itself knows its threads. */
static void set_numbers(const struct inject *in, struct wm1_attach_request *r)
{
	unsigned int depth = 2;

	for (size_t i = 0; i < in->thread_count; i++)
		r->threads[i].tid =
			depth > 1 ? number_there(in->pid, in->threads[i].tid, &depth) : (uint64_t)in->threads[i].tid;
}

static struct error *ask(struct inject *in, uint64_t function, struct wm1_attach_request *request)
{
	size_t len = sizeof *request + in->thread_count * sizeof request->threads[0];
	struct wm1_attach_request *r = malloc(len);
	uint64_t at, ignored;
	struct error *err;

	if (!r)
		return &error_no_memory;
	*r = *request;
	r->left_ns = inject_left_ns(in);
	r->thread_count = in->thread_count;
	for (size_t i = 0; i < in->thread_count; i++) {
		r->threads[i].is_in_the_way = 0;
		memcpy(r->threads[i].registers, in->threads[i].registers, sizeof r->threads[i].registers);
	}
	set_numbers(in, r);
	err = take_room(in, len, &at) ?: inject_write(in, at, r, len);
	if (!err)
		err = call(in, function, at, 0, true, &ignored);
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

/* What comes into the process. */
struct guest {
	const char *image; /* its file name begins so */
	const char *attach, *detach;
};
enum {
	AGENT,
	SAMPLER,
	GUESTS,
};
static const struct guest guests[GUESTS] = {
	[AGENT] = {"libwaymark-agent", "wm1_agent_attach", "wm1_agent_detach"},
	[SAMPLER] = {"libwaymark-sample", "wm1_sample_attach", "wm1_sample_detach"},
};

struct attempt {
	struct inject in;
	const char *path;     /* of the library; NULL: it has to be there */
	struct buffer bytes;  /* of the library, where the process does not see it */
	const char *function; /* of the guest */
	uint64_t at;          /* where that is; 0: not known yet */
	bool is_sampler;
	bool is_writing;   /* what comes writes code of the process: nothing may be unknown of its threads */
	uint64_t other_at; /* where the other guest tells whether it is there; 0: it is not, or has been asked */
	const char *in_the_way;
	bool may_hide; /* stacks that cannot be walked to their ends are in nobody's way: the frames that can be say enough */
	uint64_t stack_since_ns; /* since then a stack cannot be walked; 0: it could */
	struct wm1_attach_request request;
};

static const char takes_long[] =
	"to stop its threads and to look at them takes so long that it would stand still for more than 50 ms",
		  agent_takes_long[] = "the agent takes so long that it would stand still for more than 50 ms",
		  is_written[] = "it is always where code is to be written";

/* ---- loading ---- */

static struct error *open_library(struct inject *in, const char *path, const char *function, uint64_t *ret)
{
	uint64_t path_at, name_at, handle;
	struct error *err = put_text(in, path, &path_at) ?: put_text(in, function, &name_at);

	if (!err)
		err = call(in, inject_find(in, libc, "dlopen"), path_at, BIND_NOW, false, &handle);
	if (!err && !handle)
		return cannot_load(in);
	if (!err)
		err = call(in, inject_find(in, libc, "dlsym"), handle, name_at, false, ret);
	if (!err && !*ret)
		return cannot_load(in);
	return err;
}

/* A file without a name in the process's memory, which gets the bytes from here. It stays mapped as the library. */
static struct error *open_bytes(struct attempt *a, uint64_t *ret)
{
	struct inject *in = &a->in;
	char path[PROC_PATH_MAX];
	uint64_t name_at, fd = 0, ignored;
	struct error *err = put_text(in, strrchr(a->path, '/') + 1, &name_at), *end;

	if (!err)
		err = call(in, inject_find(in, libc, "memfd_create"), name_at, MFD_CLOEXEC, false, &fd);
	if (err)
		return err;
	if ((int)fd < 0)
		return error_create(ERROR_OS, "process %d: can make no file in its memory (memfd_create)",
				    (int)in->pid);
	snprintf(path, sizeof path, "/proc/self/fd/%d", (int)fd);
	err = attach_root_fill(in->pid, (int)fd, &a->bytes) ?: open_library(in, path, a->function, ret);
	end = call(in, inject_find(in, libc, "close"), fd, 0, false, &ignored);
	if (err)
		error_destroy(end);
	return err ? err : end;
}

static struct error *load(struct attempt *a)
{
	return a->bytes.len_bytes ? open_bytes(a, &a->at) : open_library(&a->in, a->path, a->function, &a->at);
}

/* ---- asking ---- */

/* It may have left: then the library is mapped, and does nothing. */
static struct error *ask_other(struct attempt *a, struct wm1_attach_request *request)
{
	struct wm1_attach_request question = {.version = WM1_ATTACH_VERSION, .is_query = true};
	struct error *err = ask(&a->in, a->other_at, &question);

	if (!err && question.result != WM1_ATTACH_AGAIN)
		a->other_at = 0;
	if (!err && question.result != WM1_ATTACH_AGAIN && question.result != WM1_ATTACH_NOT)
		request->result = question.result;
	return err;
}

/*
 * Once, where the process is now. What is loaded is asked for at the next stop, and so is what begins so late that the others already go on,
 * or soon have to.
 */
static struct error *call_agent(struct attempt *a)
{
	struct wm1_attach_request request = a->request;
	struct error *err = inject_begin(&a->in), *end;

	request.result = WM1_ATTACH_AGAIN;
	if (!err && a->other_at)
		err = ask_other(a, &request);
	else if (!err && !a->at)
		err = load(a);
	else if (!err && a->in.is_stopped && inject_left_ns(&a->in) >= CALL_NS)
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

static struct error *try_once(struct attempt *a)
{
	/* Who leaves loads nothing. */
	struct error *err = inject_is_safe(&a->in, a->path && !a->may_hide, &a->in_the_way);

	if (err || a->in_the_way)
		return err;
	if (inject_left_ns(&a->in) < CALL_NS) {
		a->in_the_way = takes_long;
		return NULL;
	}
	if (a->path && a->is_writing && !inject_has_c_threads(&a->in)) {
		a->request.result = WM1_ATTACH_THREADS;
		return NULL;
	}
	return call_agent(a);
}

/* Those that are in the way go on alone, so that the others stay out of it; from time to time all, for what they may wait for. */
static struct error *run_a_little(struct attempt *a)
{
	uint64_t left_ns = inject_left_ns(&a->in);
	struct error *err;
	bool is_any = false;

	for (size_t i = 0; i < a->in.thread_count; i++)
		is_any |= a->in.threads[i].is_in_the_way;
	if (a->in.is_stopped && is_any && left_ns > INJECT_LIMIT_NS - STAND_NS)
		return inject_step(&a->in, &a->in_the_way);
	/* After a stop that has failed it rests for longer than it may have stood still. */
	err = inject_go(&a->in, a->in.is_stopped ? INJECT_LIMIT_NS - left_ns + REST_NS : STAND_NS + STAND_NS / 2);
	return err ? err : inject_stop(&a->in, &a->in_the_way);
}

static bool is_to_try_again(struct attempt *a)
{
	bool is_stack = a->in_the_way ? a->in_the_way == inject_hides : a->request.result == WM1_ATTACH_STACK;

	if (!is_stack && a->in.is_stopped)
		a->stack_since_ns = 0;
	else if (is_stack && !a->stack_since_ns)
		a->stack_since_ns = inject_now_ns();
	if (!a->in_the_way && a->request.result == WM1_ATTACH_AGAIN)
		a->in_the_way = a->request.is_late ? agent_takes_long : is_written;
	return a->in_the_way || is_stack;
}

/* The agent, which has waited to leave, goes on. */
static struct error *stay(struct attempt *a)
{
	uint64_t end_ns = inject_now_ns() + STACK_NS;

	a->request.is_over = true;
	do {
		struct error *err = a->in.is_stopped ? try_once(a) : NULL;

		if (err || (a->in.is_stopped && !a->in_the_way))
			return err;
		err = run_a_little(a);
		if (err)
			return err;
	} while (inject_now_ns() < end_ns);
	return NULL;
}

static struct error *found_no_moment(const struct attempt *a, const char *why)
{
	return error_create(ERROR_FORMAT, "process %d: found no moment for it: %s", (int)a->in.pid, why);
}

static struct error *try_until_done(struct attempt *a)
{
	uint64_t begun_ns = inject_now_ns(), end_ns = begun_ns + MOST_SECONDS * UINT64_C(1000000000);
	const char *why = NULL;
	struct error *err = inject_stop(&a->in, &a->in_the_way);

	for (int i = 0; !err && (i <= LEAST_TRIES || inject_now_ns() < end_ns); i++) {
		char output[sizeof a->request.output];

		memcpy(output, a->request.output, sizeof output);
		a->request.result = 0;
		a->request.is_last = i > LEAST_TRIES && inject_now_ns() > begun_ns + FRAMES_NS;
		if (a->in.is_stopped)
			err = try_once(a);
		if (err || !is_to_try_again(a))
			return err;
		memcpy(a->request.output, output, sizeof output);
		why = a->in_the_way;
		if (i > LEAST_TRIES && !a->is_writing && a->stack_since_ns &&
		    inject_now_ns() > a->stack_since_ns + HIDES_NS)
			a->may_hide = true;
		if (i > LEAST_TRIES && a->is_writing && a->stack_since_ns &&
		    inject_now_ns() > a->stack_since_ns + STACK_NS) {
			a->request.result = WM1_ATTACH_STACK;
			return a->path ? NULL : stay(a);
		}
		err = run_a_little(a);
	}
	if (!err && !a->path)
		err = stay(a);
	return err ? err : found_no_moment(a, why ? why : is_written);
}

static struct error *refusal(const struct attempt *a)
{
	int pid = (int)a->in.pid;

	switch ((enum wm1_attach_result)a->request.result) {
	case WM1_ATTACH_DONE:
		return NULL;
	case WM1_ATTACH_ALREADY:
		return error_create(ERROR_ARGUMENT, "process %d: Waymark is attached already; --detach takes it out",
				    pid);
	case WM1_ATTACH_NOT:
		return error_create(ERROR_ARGUMENT, "process %d: Waymark is not attached", pid);
	case WM1_ATTACH_STARTED:
		return error_create(ERROR_ARGUMENT, "process %d: runs under `waymark run`, and is recorded from there",
				    pid);
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

	if (inject_has_image(in, "ld-musl"))
		return error_create(ERROR_ARGUMENT, "process %d: its C library is musl: attach works with glibc only",
				    pid);
	if (!inject_has_image(in, libc))
		return error_create(ERROR_FORMAT, "process %d: has no libc.so.6: attach works with glibc only", pid);
	if (a->path && (!inject_find(in, libc, "_dl_find_object") || !inject_find(in, libc, "dlopen") ||
			!inject_find(in, libc, "memfd_create")))
		return error_create(ERROR_ARGUMENT,
				    "process %d: its C library is older than glibc 2.35, which attach needs", pid);
	if (inject_has_image(in, "libwaymark-rt") || inject_has_image(in, "libwaymark-heap"))
		return error_create(ERROR_ARGUMENT, "process %d: has Waymark's runtime already", pid);
	if (a->path && inject_has_image(in, "libjvm.so"))
		return error_create(
			ERROR_ARGUMENT,
			"process %d: is a Java virtual machine, which the agent for machine code cannot follow: start it by "
			"`waymark run`",
			pid);
	return NULL;
}

static struct error *prepare(struct attempt *a, pid_t pid)
{
	struct error *err = inject_open(pid, &a->in);

	a->request.version = WM1_ATTACH_VERSION;
	return err ? err : check_images(a);
}

/* Whatever cannot be done in a process that is ending, that is why. */
static struct error *explain(pid_t pid, struct error *err)
{
	if (!err || err->code == ERROR_NOT_FOUND || !inject_is_ending(pid))
		return err;
	error_destroy(err);
	return error_create(ERROR_NOT_FOUND, "process %d: has ended, or its first thread has", (int)pid);
}

struct error *attach_agent(pid_t pid, const struct attach_options *options)
{
	struct attempt *a = calloc(1, sizeof *a);
	const struct guest *guest = &guests[options->is_sampler ? SAMPLER : AGENT],
			   *other = &guests[options->is_sampler ? AGENT : SAMPLER];
	char *path = NULL;
	struct error *err;

	if (!a)
		return &error_no_memory;
	a->function = guest->attach;
	a->is_sampler = options->is_sampler;
	a->is_writing = !options->is_sampler || options->is_heap;
	err = check_status(pid) ?: library_path(a->is_sampler, &path);
	if (!err && options->is_apart)
		err = a->is_sampler ? attach_root_check(pid) ?: attach_root_read(path, &a->bytes)
				    : error_create(ERROR_ARGUMENT,
						   "process %d: runs in another file system, where walks alone work: "
						   "without --encode, --check",
						   (int)pid);
	if (!err && (strlen(options->options) >= sizeof a->request.options ||
		     strlen(options->pattern) >= sizeof a->request.output))
		err = error_create(ERROR_ARGUMENT, "%s: is too long", options->pattern);
	a->path = path;
	if (!err)
		err = prepare(a, pid);
	if (!err) {
		strcpy(a->request.options, options->options);
		strcpy(a->request.output, options->pattern);
		a->request.limit_bytes = options->limit_bytes;
		a->at = inject_find(&a->in, guest->image, guest->attach);
		a->other_at = inject_find(&a->in, other->image, other->attach);
		err = try_until_done(a);
	}
	if (!err)
		err = refusal(a);
	err = explain(pid, err);
	inject_close(&a->in);
	buffer_deinit(&a->bytes);
	free(path);
	free(a);
	return err;
}

/* Whichever is there leaves. */
static struct error *detach_any(struct attempt *a)
{
	struct error *err = NULL;

	a->request.result = WM1_ATTACH_NOT;
	for (int i = 0; !err && i < GUESTS && a->request.result == WM1_ATTACH_NOT; i++) {
		a->is_sampler = i == SAMPLER;
		a->is_writing = !a->is_sampler;
		a->function = guests[i].detach;
		a->at = inject_find(&a->in, guests[i].image, guests[i].detach);
		if (a->at)
			err = try_until_done(a);
	}
	return err;
}

struct error *detach_agent(pid_t pid, char ret[PATH_MAX], bool *ret_is_sampler)
{
	struct attempt *a = calloc(1, sizeof *a);
	struct error *err;

	if (!a)
		return &error_no_memory;
	err = prepare(a, pid);
	if (!err)
		err = detach_any(a);
	if (!err)
		err = refusal(a);
	err = explain(pid, err);
	if (!err) {
		memcpy(ret, a->request.output, sizeof a->request.output);
		*ret_is_sampler = a->is_sampler;
	}
	inject_close(&a->in);
	free(a);
	return err;
}
