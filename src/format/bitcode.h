/*
 * bitcode.h - a `.debug_waymark_ir` section: LLVM bitcode of each unit (translation unit or linked image) as it was before it
 * was instrumented for tracing, in the frame of the other sections (zstd). docs/format.md gives every byte.
 */
#ifndef WM_FORMAT_BITCODE_H
#define WM_FORMAT_BITCODE_H

#include "base/error.h"
#include "base/vec.h"

struct bitcode_unit {
	uint8_t *bytes; /* malloc'd */
	size_t len_bytes;
};

VEC_DECLARE(bitcode_vec, struct bitcode_unit);

/* Appends one unit's bytes to out. ERROR_OVERFLOW above 2 GB. */
struct error *bitcode_write(const void *bytes, size_t len_bytes, struct buffer *out);

/* Reads a whole section. ret is written only on success; bitcode_deinit frees the units. */
struct error *bitcode_read(const void *bytes, size_t len_bytes, const char *name, struct bitcode_vec *ret);
void bitcode_deinit(struct bitcode_vec *v);

#endif
