/*
 * wmk_path.c - path counters out of a .wmk: tables (PATHS chunks) and counts of single paths (PATH_COUNTS).
 *
 * Tables lie at multiples of 16 with holes of zeros between them, since each thread takes blocks of its own. A table is read
 * whole or not at all: one that the end of a truncated file cuts is counted as lost.
 */
#include <inttypes.h>

#include "core/paths/ppp.h"
#include "format/wmk.h"
#include "format/wmk_bytes.h"
#include "waymark/paths.h"

enum {
	HEAD_BYTES = sizeof(struct wmk_paths),
	WORDS_OFF = HEAD_BYTES + 16, /* of the entries: behind words 0 and 1 */
	TABLE_ALIGN = 16,
};

enum place_kind {
	PLACE_END, /* nothing more in this chunk that is whole */
	PLACE_HOLE,
	PLACE_TABLE,
	PLACE_CUT,  /* a table, by the end of the file */
	PLACE_OPEN, /* a table that its chunk is not known to hold yet */
	PLACE_PAST, /* a table that would pass the end of its chunk */
};

static size_t entry_bytes(uint8_t kind)
{
	return kind == WM1_PATHS_ARRAY ? 8 : 16;
}

static bool is_cut(const struct wmk_file *w, const struct wmk_file_chunk *chunk)
{
	return chunk->off + chunk->body_bytes > w->len_bytes && chunk->off + chunk->len_bytes == w->len_bytes;
}

static void load_head(const uint8_t *p, struct wmk_paths *ret)
{
	*ret = (struct wmk_paths){WMK_PATHS_FIELDS(WMK_LOAD_FIELD) WMK_LOAD_FIELD(32, state)};
}

/* Reads the place at *off, which moves behind it. */
static enum place_kind read_place(const struct wmk_file *w, const struct wmk_file_chunk *chunk, size_t *off,
				  struct wmk_path_table *ret)
{
	const uint8_t *p = w->bytes + chunk->off + *off;
	size_t left = chunk->len_bytes - *off;
	uint64_t size;

	if (left < HEAD_BYTES) {
		for (size_t i = 0; i < left; i++)
			if (p[i])
				return is_cut(w, chunk) ? PLACE_CUT : PLACE_OPEN;
		return PLACE_END;
	}
	load_head(p, &ret->record);
	/* Keys are hashes: no table has two that are 0. Without kind it was never finished. */
	if ((ret->record.name_key | ret->record.cfg_key) == 0 || ret->record.kind == 0) {
		*off += TABLE_ALIGN;
		return PLACE_HOLE;
	}
	size = WORDS_OFF + (uint64_t)ret->record.entry_count * entry_bytes(ret->record.kind);
	if (size > chunk->body_bytes - *off)
		return PLACE_PAST;
	if (size > left)
		return is_cut(w, chunk) ? PLACE_CUT : PLACE_OPEN;
	ret->off = chunk->off + *off + HEAD_BYTES;
	ret->activations = wmk_load_u64(p + HEAD_BYTES);
	size = (size + TABLE_ALIGN - 1) / TABLE_ALIGN * TABLE_ALIGN;
	*off += size < left ? (size_t)size : left;
	return PLACE_TABLE;
}

/* The Ball-Larus number that r stands for; above all path counts when it is none. */
static uint64_t number_of(uint8_t kind, uint8_t bits, uint64_t r)
{
	switch (kind) {
	case WM1_PATHS_ARRAY:
		return r;
	case WM1_PATHS_HASH:
		return r - 1;
	default:
		return ppp_path_of(r, bits);
	}
}

static struct error *check_function(const struct cursor *c, uint8_t kind, uint8_t bits, uint64_t path_count)
{
	if (kind > WM1_PATHS_PLAN || bits > WM1_PATHS_MAX_BITS)
		return cursor_error(c, "path counters of unknown kind, %u with %u bits: the file is damaged", kind,
				    bits);
	if (path_count == 0 || path_count > PATH_COUNT_MAX)
		return cursor_error(c, "a function with %" PRIu64 " paths: the file is damaged", path_count);
	return NULL;
}

static struct error *check_table(const struct wmk_file *w, struct cursor *c, const struct wmk_path_table *table)
{
	const struct wmk_paths *r = &table->record;
	const uint8_t *entries = w->bytes + table->off + WORDS_OFF - HEAD_BYTES;
	struct error *err;

	c->off = table->off - HEAD_BYTES;
	err = check_function(c, r->kind, r->bits, r->path_count);
	if (err)
		return err;
	if (r->kind == WM1_PATHS_ARRAY ? r->entry_count != r->path_count
				       : r->entry_count != 0 && r->entry_count != UINT32_C(1) << r->bits)
		return cursor_error(c,
				    "a table of kind %u with %" PRIu32 " entries for %" PRIu64
				    " paths: the file is damaged",
				    r->kind, r->entry_count, r->path_count);
	for (uint32_t i = 0; i < r->entry_count && r->kind != WM1_PATHS_ARRAY; i++) {
		uint64_t check = wmk_load_u64(entries + (size_t)i * 16);

		if (check && number_of(r->kind, r->bits, check) >= r->path_count)
			return cursor_error(c,
					    "a table with a path that its function does not have: the file is damaged");
	}
	return NULL;
}

static struct error *scan_table(struct wmk_file *w, struct cursor *c, const struct wmk_path_table *table)
{
	struct error *err = NULL;

	switch (table->record.state) {
	case WMK_STATE_OPEN:
		w->uncommitted++;
		break;
	case WMK_STATE_WHOLE:
		err = check_table(w, c, table);
		w->whole_count[WMK_PATHS]++;
		break;
	case WMK_STATE_GIVEN_UP:
		break;
	default:
		c->off = table->off - HEAD_BYTES;
		err = cursor_error(c, "a record in state %" PRIu32 ": the file is damaged", table->record.state);
	}
	return err;
}

struct error *wmk_scan_path_tables(struct wmk_file *w, struct cursor *c, struct wmk_file_chunk *chunk)
{
	size_t off = 0;

	for (;;) {
		struct wmk_path_table table;
		struct error *err;

		switch (read_place(w, chunk, &off, &table)) {
		case PLACE_HOLE:
			break;
		case PLACE_TABLE:
			err = scan_table(w, c, &table);
			if (err)
				return err;
			break;
		case PLACE_CUT:
			w->lost_path_tables++;
			return NULL;
		case PLACE_OPEN:
			w->uncommitted++;
			return NULL;
		case PLACE_PAST:
			c->off = chunk->off + off;
			return cursor_error(c,
					    "a table of %" PRIu32
					    " entries passes the end of its chunk: the file is damaged",
					    table.record.entry_count);
		case PLACE_END:
			return NULL;
		}
	}
}

bool wmk_next_path_table(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_path_table *ret)
{
	for (; walk->chunk < w->chunks.count; walk->chunk++, walk->off = 0) {
		const struct wmk_file_chunk *chunk = &w->chunks.items[walk->chunk];
		enum place_kind place = PLACE_HOLE;
		struct wmk_path_table table;

		if (chunk->kind != WMK_PATHS)
			continue;
		while (place == PLACE_HOLE || place == PLACE_TABLE) {
			place = read_place(w, chunk, &walk->off, &table);
			if (place == PLACE_TABLE && table.record.state == WMK_STATE_WHOLE) {
				*ret = table;
				return true;
			}
		}
	}
	return false;
}

bool wmk_table_count(const struct wmk_file *w, const struct wmk_path_table *table, uint32_t i, uint64_t *number,
		     uint64_t *count)
{
	const struct wmk_paths *r = &table->record;
	const uint8_t *entries = w->bytes + table->off + WORDS_OFF - HEAD_BYTES;
	uint64_t path, times;

	if (r->kind == WM1_PATHS_ARRAY) {
		path = i;
		times = wmk_load_u64(entries + (size_t)i * 8);
	} else {
		path = number_of(r->kind, r->bits, wmk_load_u64(entries + (size_t)i * 16));
		times = wmk_load_u64(entries + (size_t)i * 16 + 8);
	}
	/* The process may be running: what was checked may have changed. */
	if (times == 0 || path >= r->path_count)
		return false;
	*number = path;
	*count = times;
	return true;
}

static void load_path_count(const uint8_t *p, struct wmk_path_count *ret)
{
	*ret = (struct wmk_path_count){WMK_PATH_COUNT_FIELDS(WMK_LOAD_FIELD) WMK_LOAD_FIELD(32, state)};
}

struct error *wmk_check_path_count(struct wmk_file *w, struct cursor *c, size_t off)
{
	struct wmk_path_count r;
	struct error *err;

	load_path_count(w->bytes + off, &r);
	c->off = off;
	err = check_function(c, r.kind, r.bits, r.path_count);
	if (!err && (r.name_key | r.cfg_key) == 0)
		err = cursor_error(c, "counts a path of a function without keys: the file is damaged");
	if (!err && number_of(r.kind, r.bits, r.r) >= r.path_count)
		err = cursor_error(c, "counts a path that its function does not have: the file is damaged");
	return err;
}

bool wmk_next_path_count(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_path_count *ret, uint64_t *number)
{
	const uint8_t *p;
	struct wmk_path_count r;
	uint64_t path;

	do {
		p = wmk_next_record(w, walk, WMK_PATH_COUNTS);
		if (!p)
			return false;
		load_path_count(p, &r);
		path = number_of(r.kind, r.bits, r.r);
	} while (r.kind == 0 || path >= r.path_count);
	*ret = r;
	*number = path;
	return true;
}
