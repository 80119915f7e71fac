/* perf_map.c - entries sorted by where they begin; a lookup goes back over those that may reach as far as the address. */
#include "object/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/order.h"
#include "base/vec.h"

enum {
	FILE_MAX = 1 << 30, /* bytes */
	LOOK_BACK = 256,    /* entries that begin before the one that is next to an address */
};

struct entry {
	uint64_t start, end;
	uint32_t order; /* in the file */
	const char *name;
};
VEC_DECLARE(entry_vec, struct entry);

struct perf_map {
	struct entry_vec entries;
	char *text;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return compare_u64(x->start, y->start) ?: compare_u64(x->order, y->order);
}

/* Ends the line's name with a NUL. */
static struct error *read_line(struct perf_map *map, char *line)
{
	struct entry entry = {.order = (uint32_t)map->entries.count};
	char *end;
	uint64_t len;

	entry.start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return NULL;
	line = end + 1;
	len = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || len > UINT64_MAX - entry.start)
		return NULL;
	entry.end = entry.start + len;
	entry.name = end + 1;
	return entry_vec_append(&map->entries, entry);
}

static struct error *read_text(struct perf_map *map, size_t len_bytes)
{
	struct error *err = NULL;
	char *line = map->text, *end = map->text + len_bytes;

	while (!err && line < end) {
		char *next = memchr(line, '\n', (size_t)(end - line));

		if (!next) /* it is still being written */
			break;
		*next = '\0';
		err = read_line(map, line);
		line = next + 1;
	}
	if (map->entries.count)
		qsort(map->entries.items, map->entries.count, sizeof *map->entries.items, compare_entries);
	return err;
}

static struct error *read_file(int fd, const char *path, size_t len_bytes, struct perf_map **ret)
{
	struct perf_map *map = calloc(1, sizeof *map);
	size_t have = 0;
	struct error *err = map && (map->text = malloc(len_bytes + 1)) ? NULL : &error_no_memory;

	while (!err && have < len_bytes) {
		ssize_t n = read(fd, map->text + have, len_bytes - have);

		if (n < 0 && errno != EINTR)
			err = error_os(errno, "%s", path);
		if (n == 0)
			break;
		have += n > 0 ? (size_t)n : 0;
	}
	if (!err)
		err = read_text(map, have);
	if (err)
		perf_map_close(map);
	else
		*ret = map;
	return err;
}

struct error *perf_map_open(const char *path, time_t began, struct perf_map **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct error *err = NULL;
	struct stat st;

	*ret = NULL;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0) &&
	    st.st_mtime >= began && st.st_size > 0 && st.st_size <= FILE_MAX)
		err = read_file(fd, path, (size_t)st.st_size, ret);
	close(fd);
	return err;
}

void perf_map_close(struct perf_map *map)
{
	if (!map)
		return;
	entry_vec_deinit(&map->entries);
	free(map->text);
	free(map);
}

const char *perf_map_find(const struct perf_map *map, uint64_t address)
{
	const struct entry *found = NULL;
	size_t count = COUNT_UP_TO(map->entries.items, map->entries.count, start, address);

	for (size_t i = count; i > 0 && count - i < LOOK_BACK; i--) {
		const struct entry *entry = &map->entries.items[i - 1];

		if (address < entry->end && (!found || entry->order > found->order))
			found = entry;
	}
	return found ? found->name : NULL;
}
