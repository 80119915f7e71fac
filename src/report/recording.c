/* recording.c - opens .wmk files, and says what became of the process that wrote one. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "report/recording.h"

struct error *recording_open(const char *path, struct recording *ret)
{
	struct recording r;
	struct error *err = file_map(path, &r.file);

	if (err)
		return err;
	err = wmk_read(r.file.bytes, r.file.len_bytes, path, &r.wmk);
	if (err)
		file_unmap(&r.file);
	else
		*ret = r;
	return err;
}

void recording_close(struct recording *r)
{
	wmk_file_deinit(&r->wmk);
	file_unmap(&r->file);
}

bool recording_header(const char *path, struct wmk_header *ret)
{
	uint8_t page[WMK_HEADER_BYTES];
	struct error *err;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t got;

	if (fd < 0)
		return false;
	got = pread(fd, page, sizeof page, 0);
	close(fd);
	if (got <= 0)
		return false;
	err = wmk_read_header(page, (size_t)got, path, ret);
	error_destroy(err);
	return !err;
}

/* A line of /proc/PID/maps: the runtime maps a recording shared and writable, readers do not. */
static bool maps_file(const char *line, const struct stat *st)
{
	unsigned int major_number, minor_number;
	char flags[8];
	uint64_t inode;

	return sscanf(line, "%*s %7s %*s %x:%x %" SCNu64, flags, &major_number, &minor_number, &inode) == 4 &&
	       flags[1] == 'w' && flags[3] == 's' && inode == st->st_ino &&
	       makedev(major_number, minor_number) == st->st_dev;
}

static bool is_running(const char *path, uint32_t pid)
{
	char maps_path[64], *line = NULL;
	size_t capacity = 0;
	bool is_found = false;
	struct stat st;
	FILE *maps;

	snprintf(maps_path, sizeof maps_path, "/proc/%" PRIu32 "/maps", pid);
	if (stat(path, &st) != 0)
		return false;
	maps = fopen(maps_path, "re");
	while (maps && !is_found && getline(&line, &capacity, maps) > 0)
		is_found = maps_file(line, &st);
	free(line);
	if (maps)
		fclose(maps);
	return is_found;
}

enum recording_end recording_end(const char *path, const struct wmk_header *header)
{
	if (header->flags & WMK_FLAG_CLOSED)
		return RECORDING_EXIT;
	if (header->flags & WMK_FLAG_LEFT)
		return RECORDING_LEFT;
	return is_running(path, header->pid) ? RECORDING_RUNS : RECORDING_UNKNOWN;
}

const char *recording_end_text(enum recording_end end)
{
	switch (end) {
	case RECORDING_RUNS:
		return "still runs";
	case RECORDING_EXIT:
		return "ended through exit()";
	case RECORDING_LEFT:
		return "ended through _exit() or quick_exit()";
	case RECORDING_UNKNOWN:
		break;
	}
	return "was killed or replaced, or runs unseen";
}

const char *recording_end_name(enum recording_end end)
{
	switch (end) {
	case RECORDING_RUNS:
		return "running";
	case RECORDING_EXIT:
		return "exit";
	case RECORDING_LEFT:
		return "_exit";
	case RECORDING_UNKNOWN:
		break;
	}
	return "unknown";
}
