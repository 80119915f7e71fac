/*
 * tracemeta_bytes.h - the layout of a unit of `.debug_waymark_trace`, for its writer and its reader. docs/format.md has the
 * rest.
 *
 * The frame is that of section.h, once for each unit; zeros may stand between two. The raw body, every number uleb128 but the
 * two keys (u64), every string a reference (0 = none, else index + 1), every offset 0 for none, else offset + 1:
 *
 *     string_count pool_bytes pool (each string ends with a NUL)
 *     producer name is_final coverage_bytes
 *     function_count {
 *             name_key cfg_key flags (FUNCTION_*) node_count
 *             variant_count { scheme frame_bytes [sum_bytes sum_off count_off ring_off ring_slots local_off local_points local_bits] }
 *             function_off calls_off blocks_off
 *             call_count { (node - node before) << CALL_SHIFT | CALL_* bits  [callee]  [function file]
 *                          zigzag(line - line before)  column }
 *             [states: a bit for each node that has a register (bit i % 8 of byte i / 8); then for each node zigzag(value)]
 *     }
 *     skipped_count { name reason }
 *
 * A variant without a frame record (frame_bytes 0) has nothing behind that. Private to src/format.
 */
#ifndef WM_FORMAT_TRACEMETA_BYTES_H
#define WM_FORMAT_TRACEMETA_BYTES_H

#include "format/section.h"
#include "format/tracemeta.h"

#define TRACEMETA_KIND ((struct section_kind){"\x89WMT\r\n\x1a\n", 1, 1})

enum {
	FUNCTION_ROOT = 1,
	FUNCTION_TAKEN = 2,
	FUNCTION_TUNABLE = 4,
	FUNCTION_STATES = 8,
	FUNCTION_FLAGS_MAX = 15,
};

enum {
	CALL_KIND_MASK = 3,
	CALL_MAY_LEAVE = 4,
	CALL_ELSEWHERE = 8, /* function and file are not those of the call before */
	CALL_NO_RETURN = 16,
	CALL_SHIFT = 5,
};

/* Checks what must hold for every function, written or read: ERROR_ARGUMENT; the caller says where. */
struct error *tracemeta_check(const struct tracemeta_function *f, const struct tracemeta_unit *u);

static inline bool tracemeta_has_callee(enum tracemeta_callee kind)
{
	return kind == TRACEMETA_DIRECT || kind == TRACEMETA_PURE;
}

#endif
