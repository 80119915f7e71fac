/*
 * live.c - the agent in a virtual machine that already runs (`waymark attach`, waymark/jvm_attach.h): clients that walk begin and end, as
 * often as they are asked to. No class is changed, no thread stopped.
 *
 * Each command calls Agent_OnAttach, in the thread "Attach Listener" of the virtual machine, one after another. Behind the end of a recording
 * the library, the environment of JVMTI and the action of SIGBUS stay.
 */
#include "jvm/c/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jvm/c/base/gate.h"
#include "jvm/c/base/log.h"
#include "jvm/c/base/options.h"
#include "jvm/c/clients/clients.h"
#include "jvm/c/walking.h"
#include "recorder/config.h"
#include "recorder/file.h"
#include "recorder/image.h"
#include "recorder/process.h"
#include "recorder/text.h"
#include "waymark/jvm_attach.h"

enum {
	SECOND_NS = 1000000000,
	MOST_EVENT_NS = 2 * SECOND_NS, /* an event takes microseconds; a thread may wait for a processor */
	OTHERS = 077,
	LEAST_JAVA = 17,
};
static const char too_old[] = "the agent works with Java 17 and later, which its virtual machine is not";

/* What is asked for; texts in `bytes`. */
struct request {
	char bytes[WM1_JVM_ATTACH_BYTES + 1];
	const char *fields[WM1_JVM_ATTACH_FIELDS];
	size_t count;
};
enum {
	VERSION,
	COMMAND,
	WORDS,
	PATTERN,
	LIMIT,
};

/* Read and written by the attach listener, a thread of the virtual machine. */
static jvmtiEnv *environment; /* NULL: nothing was attached yet */
static struct jvm_options options;
static enum {
	DETACHED,
	ATTACHED,
	ENDING, /* a detach has found an event that did not end */
} state;

/* Why a request is refused: what the agent would say on standard error otherwise, which is the program's. */
static char reason[WM1_JVM_ATTACH_BYTES - 16];

static bool refuse(const char *why)
{
	struct wmrt_text text = {reason, sizeof reason, 0};

	wmrt_text_add(&text, why);
	return false;
}

/* ---- request and answer ---- */

/* A directory of our user's that nobody else can write to. -1: it is none. */
static int open_folder(const char *path)
{
	int ret = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (ret >= 0 && fstat(ret, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & OTHERS))
		return ret;
	if (ret >= 0)
		close(ret);
	return -1;
}

/* False: the command has given up, or it is not whole. */
static bool claim(int folder, struct request *r)
{
	ssize_t len;
	int fd;

	if (renameat(folder, WM1_JVM_ATTACH_REQUEST, folder, WM1_JVM_ATTACH_CLAIMED) != 0)
		return false;
	fd = openat(folder, WM1_JVM_ATTACH_CLAIMED, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, r->bytes, WM1_JVM_ATTACH_BYTES);
	close(fd);
	for (ssize_t at = 0; at < len && r->count < WM1_JVM_ATTACH_FIELDS;) {
		r->fields[r->count++] = r->bytes + at;
		at += (ssize_t)strlen(r->bytes + at) + 1;
	}
	return r->count > COMMAND;
}

static void answer(int folder, bool is_done, const char *text)
{
	const char *word = is_done ? WM1_JVM_ATTACH_DONE : WM1_JVM_ATTACH_REFUSED;
	size_t word_size = strlen(word) + 1, size = strlen(text) + 1;
	int fd = openat(folder, WM1_JVM_ATTACH_NEW_ANSWER, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool is_whole;

	if (fd < 0)
		return;
	is_whole = write(fd, word, word_size) == (ssize_t)word_size && write(fd, text, size) == (ssize_t)size;
	close(fd);
	if (is_whole)
		renameat(folder, WM1_JVM_ATTACH_NEW_ANSWER, folder, WM1_JVM_ATTACH_ANSWER);
}

/* ---- beginning ---- */

static bool read_options(const char *words)
{
	const char *unknown = NULL;
	struct wmrt_text text = {reason, sizeof reason, 0};

	options = (struct jvm_options){.is_live = true};
	if (!jvm_options_parse(words, &options, &unknown)) {
		wmrt_text_add(&text, "its agent does not know the option ");
		wmrt_text_add(&text, unknown);
		return false;
	}
	return jvm_options_walk(&options) ||
	       refuse("what is asked for needs classes that are rewritten when they are loaded: `waymark run` does that");
}

static bool set_output(const struct request *r)
{
	struct wmrt_text text = {reason, sizeof reason, 0};
	const char *why;
	int error;

	wmrt_config_set(r->fields[PATTERN], strtoull(r->fields[LIMIT], NULL, 10));
	error = -wmrt_config_check();
	if (!error)
		return true;
	why = strerrordesc_np(error);
	wmrt_text_add(&text, "cannot write files to ");
	wmrt_text_add(&text, r->fields[PATTERN]);
	wmrt_text_add(&text, " (");
	wmrt_text_add(&text, why ? why : "unknown error");
	wmrt_text_add(&text, "); choose another place with -o");
	return false;
}

/* False: a client was switched off, since it cannot work. */
static bool are_all_on(const struct jvm_options *before)
{
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++)
		if (before->clients[i].is_on && !options.clients[i].is_on)
			return false;
	return true;
}

/* 0: not known. That of Java 8 is "1.8". */
static long java_version(jvmtiEnv *jvmti)
{
	char *version = NULL;
	long ret = 0;

	if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.specification.version", &version) == JVMTI_ERROR_NONE)
		ret = strtol(version, NULL, 10);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)version);
	return ret;
}

static bool begin_clients(JavaVM *vm)
{
	const struct jvm_options before = options;
	JNIEnv *env = NULL;

	if (!environment && (*vm)->GetEnv(vm, (void **)&environment, JVMTI_VERSION_11) != JNI_OK) {
		environment = NULL;
		return refuse(too_old);
	}
	if (java_version(environment) < LEAST_JAVA)
		return refuse(too_old);
	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK)
		return refuse("this virtual machine has no JNI of version 10");
	if (jvm_walking_prepare(environment, &options) && are_all_on(&before) &&
	    jvm_walking_begin(environment, env, NULL))
		return true;
	jvm_walking_end();
	jvm_walking_release(environment);
	return false;
}

static bool attach(JavaVM *vm, const struct request *r)
{
	if (r->count != WM1_JVM_ATTACH_FIELDS)
		return refuse("the request is not whole");
	if (state == ATTACHED)
		return refuse("Waymark is attached already; --detach takes it out");
	if (state == ENDING)
		return refuse("the recording of before has not ended; --detach ends it");
	wmrt_check_fork();
	if (!read_options(r->fields[WORDS]) || !set_output(r))
		return false;
	jvm_log_into((struct wmrt_text){reason, sizeof reason, 0});
	/* What cannot begin as a whole has recorded nothing. */
	jvm_gate_close();
	if (!begin_clients(vm))
		return false;
	state = ATTACHED;
	jvm_gate_open();
	return true;
}

/* ---- ending ---- */

static void end_recording(char *path, size_t size)
{
	struct wmrt_text text = {path, size, 0};
	const char *is_at = wmrt_file_path();

	if (is_at)
		wmrt_text_add(&text, is_at);
	wmrt_file_close(WMK_FLAG_DETACHED);
	wmrt_renew();
}

/* ret: the path of the recording. */
static bool detach(char *ret, size_t size)
{
	if (state == DETACHED)
		return refuse("Waymark is not attached");
	jvm_gate_close();
	state = ENDING;
	if (!jvm_gate_wait(MOST_EVENT_NS))
		return refuse("an event has not ended within two seconds; --detach goes on from here");
	jvm_log_into((struct wmrt_text){0});
	jvm_walking_end();
	jvm_walking_release(environment);
	end_recording(ret, size);
	state = DETACHED;
	return true;
}

static bool act(JavaVM *vm, const struct request *r, char *path, size_t size)
{
	if (strcmp(r->fields[VERSION], WM1_JVM_ATTACH_VERSION) != 0)
		return refuse("has the agent of another version of Waymark");
	if (!wmrt_is_active() || wmrt_process.is_sealed)
		return refuse("has Waymark's runtime already");
	if (strcmp(r->fields[COMMAND], "detach") == 0)
		return detach(path, size);
	return attach(vm, r);
}

void jvm_live_request(JavaVM *vm, const char *folder_path, bool is_started)
{
	char path[WMRT_PATH_BYTES] = "";
	struct request r = {0};
	int folder = open_folder(folder_path);
	bool is_done;

	if (folder < 0)
		return;
	if (claim(folder, &r)) {
		*reason = '\0';
		is_done = is_started ? refuse("runs under `waymark run`, and is recorded from there")
				     : act(vm, &r, path, sizeof path);
		answer(folder, is_done, is_done ? path : reason);
		if (!is_started)
			jvm_log_into((struct wmrt_text){0});
	}
	close(folder);
}
