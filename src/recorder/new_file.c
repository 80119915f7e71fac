/*
 * new_file.c - makes files under random names and renames them.
 *
 * O_EXCL and O_NOFOLLOW: the file is new, whatever others put into the directory. A new name is taken with RENAME_NOREPLACE; a file system
 * that does not know that (NFS) takes the name by an empty file, which the rename then replaces.
 */
#include "recorder/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "recorder/sys.h"
#include "recorder/text.h"

enum {
	ATTEMPTS = 16,
	NO_REPLACE = 1, /* RENAME_NOREPLACE */
};

/* Before the kernel has random bytes, what time and address space make of it: O_EXCL still holds. */
static uint64_t random_number(void)
{
	struct timespec ts = {0, 0};
	uint64_t ret = 0;

	if (wmrt_sys3(SYS_getrandom, (long)&ret, sizeof ret, GRND_NONBLOCK) == sizeof ret)
		return ret;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_nsec ^ (uint64_t)(uintptr_t)&ts) * UINT64_C(0x9e3779b97f4a7c15) ^
	       (uint64_t)wmrt_sys3(SYS_getpid, 0, 0, 0);
}

/* In path's directory. False: too long. */
static int name_beside(const char *path, char *temp, size_t size)
{
	struct wmrt_text text = {temp, size, 0};
	const char *slash = strrchr(path, '/');

	for (const char *at = path; slash && at <= slash; at++)
		wmrt_text_char(&text, *at);
	wmrt_text_add(&text, ".waymark-");
	wmrt_text_number(&text, random_number(), 16, 16);
	return wmrt_text_fits(&text);
}

int wmrt_new_file(const char *path, unsigned int mode, char *temp, size_t size)
{
	long fd = -EEXIST;

	for (unsigned int attempt = 0; fd == -EEXIST && attempt < ATTEMPTS; attempt++) {
		if (!name_beside(path, temp, size))
			return -ENAMETOOLONG;
		fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			       mode, 0, 0);
	}
	return (int)fd;
}

static int take_name(const char *path)
{
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			    0600, 0, 0);

	if (fd >= 0)
		wmrt_sys3(SYS_close, fd, 0, 0);
	return fd < 0 ? (int)fd : 0;
}

int wmrt_new_file_name(const char *temp, const char *path)
{
	long rc = wmrt_sys6(SYS_renameat2, AT_FDCWD, (long)temp, AT_FDCWD, (long)path, NO_REPLACE, 0);

	if (rc != -EINVAL && rc != -ENOSYS)
		return (int)rc;
	rc = take_name(path);
	if (rc)
		return (int)rc;
	rc = wmrt_sys3(SYS_rename, (long)temp, (long)path, 0);
	if (rc)
		wmrt_sys3(SYS_unlink, (long)path, 0, 0);
	return (int)rc;
}

int wmrt_new_file_replace(const char *temp, const char *path)
{
	struct stat st;
	long rc = wmrt_sys6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, AT_SYMLINK_NOFOLLOW, 0, 0);

	if (rc == 0 && st.st_uid != (unsigned int)wmrt_sys3(SYS_geteuid, 0, 0, 0))
		return -EPERM;
	return (int)wmrt_sys3(SYS_rename, (long)temp, (long)path, 0);
}
