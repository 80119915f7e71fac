/*
 * attach_root.c - a process's file system from outside, through /proc/PID/root.
 *
 * Its links lead to where it sees them (openat2, RESOLVE_IN_ROOT): what stands there is its own, and none of it leads out.
 */
#include "cli/attach_root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/recording_options.h"

enum {
	PROC_PATH_MAX = 64,
	READ_BYTES = 65536,
};

static int open_root(pid_t pid)
{
	char name[PROC_PATH_MAX];

	snprintf(name, sizeof name, "/proc/%d/root", (int)pid);
	return open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_in(int root, const char *path, int flags)
{
	struct open_how how = {.flags = (unsigned int)flags | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

int attach_root_open(pid_t pid, const char *path, int flags)
{
	int root = open_root(pid), fd, error;

	if (root < 0)
		return -1;
	fd = open_in(root, path, flags);
	error = errno;
	close(root);
	errno = error;
	return fd;
}

struct error *attach_root_is_apart(pid_t pid, const char *path, bool *ret)
{
	struct stat ours, theirs;
	int root, fd;

	*ret = false;
	if (stat(path, &ours) != 0)
		return error_os(errno, "%s: the agent is not there; build or install Waymark as a whole", path);
	root = open_root(pid);
	if (root < 0)
		return NULL; /* not ours, or gone: stopping it says so in better words */
	fd = open_in(root, path, O_PATH);
	*ret = fd < 0 || fstat(fd, &theirs) != 0 || ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino;
	if (fd >= 0)
		close(fd);
	close(root);
	return NULL;
}

struct error *attach_root_check(pid_t pid)
{
	int fd = attach_root_open(pid, "/proc/self", O_PATH | O_NOFOLLOW);

	if (fd < 0)
		return error_create(ERROR_ARGUMENT,
				    "process %d: runs in another file system, which has no /proc: samples need it",
				    (int)pid);
	close(fd);
	return NULL;
}

struct error *attach_root_pattern(pid_t pid, const char *place, struct buffer *ret)
{
	struct buffer directory = {0};
	struct error *err;
	int fd;

	if (!place)
		place = "/tmp";
	if (place[0] != '/')
		return error_create(
			ERROR_ARGUMENT,
			"process %d: runs in another file system: -o needs an absolute place in that, not %s", (int)pid,
			place);
	fd = attach_root_open(pid, place, O_PATH | O_DIRECTORY);
	if (fd >= 0)
		close(fd);
	/* A slash at its end says that it is a directory, whatever is there in the command's own file system. */
	buffer_printf(&directory, "%s%s", place, fd >= 0 ? "/" : "");
	buffer_u8(&directory, 0);
	err = buffer_error(&directory) ?: recording_pattern((const char *)directory.bytes, ret);
	buffer_deinit(&directory);
	return err;
}

struct error *attach_root_read(const char *path, struct buffer *ret)
{
	FILE *f = fopen(path, "re");
	uint8_t *bytes = malloc(READ_BYTES);
	size_t got;
	bool is_bad;

	while (f && bytes && (got = fread(bytes, 1, READ_BYTES, f)) > 0)
		buffer_bytes(ret, bytes, got);
	is_bad = !f || ferror(f);
	if (f)
		fclose(f);
	free(bytes);
	if (is_bad)
		return error_os(errno, "%s", path);
	return bytes ? buffer_error(ret) : &error_no_memory;
}

struct error *attach_root_fill(pid_t pid, int fd, const struct buffer *bytes)
{
	char name[PROC_PATH_MAX];
	struct error *err = NULL;
	size_t done = 0;
	int out;

	snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)pid, fd);
	out = open(name, O_WRONLY | O_CLOEXEC);
	while (out >= 0 && done < bytes->len_bytes) {
		ssize_t n = write(out, bytes->bytes + done, bytes->len_bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (done < bytes->len_bytes)
		err = error_os(errno, "process %d: the library cannot be written to its memory", (int)pid);
	if (out >= 0)
		close(out);
	return err;
}
