/* tasks.c - reads a task folder by system calls: readdir allocates. */
#include "native/tasks.h"

#include <fcntl.h>

#include "recorder/sys.h"

/* As getdents64 has them. */
struct entry {
	uint64_t number;
	int64_t off;
	uint16_t len_bytes;
	uint8_t type;
	char name[];
};

uint32_t tasks_number(const char *text)
{
	uint32_t ret = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		ret = ret * 10 + (uint32_t)(*text - '0');
	return ret;
}

void tasks_each(const char *path, struct tasks_buffer *buffer, void (*visit)(uint32_t tid, void *data), void *data)
{
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	long len;

	if (fd < 0)
		return;
	while ((len = wmrt_sys3(SYS_getdents64, fd, (long)buffer->entries, sizeof buffer->entries)) > 0)
		for (long at = 0; at < len;) {
			const struct entry *e = (const void *)(buffer->entries + at);
			uint32_t tid = tasks_number(e->name);

			at += e->len_bytes;
			if (tid)
				visit(tid, data);
		}
	wmrt_sys3(SYS_close, fd, 0, 0);
}
