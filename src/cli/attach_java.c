/*
 * attach_java.c - what `waymark attach` does with a virtual machine of Java: asks it to load the agent, by its own protocol, and the agent to
 * begin or to end.
 */
#include "cli/attach_java.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/plain_text.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/install_paths.h"
#include "snapshot/hotspot/hotspot.h"
#include "snapshot/inject/inject.h"
#include "waymark/jvm_attach.h"

enum {
	SECOND_NS = 1000000000,
	LIMIT_NS = SECOND_NS - SECOND_NS / 10, /* until the agent begins: a refusal comes within a second */
	WORK_SECONDS = 10,                     /* of an agent that has begun */
	LOOK_NS = 2000000,
};

struct visit {
	struct hotspot machine;
	struct hotspot_folder folder;
	bool has_folder;
	char library[PATH_MAX];            /* as the process has it */
	char answer[WM1_JVM_ATTACH_BYTES]; /* the second text of the answer */
};

/* ---- the library ---- */

static bool is_same_file(int a, const char *b)
{
	struct stat ours, theirs;

	return a >= 0 && fstat(a, &theirs) == 0 && stat(b, &ours) == 0 && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

/* The process can open the very file that we have under that path. */
static struct error *is_seen(const struct hotspot *h, const char *path, bool *ret)
{
	struct hotspot_self self;
	struct error *err = hotspot_become(h, &self);
	int fd;

	if (err)
		return err;
	fd = hotspot_open_there(h, path, O_RDONLY);
	hotspot_become_self(&self);
	*ret = is_same_file(fd, path);
	if (fd >= 0)
		close(fd);
	return NULL;
}

static struct error *install_path(char ret[PATH_MAX])
{
	struct install_paths paths;
	struct error *err = install_paths_find(&paths);
	char *path = NULL;

	if (err)
		return err;
	if (asprintf(&path, "%s/%s", paths.jvm_dir, INSTALL_JVM_AGENT) < 0)
		err = &error_no_memory;
	else if (!realpath(path, ret))
		err = error_os(errno, "%s: the agent for Java programs is not there: Waymark was built without a JDK",
			       path);
	free(path);
	install_paths_deinit(&paths);
	return err;
}

/* The installed one where the process can open it; else a copy, which is mapped when the folder is removed. */
static struct error *bring_library(struct visit *v)
{
	char installed[PATH_MAX];
	bool is_there = false;
	struct error *err = install_path(installed) ?: is_seen(&v->machine, installed, &is_there);

	if (err)
		return err;
	if (is_there) {
		strcpy(v->library, installed);
		return NULL;
	}
	if (snprintf(v->library, sizeof v->library, "%s/" INSTALL_JVM_AGENT, v->folder.path) >= PATH_MAX)
		return error_create(ERROR_ARGUMENT, "%s: is too long", v->folder.path);
	return hotspot_folder_copy(&v->machine, &v->folder, INSTALL_JVM_AGENT, installed);
}

static struct error *check_images(const struct hotspot *h)
{
	char path[PATH_MAX];

	if (!hotspot_find_mapped(h, "libc.so.6", path))
		return error_create(ERROR_FORMAT, "process %d: has no libc.so.6: attach works with glibc only",
				    (int)h->pid);
	return NULL;
}

/* ---- request and answer ---- */

static void add_text(struct buffer *to, const char *text)
{
	buffer_bytes(to, text, strlen(text) + 1);
}

static struct error *write_request(struct visit *v, const struct attach_java_options *options)
{
	struct buffer text = {0};
	struct error *err;

	add_text(&text, WM1_JVM_ATTACH_VERSION);
	add_text(&text, options ? "attach" : "detach");
	if (options) {
		add_text(&text, options->words);
		add_text(&text, options->pattern);
		buffer_printf(&text, "%" PRIu64, options->limit_bytes);
		buffer_u8(&text, 0);
	}
	err = buffer_error(&text);
	if (!err && text.len_bytes > WM1_JVM_ATTACH_BYTES)
		err = error_create(ERROR_ARGUMENT, "%s: is too long", options ? options->pattern : "");
	if (!err)
		err = hotspot_folder_write(&v->machine, &v->folder, WM1_JVM_ATTACH_REQUEST, text.bytes, text.len_bytes);
	buffer_deinit(&text);
	return err;
}

/* False: there is none yet. The process has written it: texts may be missing. */
static bool read_answer(struct visit *v, struct error **ret)
{
	char bytes[WM1_JVM_ATTACH_BYTES + 2] = "";
	int fd = openat(v->folder.fd, WM1_JVM_ATTACH_ANSWER, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const char *text = bytes;
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, bytes, WM1_JVM_ATTACH_BYTES);
	close(fd);
	if (len < 0)
		len = 0;
	bytes[len] = bytes[len + 1] = '\0';
	text += strlen(text) + 1;
	if (text_equal(bytes, WM1_JVM_ATTACH_DONE)) {
		strcpy(v->answer, text);
		*ret = NULL;
		return true;
	}
	*ret = error_create(ERROR_ARGUMENT, "process %d: %s", (int)v->machine.pid,
			    text_equal(bytes, WM1_JVM_ATTACH_REFUSED) ? text : "the agent has given no answer");
	return true;
}

/* An agent that has not begun will not any more. */
static bool give_up(const struct visit *v)
{
	return unlinkat(v->folder.fd, WM1_JVM_ATTACH_REQUEST, 0) == 0;
}

/* Of an agent that has begun. */
static struct error *wait_for_answer(struct visit *v)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	uint64_t end_ns = inject_now_ns() + WORK_SECONDS * (uint64_t)SECOND_NS;
	struct error *err;

	while (!read_answer(v, &err)) {
		if (inject_now_ns() >= end_ns)
			return error_create(ERROR_OS,
					    "process %d: the agent has begun, but does not answer within %d seconds",
					    (int)v->machine.pid, WORK_SECONDS);
		nanosleep(&look, NULL);
	}
	return err;
}

static struct error *ask(struct visit *v, uint64_t end_ns)
{
	bool is_sent;
	struct error *err = hotspot_load(&v->machine, end_ns, v->library, v->folder.path, &is_sent), *answer;

	if (err && give_up(v))
		return err;
	if (!err && read_answer(v, &answer))
		return answer;
	if (!err && give_up(v))
		return error_create(ERROR_MISMATCH,
				    "process %d: has the agent of another version of Waymark, or not all of it",
				    (int)v->machine.pid);
	error_destroy(err);
	return wait_for_answer(v);
}

/* options: NULL to detach. */
static struct error *visit(struct visit *v, const struct attach_java_options *options)
{
	uint64_t end_ns = inject_now_ns() + LIMIT_NS;
	struct error *err;
	bool is_loaded = hotspot_find_mapped(&v->machine, INSTALL_JVM_AGENT, v->library);

	if (!options && !is_loaded)
		return error_create(ERROR_ARGUMENT, "process %d: Waymark is not attached", (int)v->machine.pid);
	err = check_images(&v->machine) ?: hotspot_folder_make(&v->machine, &v->folder);
	if (err)
		return err;
	v->has_folder = true;
	err = write_request(v, options);
	if (!err && !is_loaded)
		err = bring_library(v);
	return err ? err : ask(v, end_ns);
}

/* A command that the terminal ends would leave the folder behind, and SIGQUIT of others unanswered. */
static struct error *visit_uninterrupted(struct visit *v, pid_t pid, const struct attach_java_options *options)
{
	sigset_t ends, before;
	struct error *err = hotspot_open(pid, &v->machine);

	if (err)
		return err;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGQUIT);
	sigprocmask(SIG_BLOCK, &ends, &before);
	err = visit(v, options);
	if (v->has_folder)
		hotspot_folder_remove(&v->machine, &v->folder);
	sigprocmask(SIG_SETMASK, &before, NULL);
	hotspot_close(&v->machine);
	return err;
}

static struct error *visit_once(pid_t pid, const struct attach_java_options *options, char *ret)
{
	struct visit *v = calloc(1, sizeof *v);
	struct error *err;

	if (!v)
		return &error_no_memory;
	err = visit_uninterrupted(v, pid, options);
	if (!err && ret && strlen(v->answer) >= PATH_MAX)
		err = error_create(ERROR_FORMAT, "process %d: the path of its recording is too long", (int)pid);
	if (!err && ret)
		strcpy(ret, v->answer);
	free(v);
	return err;
}

struct error *attach_java(pid_t pid, const struct attach_java_options *options)
{
	return visit_once(pid, options, NULL);
}

struct error *detach_java(pid_t pid, char ret[PATH_MAX])
{
	return visit_once(pid, NULL, ret);
}
