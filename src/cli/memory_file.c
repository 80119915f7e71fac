/* memory_file.c - memfd_create, without close-on-exec. */
#include "cli/memory_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct error *memory_file_create(const void *bytes, size_t len_bytes, const char *what, char **ret)
{
	int fd = memfd_create("waymark", 0);
	if (fd < 0)
		return error_os(errno, "%s: cannot copy it", what);
	for (size_t off = 0; off < len_bytes;) {
		ssize_t wrote = write(fd, (const uint8_t *)bytes + off, len_bytes - off);
		if (wrote < 0) {
			struct error *err = error_os(errno, "%s: cannot copy it", what);
			close(fd);
			return err;
		}
		off += (size_t)wrote;
	}
	return asprintf(ret, "/proc/self/fd/%d", fd) < 0 ? &error_no_memory : NULL;
}
