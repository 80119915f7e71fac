/* file.c - maps a whole regular file read-only. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object/file.h"

static const uint8_t no_bytes[1];

static struct error *map_open(int fd, const char *path, struct mapped_file *ret)
{
	struct stat st;
	void *bytes;

	if (fstat(fd, &st) != 0)
		return error_os(errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return error_create(ERROR_ARGUMENT, "%s: is a directory, a file is needed", path);
	if (!S_ISREG(st.st_mode))
		return error_create(ERROR_ARGUMENT, "%s: is not a regular file", path);
	if (st.st_size == 0) {
		*ret = (struct mapped_file){.bytes = no_bytes};
		return NULL;
	}
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return error_os(errno, "%s: cannot be mapped", path);
	*ret = (struct mapped_file){.bytes = bytes, .len_bytes = (size_t)st.st_size};
	return NULL;
}

struct error *file_map(const char *path, struct mapped_file *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct error *err;

	if (fd < 0)
		return error_os(errno, "%s", path);
	err = map_open(fd, path, ret);
	close(fd);
	return err;
}

void file_forget(const struct mapped_file *f)
{
	if (f->bytes && f->bytes != no_bytes)
		madvise((void *)(uintptr_t)f->bytes, f->len_bytes, MADV_DONTNEED);
}

void file_unmap(struct mapped_file *f)
{
	if (f->bytes && f->bytes != no_bytes)
		munmap((void *)(uintptr_t)f->bytes, f->len_bytes);
	*f = (struct mapped_file){0};
}
