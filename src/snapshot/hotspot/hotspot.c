/*
 * hotspot.c - which processes are virtual machines of HotSpot, whose they are, and what their files are called.
 */
#include "snapshot/hotspot/hotspot.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

enum {
	PROC_PATH_MAX = 64,
	EFFECTIVE = 1, /* of the numbers of a Uid or Gid line: real, effective, saved, of the file system */
};

static const char deleted[] = " (deleted)";

/* ---- maps ---- */

/* The path of the next line of maps that has one, without its newline; NULL: there is none. The line is the caller's to free. */
static char *next_path(FILE *maps, char **line, size_t *capacity)
{
	while (getline(line, capacity, maps) > 0) {
		char *slash = strchr(*line, '/');

		if (slash) {
			slash[strcspn(slash, "\n")] = '\0';
			return slash;
		}
	}
	return NULL;
}

static FILE *open_maps(pid_t pid)
{
	char path[PROC_PATH_MAX];

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	return fopen(path, "re");
}

static void cut_deleted(char *path)
{
	size_t len = strlen(path), own = sizeof deleted - 1;

	if (len > own && text_equal(path + len - own, deleted))
		path[len - own] = '\0';
}

/* Copies the path of the first mapping of a file whose name is that, or begins so, as maps has it. */
static bool find_mapped(pid_t pid, const char *name, bool is_begin, char ret[PATH_MAX])
{
	FILE *maps = open_maps(pid);
	char *line = NULL, *path;
	size_t capacity = 0;
	bool is_found = false;

	while (maps && !is_found && (path = next_path(maps, &line, &capacity))) {
		cut_deleted(path);
		is_found = strncmp(text_base_name(path), name, strlen(name)) == 0 && strlen(path) < PATH_MAX &&
			   (is_begin || text_equal(text_base_name(path), name));
		if (is_found)
			strcpy(ret, path);
	}
	free(line);
	if (maps)
		fclose(maps);
	return is_found;
}

bool hotspot_is_there(pid_t pid)
{
	char path[PATH_MAX];

	/* OpenJ9 has a libjvm.so, too, and writes a dump at SIGQUIT. */
	return find_mapped(pid, "libjvm.so", false, path) && !find_mapped(pid, "libj9vm", true, path);
}

/* The kernel shows paths of the file system that the root directory is in: cuts off what is above that directory. */
static bool make_path_there(const struct hotspot *h, char path[PATH_MAX])
{
	char link[PROC_PATH_MAX], root[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof link, "/proc/self/fd/%d", h->root);
	len = readlink(link, root, sizeof root - 1);
	if (len < 1 || *path != '/')
		return false;
	root[len] = '\0';
	if (len == 1)
		return true;
	if (strncmp(path, root, (size_t)len) != 0 || path[len] != '/')
		return false;
	memmove(path, path + len, strlen(path + len) + 1);
	return true;
}

bool hotspot_path_there(const struct hotspot *h, int fd, char ret[PATH_MAX])
{
	char link[PROC_PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	len = readlink(link, ret, PATH_MAX - 1);
	if (len < 1)
		return false;
	ret[len] = '\0';
	return make_path_there(h, ret);
}

bool hotspot_find_mapped(const struct hotspot *h, const char *name, char ret[PATH_MAX])
{
	return find_mapped(h->pid, name, false, ret) && make_path_there(h, ret);
}

int hotspot_open_there(const struct hotspot *h, const char *path, int flags)
{
	const struct open_how how = {.flags = (unsigned int)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT};

	return (int)syscall(SYS_openat2, h->root, path, &how, sizeof how);
}

/* ---- users ---- */

struct error *hotspot_become(const struct hotspot *h, struct hotspot_self *ret)
{
	*ret = (struct hotspot_self){geteuid(), getegid()};
	/* The group first: root alone can. A virtual machine that finds another group refuses. */
	if (h->group != ret->group && setegid(h->group) != 0 && ret->user == 0)
		return error_os(errno, "process %d: its group cannot be taken on", (int)h->pid);
	if (h->user == ret->user || seteuid(h->user) == 0)
		return NULL;
	int reason = errno;

	hotspot_become_self(ret);
	return error_os(reason, "process %d: its user cannot be taken on", (int)h->pid);
}

void hotspot_become_self(const struct hotspot_self *self)
{
	int is_user = geteuid() == self->user ? 0 : seteuid(self->user);
	int is_group = getegid() == self->group ? 0 : setegid(self->group);

	/* The saved ones are what they were: this cannot fail. */
	(void)is_user, (void)is_group;
}

/* ---- status ---- */

struct status {
	char state; /* R, S, T, Z; 0: there is no such process */
	uint64_t user, group, number, caught;
};

/* The number at `index`, or the last one. */
static uint64_t number_of(const char *text, size_t index)
{
	uint64_t ret = 0;
	char *end;

	for (size_t i = 0; i <= index; i++, text = end) {
		uint64_t next = strtoull(text, &end, 10);

		if (end == text)
			break;
		ret = next;
	}
	return ret;
}

/* What stands behind "KEY:"; NULL: the line is another one. */
static const char *value_of(const char *line, const char *key)
{
	size_t len = strlen(key);

	return strncmp(line, key, len) == 0 && line[len] == ':' ? line + len + 1 : NULL;
}

static struct status read_status(pid_t pid)
{
	char path[PROC_PATH_MAX], *line = NULL;
	struct status ret = {.number = (uint64_t)pid};
	size_t capacity = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && getline(&line, &capacity, f) > 0) {
		const char *value;

		if ((value = value_of(line, "State")))
			ret.state = value[strspn(value, " \t")];
		else if ((value = value_of(line, "Uid")))
			ret.user = number_of(value, EFFECTIVE);
		else if ((value = value_of(line, "Gid")))
			ret.group = number_of(value, EFFECTIVE);
		else if ((value = value_of(line, "NSpid")))
			ret.number = number_of(value, SIZE_MAX);
		else if ((value = value_of(line, "SigCgt")))
			ret.caught = strtoull(value, NULL, 16);
	}
	free(line);
	if (f)
		fclose(f);
	return ret;
}

static struct error *check_status(pid_t pid, const struct status *s)
{
	if (!s->state || s->state == 'Z' || s->state == 'X')
		return error_create(ERROR_NOT_FOUND, "process %d: has ended", (int)pid);
	if (s->state == 'T' || s->state == 't')
		return error_create(ERROR_ARGUMENT, "process %d: is stopped: its virtual machine cannot answer",
				    (int)pid);
	if (geteuid() != 0 && geteuid() != s->user)
		return error_create(ERROR_ARGUMENT,
				    "process %d: belongs to the user %u: only that user and root can attach to it",
				    (int)pid, (unsigned int)s->user);
	return NULL;
}

struct error *hotspot_open(pid_t pid, struct hotspot *ret)
{
	struct hotspot h = {.pid = pid, .process = (int)syscall(SYS_pidfd_open, pid, 0), .root = -1};
	char path[PROC_PATH_MAX];
	struct status status;
	struct error *err;

	if (h.process < 0)
		return error_os(errno, "process %d", (int)pid);
	status = read_status(pid);
	err = check_status(pid, &status);
	h.user = (uid_t)status.user;
	h.group = (gid_t)status.group;
	h.number = (uint32_t)status.number;
	h.handles_sigquit = status.caught >> (SIGQUIT - 1) & 1;
	snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
	if (!err && (h.root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
		err = error_os(errno, "process %d: its root directory", (int)pid);
	if (err) {
		hotspot_close(&h);
		return err;
	}
	*ret = h;
	return NULL;
}

void hotspot_close(struct hotspot *h)
{
	if (h->process >= 0)
		close(h->process);
	if (h->root >= 0)
		close(h->root);
	h->process = h->root = -1;
}
