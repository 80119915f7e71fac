/*
 * wmk_bytes.h - how bytes of a .wmk are taken apart: the table of the kinds of chunks, and loads. Private to src/format.
 *
 * The loads check nothing: p is inside a chunk whose length was checked.
 */
#ifndef WM_FORMAT_WMK_BYTES_H
#define WM_FORMAT_WMK_BYTES_H

#include "base/cursor.h"
#include "format/wmk.h"
#include "format/wmk_fields.h"

enum {
	WMK_STATE_OPEN = 0,
	WMK_STATE_WHOLE = 1,
	WMK_STATE_GIVEN_UP = 2,
};

static inline uint8_t wmk_load_u8(const uint8_t *p)
{
	return p[0];
}

static inline uint16_t wmk_load_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t wmk_load_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t wmk_load_u64(const uint8_t *p)
{
	return wmk_load_u32(p) | (uint64_t)wmk_load_u32(p + 4) << 32;
}

/* Every record but a string keeps its state in its last four bytes, a table of paths in those of its head. */
static inline uint32_t wmk_record_state(const uint8_t *p, size_t size_bytes)
{
	return wmk_load_u32(p + size_bytes - 4);
}

/* The content of a kind of chunk, and how it is read: a new kind is a value of enum wmk_kind and a row. */
struct wmk_kind_row {
	const char *name;    /* of one record */
	size_t record_bytes; /* 0: not fixed */
	bool is_context;     /* wmk_read_contexts reads it: contexts are decoded with it */
	bool is_numbered;    /* record i of a chunk has the number first + i */
	bool may_span;       /* a chunk may go on over the next ones */
	/* Checks and counts what is new in a chunk; c is over the whole file, for messages. */
	struct error *(*scan)(struct wmk_file *w, struct cursor *c, struct wmk_file_chunk *chunk);
	/* The next two are of records of fixed size, and may be NULL. Nothing was written to this place. */
	bool (*is_free)(const uint8_t *p);
	/* Checks the whole record at off in the file, and keeps what is needed of it. */
	struct error *(*take)(struct wmk_file *w, struct cursor *c, size_t off);
};
extern const struct wmk_kind_row wmk_kinds[WMK_KIND_END]; /* [0] is none */

/* The next whole record of a kind of fixed size; NULL at the end. */
const uint8_t *wmk_next_record(const struct wmk_file *w, struct wmk_walk *walk, enum wmk_kind kind);
/* Checks of the rows WMK_SITES and WMK_EPOCH_EDGES. */
struct error *wmk_check_site(struct wmk_file *w, struct cursor *c, size_t off);
struct error *wmk_check_edge(struct wmk_file *w, struct cursor *c, size_t off);

/* Scans of the rows WMK_PATHS and WMK_PATH_COUNTS. */
struct error *wmk_scan_path_tables(struct wmk_file *w, struct cursor *c, struct wmk_file_chunk *chunk);
struct error *wmk_check_path_count(struct wmk_file *w, struct cursor *c, size_t off);

#endif
