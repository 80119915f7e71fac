/* held_file.c - a descriptor with a high number, known by device and inode. */
#include "agent/os/held_file.h"

#include <fcntl.h>

#include "recorder/sys.h"

bool held_file_stat(const struct held_file *file, struct stat *ret)
{
	*ret = (struct stat){0};
	return file->fd >= 0 && wmrt_sys3(SYS_fstat, file->fd, (long)ret, 0) == 0 && ret->st_dev == file->dev &&
	       ret->st_ino == file->ino;
}

void held_file_close(struct held_file *file)
{
	struct stat st;

	if (held_file_stat(file, &st))
		wmrt_sys3(SYS_close, file->fd, 0, 0);
	file->fd = -1;
}

bool held_file_open(struct held_file *file, const char *path, int flags)
{
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0, 0, 0);
	struct stat st = {0};

	held_file_close(file);
	if (fd < 0)
		return false;
	file->fd = wmrt_raise_fd((int)fd);
	if (wmrt_sys3(SYS_fstat, file->fd, (long)&st, 0) != 0)
		return false;
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	return true;
}
