/*
 * folder.c - a private directory in the file system of a virtual machine: what the agent is asked for, what it answers, and the agent's
 * library where the process does not see the installed one.
 *
 * The command holds a lock on the directory as long as it lives; what has no lock was left by a command that was killed, and is removed by
 * the next one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "snapshot/hotspot/hotspot.h"

#define PREFIX ".waymark-attach-"

enum {
	COPY_BYTES = 65536,
	TRIES = 16,
};

/* Libraries can be loaded from one of these at least, in most systems. */
static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm"};

static const char *last_part(const struct hotspot_folder *folder)
{
	return strrchr(folder->path, '/') + 1;
}

/* ---- removing ---- */

static void remove_files(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	else if (own >= 0)
		close(own);
}

/* A directory of that user's alone, which nobody holds a lock on. */
static bool is_left_over(int fd, uid_t user)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == user && !(st.st_mode & 077) && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static void remove_left_over(int parent, uid_t user)
{
	int own = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		fd = openat(parent, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && is_left_over(fd, user)) {
			remove_files(fd);
			unlinkat(parent, entry->d_name, AT_REMOVEDIR);
		}
		if (fd >= 0)
			close(fd);
	}
	if (dir)
		closedir(dir);
	else if (own >= 0)
		close(own);
}

/* ---- making ---- */

static bool can_execute(int parent)
{
	struct statvfs fs;

	return fstatvfs(parent, &fs) == 0 && !(fs.f_flag & ST_NOEXEC);
}

/* Opens a new directory and locks it. -1: another command has taken it for one that was left over. */
static int open_locked(int parent, const char *name)
{
	int ret = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (ret >= 0 && flock(ret, LOCK_EX | LOCK_NB) == 0 && fstat(ret, &st) == 0 && st.st_nlink)
		return ret;
	if (ret >= 0)
		close(ret);
	return -1;
}

/* Makes it in that directory, whose path ret has. False, and errno: it cannot be made. */
static bool make_in(int parent, struct hotspot_folder *ret)
{
	char *end = ret->path + strlen(ret->path);
	size_t room = sizeof ret->path - (size_t)(end - ret->path);
	uint64_t number;

	ret->parent = parent;
	for (int i = 0; i < TRIES; i++) {
		if (getrandom(&number, sizeof number, 0) != sizeof number ||
		    (size_t)snprintf(end, room, "/" PREFIX "%016" PRIx64, number) >= room)
			return false;
		if (mkdirat(parent, end + 1, 0700) == 0)
			ret->fd = open_locked(parent, end + 1);
		else if (errno != EEXIST)
			return false;
		else
			ret->fd = -1;
		if (ret->fd >= 0)
			return true;
	}
	return false;
}

/* As the process's user. */
static struct error *make(const struct hotspot *h, struct hotspot_folder *ret)
{
	int reason = EACCES;

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		int parent = hotspot_open_there(h, places[i], O_RDONLY | O_DIRECTORY);

		if (parent < 0)
			continue;
		if (can_execute(parent) && hotspot_path_there(h, parent, ret->path)) {
			remove_left_over(parent, h->user);
			if (make_in(parent, ret))
				return NULL;
			reason = errno;
		}
		close(parent);
	}
	return error_os(reason, "process %d: has no place where the agent can be put for it (/tmp, /var/tmp, /dev/shm)",
			(int)h->pid);
}

struct error *hotspot_folder_make(const struct hotspot *h, struct hotspot_folder *ret)
{
	struct hotspot_self self;
	struct error *err = hotspot_become(h, &self);

	if (err)
		return err;
	err = make(h, ret);
	hotspot_become_self(&self);
	return err;
}

static bool write_all(int fd, const char *bytes, size_t len_bytes)
{
	while (len_bytes) {
		ssize_t n = write(fd, bytes, len_bytes);

		if (n < 0 && errno != EINTR)
			return false;
		bytes += n < 0 ? 0 : n;
		len_bytes -= n < 0 ? 0 : (size_t)n;
	}
	return true;
}

static struct error *new_file(const struct hotspot *h, const struct hotspot_folder *folder, const char *name, int *ret)
{
	struct hotspot_self self;
	struct error *err = hotspot_become(h, &self);
	int reason;

	if (err)
		return err;
	*ret = openat(folder->fd, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	reason = errno;
	hotspot_become_self(&self);
	return *ret < 0 ? error_os(reason, "process %d: %s/%s", (int)h->pid, folder->path, name) : NULL;
}

struct error *hotspot_folder_write(const struct hotspot *h, const struct hotspot_folder *folder, const char *name,
				   const void *bytes, size_t len_bytes)
{
	int fd;
	struct error *err = new_file(h, folder, name, &fd);

	if (err)
		return err;
	if (!write_all(fd, bytes, len_bytes))
		err = error_os(errno, "process %d: %s/%s", (int)h->pid, folder->path, name);
	close(fd);
	return err;
}

/* from: open for reading. */
static bool copy_all(int from, int to)
{
	char bytes[COPY_BYTES];
	ssize_t n;

	while ((n = read(from, bytes, sizeof bytes)) > 0)
		if (!write_all(to, bytes, (size_t)n))
			return false;
	return n == 0;
}

struct error *hotspot_folder_copy(const struct hotspot *h, const struct hotspot_folder *folder, const char *name,
				  const char *from)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	struct error *err;

	if (in < 0)
		return error_os(errno, "%s", from);
	err = new_file(h, folder, name, &out);
	if (!err) {
		if (!copy_all(in, out))
			err = error_os(errno, "process %d: %s/%s", (int)h->pid, folder->path, name);
		close(out);
	}
	close(in);
	return err;
}

void hotspot_folder_remove(const struct hotspot *h, struct hotspot_folder *folder)
{
	struct hotspot_self self;
	struct error *err = hotspot_become(h, &self);

	error_destroy(err);
	remove_files(folder->fd);
	unlinkat(folder->parent, last_part(folder), AT_REMOVEDIR);
	if (!err)
		hotspot_become_self(&self);
	close(folder->fd);
	close(folder->parent);
}
