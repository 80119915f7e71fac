/*
 * wmk_bytes.h - how bytes of a .wmk are taken apart: shared by wmk.c and wmk_path.c. Private to src/format.
 *
 * These loads check nothing: p is inside a chunk whose length was checked.
 */
#ifndef WM_FORMAT_WMK_BYTES_H
#define WM_FORMAT_WMK_BYTES_H

#include "base/cursor.h"
#include "format/wmk.h"

enum {
	WMK_STATE_OPEN = 0,
	WMK_STATE_WHOLE = 1,
	WMK_STATE_GIVEN_UP = 2,
};

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

/* 0 for those that are of no fixed size. */
size_t wmk_record_bytes(enum wmk_kind kind);
/* The next whole record of a kind of fixed size; NULL at the end. */
const uint8_t *wmk_next_record(const struct wmk_file *w, struct wmk_walk *walk, enum wmk_kind kind);

/* Counts the tables of a chunk and checks them; c is over the whole file, for messages. */
struct error *wmk_scan_path_tables(struct wmk_file *w, struct cursor *c, const struct wmk_file_chunk *chunk);
/* Checks the count of a path whose bytes are at off. */
struct error *wmk_check_path_count(const struct wmk_file *w, struct cursor *c, size_t off);

#endif
