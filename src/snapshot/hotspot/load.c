/*
 * load.c - the command "load" to a virtual machine, over the socket of its attach listener, which is begun where there is none yet.
 *
 * A virtual machine that gets SIGQUIT without having been told why prints a dump of its threads, and one without a handler ends: so the
 * signal is sent only where the process has a handler and nothing says that attaching is switched off.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/plain_text.h"
#include "base/vec.h"
#include "snapshot/hotspot/hotspot.h"
#include "snapshot/hotspot/options.h"
#include "snapshot/inject/inject.h"

enum {
	NAME_BYTES = 64,
	ANSWER_BYTES = 4096,
	FIRST_WAIT_NS = 1000000,
	MOST_WAIT_NS = 20000000,
	MILLISECOND_NS = 1000000,
	TOLD_S = 10,
};

static const char no_answer[] = "process %d: its virtual machine does not answer: it may be starting, or held up";

/* Milliseconds until then for poll, rounded up. */
static int left_ms(uint64_t end_ns)
{
	uint64_t now_ns = inject_now_ns();

	return now_ns >= end_ns ? 0 : (int)((end_ns - now_ns + MILLISECOND_NS - 1) / MILLISECOND_NS);
}

static struct error *not_answered(const struct hotspot *h)
{
	return error_create(ERROR_OS, no_answer, (int)h->pid);
}

static bool is_gone(const struct hotspot *h)
{
	struct pollfd p = {.fd = h->process, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* ---- the socket ---- */

/* Connects if the virtual machine listens. -1: it does not. The user is the process's. */
static int connect_once(const struct hotspot *h, int temp)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char name[NAME_BYTES];
	struct stat st;
	int fd;

	snprintf(name, sizeof name, ".java_pid%u", (unsigned int)h->number);
	if (fstatat(temp, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(st.st_mode) || st.st_uid != h->user)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", temp, name);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The kernel has no way to wait for a socket's name. */
static struct error *wait_for_socket(const struct hotspot *h, int temp, uint64_t end_ns, int *ret)
{
	struct timespec wait = {.tv_nsec = FIRST_WAIT_NS};

	for (;;) {
		*ret = connect_once(h, temp);
		if (*ret >= 0)
			return NULL;
		if (is_gone(h))
			return error_create(ERROR_NOT_FOUND, "process %d: has ended", (int)h->pid);
		if (inject_now_ns() >= end_ns)
			return not_answered(h);
		nanosleep(&wait, NULL);
		wait.tv_nsec = wait.tv_nsec * 2 < MOST_WAIT_NS ? wait.tv_nsec * 2 : MOST_WAIT_NS;
	}
}

static void trigger_name(const struct hotspot *h, char ret[NAME_BYTES])
{
	snprintf(ret, NAME_BYTES, ".attach_pid%u", (unsigned int)h->number);
}

static void forget_trigger(const struct hotspot *h, int temp)
{
	char name[NAME_BYTES];

	trigger_name(h, name);
	unlinkat(temp, name, 0);
}

/*
 * True: another command has made the file just now, and tells the virtual machine or has told it. One that is told again when its
 * listener is there prints its threads.
 */
static bool is_told(const struct hotspot *h, int temp, const char *name)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	return fstatat(temp, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && st.st_uid == h->user &&
	       st.st_mtim.tv_sec <= now.tv_sec && now.tv_sec - st.st_mtim.tv_sec < TOLD_S;
}

/*
 * Makes the listener begin. The file goes when the socket is there. It stays where the virtual machine, which may be starting or wait for
 * a processor, has not looked for it yet: it would print its threads when it does. The next command removes it.
 */
static struct error *begin_listener(const struct hotspot *h, int temp, uint64_t end_ns, int *ret)
{
	char name[NAME_BYTES];
	struct error *err;
	int fd;

	trigger_name(h, name);
	if (is_told(h, temp, name))
		return wait_for_socket(h, temp, end_ns, ret);
	/* One that an earlier command has left will do. */
	fd = openat(temp, name, O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_os(errno, "process %d: its /tmp/%s cannot be made", (int)h->pid, name);
	futimens(fd, NULL);
	close(fd);
	if (syscall(SYS_pidfd_send_signal, h->process, SIGQUIT, NULL, 0) == 0)
		return wait_for_socket(h, temp, end_ns, ret);
	err = error_os(errno, "process %d", (int)h->pid);
	forget_trigger(h, temp);
	return err;
}

static struct error *connect_to(const struct hotspot *h, uint64_t end_ns, int *ret)
{
	int temp = hotspot_open_there(h, "/tmp", O_PATH | O_DIRECTORY);
	struct error *err;

	if (temp < 0)
		return error_os(errno, "process %d: its /tmp", (int)h->pid);
	*ret = connect_once(h, temp);
	err = *ret < 0 ? hotspot_check_options(h) : NULL;
	if (!err && *ret < 0)
		err = begin_listener(h, temp, end_ns, ret);
	if (*ret >= 0 || is_gone(h))
		forget_trigger(h, temp);
	close(temp);
	return err;
}

/* ---- the command ---- */

static struct error *send_all(const struct hotspot *h, int fd, const struct buffer *words, uint64_t end_ns)
{
	for (size_t at = 0; at < words->len_bytes;) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		ssize_t n;

		if (poll(&p, 1, left_ms(end_ns)) != 1)
			return not_answered(h);
		n = send(fd, words->bytes + at, words->len_bytes - at, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return error_os(errno, "process %d: its virtual machine takes no commands", (int)h->pid);
		at += n < 0 ? 0 : (size_t)n;
	}
	return NULL;
}

/* All of the answer: the virtual machine closes its end behind it. What has no room is dropped. */
static struct error *receive_all(const struct hotspot *h, int fd, uint64_t end_ns, char answer[ANSWER_BYTES])
{
	size_t len = 0;

	for (;;) {
		char more[ANSWER_BYTES];
		struct pollfd p = {.fd = fd, .events = POLLIN};
		size_t room = ANSWER_BYTES - 1 - len;
		ssize_t n;

		if (poll(&p, 1, left_ms(end_ns)) != 1)
			return not_answered(h);
		n = recv(fd, more, sizeof more, 0);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return error_os(errno, "process %d: the answer of its virtual machine", (int)h->pid);
		if (n == 0)
			break;
		if (n > 0) {
			memcpy(answer + len, more, (size_t)n < room ? (size_t)n : room);
			len += (size_t)n < room ? (size_t)n : room;
		}
	}
	answer[len] = '\0';
	return NULL;
}

/* "0", a newline, and "return code: 0" where the library was loaded; else the reason. */
static struct error *read_answer(const struct hotspot *h, char *answer)
{
	static const char called[] = "return code: ";
	char *text, *code = strstr(answer, called);

	if (code && strtol(code + sizeof called - 1, NULL, 10) == 0)
		return NULL;
	if (!*answer)
		return error_create(ERROR_OS, "process %d: its virtual machine has refused", (int)h->pid);
	text = strchr(answer, '\n');
	text = text ? text + 1 : answer;
	for (char *end = text; (end = strchr(end, '\n'));)
		*end = end[1] ? ' ' : '\0';
	plain_make(text);
	return error_create(ERROR_OS, "process %d: its virtual machine does not load the agent: %s", (int)h->pid, text);
}

static struct error *command(const struct hotspot *h, int fd, uint64_t end_ns, const char *library, const char *options,
			     bool *ret_is_sent)
{
	static const char *const words[] = {"1", "load", NULL, "true", NULL};
	char answer[ANSWER_BYTES];
	struct buffer text = {0};
	struct error *err;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const char *word = words[i] ? words[i] : i == 2 ? library : options;

		buffer_bytes(&text, word, strlen(word) + 1);
	}
	err = buffer_error(&text);
	*ret_is_sent = !err;
	if (!err)
		err = send_all(h, fd, &text, end_ns);
	if (!err)
		err = receive_all(h, fd, end_ns, answer);
	buffer_deinit(&text);
	return err ? err : read_answer(h, answer);
}

struct error *hotspot_load(const struct hotspot *h, uint64_t end_ns, const char *library, const char *options,
			   bool *ret_is_sent)
{
	struct hotspot_self self;
	struct error *err = hotspot_become(h, &self);
	int fd = -1;

	*ret_is_sent = false;
	if (err)
		return err;
	err = connect_to(h, end_ns, &fd);
	hotspot_become_self(&self);
	if (!err)
		err = command(h, fd, end_ns, library, options, ret_is_sent);
	if (fd >= 0)
		close(fd);
	return err;
}
