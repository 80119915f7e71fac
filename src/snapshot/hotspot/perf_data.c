/*
 * perf_data.c - walks over the entries of a file of HotSpot's counters (perfMemory.hpp, perfData.hpp: version 2.0, little-endian).
 *
 *      0   CA FE C0 C0 | byte order, major, minor, accessible | used | overflow | time 8 | offset of the first entry | number of entries
 *      entry:  length | offset of its name | length of its vector | type, flags, units, variability | offset of its data
 */
#include "snapshot/hotspot/perf_data.h"

#include <stdbool.h>
#include <string.h>

#include "base/cursor.h"

enum {
	MAGIC = 0xc0c0feca,
	LITTLE_ENDIAN_BYTES = 1,
	MAJOR = 2,
	FIRST_ENTRY = 24, /* where the file says that */
	LEAST_ENTRY_BYTES = 20,
};

/* *ret_count: of entries; the cursor stands on the first one. */
static struct error *read_header(struct cursor *c, uint32_t *ret_count)
{
	uint32_t magic, first, count;
	uint8_t order, major;
	struct error *err = cursor_u32(c, &magic) ?: cursor_u8(c, &order) ?: cursor_u8(c, &major);

	if (!err && (magic != MAGIC || order != LITTLE_ENDIAN_BYTES || major != MAJOR))
		err = cursor_error(c, "is no file of counters of this version");
	if (!err)
		err = cursor_seek(c, FIRST_ENTRY) ?: cursor_u32(c, &first) ?: cursor_u32(c, &count);
	if (!err)
		err = cursor_seek(c, first);
	if (!err)
		*ret_count = count;
	return err;
}

/* What the text at that place of the entry begins with. entry: of so many bytes, at its begin. */
static bool is_named(const uint8_t *entry, size_t len_bytes, uint32_t name_off, const char *name)
{
	size_t size = strlen(name) + 1;

	return name_off <= len_bytes && len_bytes - name_off >= size && memcmp(entry + name_off, name, size) == 0;
}

/* The entry at the cursor, which then stands behind it. *is_found: it has the name. */
static struct error *read_entry(struct cursor *c, const char *name, bool *is_found, char *ret)
{
	uint32_t len_bytes, name_off, vector, kind, data_off;
	size_t begin = c->off;
	const uint8_t *entry;
	struct error *err = cursor_u32(c, &len_bytes) ?: cursor_u32(c, &name_off) ?: cursor_u32(c, &vector)
			    ?: cursor_u32(c, &kind) ?: cursor_u32(c, &data_off);

	if (!err && len_bytes < LEAST_ENTRY_BYTES)
		err = cursor_error(c, "an entry of %u bytes", (unsigned int)len_bytes);
	if (!err)
		err = cursor_seek(c, begin) ?: cursor_bytes(c, len_bytes, &entry);
	if (err || !is_named(entry, len_bytes, name_off, name))
		return err;
	if (data_off >= len_bytes)
		return cursor_error(c, "data behind the end of its entry");
	*is_found = true;
	*ret = (char)entry[data_off];
	return NULL;
}

struct error *perf_data_first(const void *bytes, size_t len_bytes, const char *name, char *ret)
{
	struct cursor c;
	uint32_t count = 0;
	bool is_found = false;
	struct error *err;

	cursor_init(&c, bytes, len_bytes, "hsperfdata");
	err = read_header(&c, &count);
	for (uint32_t i = 0; !err && i < count; i++) {
		err = read_entry(&c, name, &is_found, ret);
		if (!err && is_found)
			return NULL;
	}
	return err ? err : error_create(ERROR_NOT_FOUND, "hsperfdata: has no %s", name);
}
