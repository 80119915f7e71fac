/* recording.c - opens .wmk files, and says what became of the process that wrote one. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "model/base/recording.h"

typedef struct error *(*read_fn)(const void *bytes, size_t len_bytes, const char *name, struct wmk_file *ret);

static struct error *open_with(read_fn read_bytes, const char *path, struct recording *ret)
{
	struct recording r;
	struct error *err = file_map(path, &r.file);

	if (err)
		return err;
	err = read_bytes(r.file.bytes, r.file.len_bytes, path, &r.wmk);
	if (err)
		file_unmap(&r.file);
	else
		*ret = r;
	return err;
}

struct error *recording_open(const char *path, struct recording *ret)
{
	return open_with(wmk_read, path, ret);
}

struct error *recording_open_contexts(const char *path, struct recording *ret)
{
	return open_with(wmk_read_contexts, path, ret);
}

static bool is_same(const struct recording *r, const struct mapped_file *file)
{
	struct wmk_header header;
	struct error *err = wmk_read_header(file->bytes, file->len_bytes, r->wmk.name, &header);

	error_destroy(err);
	return !err && header.run == r->wmk.header.run && file->len_bytes >= r->file.len_bytes;
}

struct error *recording_follow(struct recording *r, bool *ret_is_new)
{
	struct mapped_file file, before = r->file;
	struct error *err = file_map(r->wmk.name, &file);

	if (err) {
		error_destroy(err);
		*ret_is_new = false;
		return NULL;
	}
	if (!is_same(r, &file)) {
		file_unmap(&file);
		*ret_is_new = false;
		return NULL;
	}
	r->file = file;
	err = wmk_follow(&r->wmk, file.bytes, file.len_bytes, ret_is_new);
	file_unmap(&before);
	return err;
}

void recording_close(struct recording *r)
{
	wmk_file_deinit(&r->wmk);
	file_unmap(&r->file);
}

/* As many bytes of the first page as there are. */
static size_t read_page(const char *path, uint8_t page[WMK_HEADER_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t got;

	if (fd < 0)
		return 0;
	got = pread(fd, page, WMK_HEADER_BYTES, 0);
	close(fd);
	return got < 0 ? 0 : (size_t)got;
}

bool recording_header(const char *path, struct wmk_header *ret)
{
	uint8_t page[WMK_HEADER_BYTES];
	size_t got = read_page(path, page);
	struct error *err;

	if (!got)
		return false;
	err = wmk_read_header(page, got, path, ret);
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
	if (header->flags & WMK_FLAG_DETACHED)
		return RECORDING_DETACHED;
	if (header->flags & WMK_FLAG_FILTERED)
		return RECORDING_FILTERED;
	return is_running(path, header->pid) ? RECORDING_RUNS : RECORDING_UNKNOWN;
}

static const struct {
	const char *name; /* in JSON */
	const char *text;
} ends[] = {
	[RECORDING_UNKNOWN] = {"unknown", "was killed or replaced, or runs unseen"},
	[RECORDING_RUNS] = {"running", "still runs"},
	[RECORDING_EXIT] = {"exit", "ended through exit()"},
	[RECORDING_LEFT] = {"_exit", "ended through _exit() or quick_exit()"},
	[RECORDING_DETACHED] = {"detached", "was detached, and went on"},
	[RECORDING_FILTERED] = {"filtered", "went on unrecorded, under a seccomp filter"},
};

const char *recording_end_text(enum recording_end end)
{
	return ends[end].text;
}

const char *recording_end_name(enum recording_end end)
{
	return ends[end].name;
}

bool recording_is_started(const char *path)
{
	static const uint8_t zeros[8];
	uint8_t page[WMK_HEADER_BYTES];
	size_t got = read_page(path, page);

	return got < sizeof zeros ? access(path, R_OK) == 0 : memcmp(page, zeros, sizeof zeros) == 0;
}
