/*
 * perf_map.c - entries sorted by where they begin; a lookup goes back over those that may reach as far as the address.
 *
 *      jitdump: header   "DTiJ" version total_size(4) machine pad pid(4) timestamp(8) flags(8)
 *               record   id total_size(4) timestamp(8), and total_size - 16 bytes:
 *                 id 0   pid tid vma(8) address(8) size(8) index(8) name NUL code         code was made
 *                 id 1   pid tid vma(8) old address(8) new address(8) size(8) index(8)    it was moved
 */
#include "object/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/hashmap.h"
#include "base/order.h"
#include "base/vec.h"

enum {
	FILE_MAX = 1 << 30, /* bytes */
	LOOK_BACK = 256,    /* entries that begin before the one that is next to an address */
	JITDUMP_MAGIC = 0x4a695444,
	JITDUMP_LOAD = 0,
	JITDUMP_MOVE = 1,
	JITDUMP_PREFIX_BYTES = 16,
};

struct entry {
	uint64_t start, end;
	uint32_t order; /* in the file */
	const char *name;
};
VEC_DECLARE(entry_vec, struct entry);
VEC_DECLARE(name_vec, const char *);

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
	return err;
}

/* ---- jitdump ---- */

struct jitdump {
	struct perf_map *map;
	struct hashmap numbers; /* of the file's indices of code */
	struct name_vec names;  /* by these */
};

static bool is_code(uint64_t address, uint64_t size, const char *name)
{
	return size <= UINT64_MAX - address && *name;
}

static struct error *add_code(struct perf_map *map, uint64_t address, uint64_t size, const char *name)
{
	struct entry entry = {
		.start = address, .end = address + size, .order = (uint32_t)map->entries.count, .name = name};

	return entry_vec_append(&map->entries, entry);
}

/* What is made with that index later has another name. */
static struct error *set_name(struct jitdump *d, uint64_t index, const char *name)
{
	const struct key key = {{index}};
	uint32_t number;
	struct error *err = hashmap_add(&d->numbers, &key, &number);

	if (!err && number == d->names.count)
		return name_vec_append(&d->names, name);
	if (!err)
		d->names.items[number] = name;
	return err;
}

/* Errors of the cursor: the record is too short, and passed over. */
static struct error *read_load(struct jitdump *d, struct cursor *c)
{
	uint64_t address = 0, size = 0, index = 0;
	struct error *err = cursor_skip(c, 16) ?: cursor_u64(c, &address) ?: cursor_u64(c, &size) ?: cursor_u64(c, &index);
	const char *name = (const char *)c->start + c->off;

	if (err || !memchr(name, '\0', cursor_left(c))) {
		error_destroy(err);
		return NULL;
	}
	if (!is_code(address, size, name))
		return NULL;
	return set_name(d, index, name) ?: add_code(d->map, address, size, name);
}

static struct error *read_move(struct jitdump *d, struct cursor *c)
{
	uint64_t address = 0, size = 0, index = 0;
	struct error *err = cursor_skip(c, 24) ?: cursor_u64(c, &address) ?: cursor_u64(c, &size) ?: cursor_u64(c, &index);
	const struct key key = {{index}};
	uint32_t number;

	if (err || !hashmap_find(&d->numbers, &key, &number) || !is_code(address, size, d->names.items[number])) {
		error_destroy(err);
		return NULL;
	}
	return add_code(d->map, address, size, d->names.items[number]);
}

/* False: there is no whole record any more. */
static bool next_record(struct cursor *file, uint32_t *ret_id, struct cursor *ret)
{
	const uint8_t *bytes;
	uint32_t size = 0;
	struct error *err = cursor_u32(file, ret_id) ?: cursor_u32(file, &size) ?: cursor_skip(file, 8);

	if (!err && size < JITDUMP_PREFIX_BYTES)
		return false;
	if (!err)
		err = cursor_bytes(file, size - JITDUMP_PREFIX_BYTES, &bytes);
	if (err) { /* it is still being written, or damaged */
		error_destroy(err);
		return false;
	}
	cursor_init(ret, bytes, size - JITDUMP_PREFIX_BYTES, file->name);
	return true;
}

static bool is_jitdump(const struct perf_map *map, size_t len_bytes, struct cursor *ret)
{
	uint32_t magic = 0, version, size;
	struct error *err;

	cursor_init(ret, map->text, len_bytes, "jitdump");
	err = cursor_u32(ret, &magic);
	if (!err && magic == JITDUMP_MAGIC)
		err = cursor_u32(ret, &version) ?: cursor_u32(ret, &size) ?: cursor_seek(ret, size);
	if (err)
		cursor_seek(ret, len_bytes);
	error_destroy(err);
	return magic == JITDUMP_MAGIC;
}

static struct error *read_jitdump(struct perf_map *map, struct cursor *file)
{
	struct jitdump d = {.map = map};
	struct error *err = NULL;
	struct cursor record;
	uint32_t id;

	while (!err && next_record(file, &id, &record)) {
		if (id == JITDUMP_LOAD)
			err = read_load(&d, &record);
		else if (id == JITDUMP_MOVE)
			err = read_move(&d, &record);
	}
	hashmap_deinit(&d.numbers);
	name_vec_deinit(&d.names);
	return err;
}

/* ---- files ---- */

static struct error *read_any(struct perf_map *map, size_t len_bytes)
{
	struct cursor file;
	struct error *err = is_jitdump(map, len_bytes, &file) ? read_jitdump(map, &file) : read_text(map, len_bytes);

	if (map->entries.count)
		qsort(map->entries.items, map->entries.count, sizeof *map->entries.items, compare_entries);
	return err;
}

/* Takes the text, which has room for a NUL. */
static struct error *parse(char *text, size_t len_bytes, struct perf_map **ret)
{
	struct perf_map *map = calloc(1, sizeof *map);
	struct error *err;

	if (!map) {
		free(text);
		return &error_no_memory;
	}
	map->text = text;
	err = read_any(map, len_bytes);
	if (err)
		perf_map_close(map);
	else
		*ret = map;
	return err;
}

struct error *perf_map_parse(const void *bytes, size_t len_bytes, struct perf_map **ret)
{
	char *text = malloc(len_bytes + 1);

	return text ? parse(memcpy(text, bytes, len_bytes), len_bytes, ret) : &error_no_memory;
}

static struct error *read_file(int fd, const char *path, size_t len_bytes, struct perf_map **ret)
{
	char *text = malloc(len_bytes + 1);
	size_t have = 0;

	if (!text)
		return &error_no_memory;
	while (have < len_bytes) {
		ssize_t n = read(fd, text + have, len_bytes - have);

		if (n < 0 && errno != EINTR) {
			struct error *err = error_os(errno, "%s", path);

			free(text);
			return err;
		}
		if (n == 0)
			break;
		have += n > 0 ? (size_t)n : 0;
	}
	return parse(text, have, ret);
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
