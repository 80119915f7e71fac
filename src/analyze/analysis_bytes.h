/*
 * analysis_bytes.h - points-to sets and regions as bytes, so that what was found out of code once need not be found out again. For a cache: bytes of
 * one version of Waymark are read by that version, of the same code.
 *
 *      objects     kind, value, function, size of each
 *      locations   object, offsets of each
 *      sets        of locations, those that are equal once; [instruction or argument], constants by who uses them: which set
 *      calls       callees of each; what calls leave the program's code
 *      regions     location and bytes of each; their sets; [instruction] reads, changes, overwrites, passes; [function] changes
 *
 * Numbers are LEB128. Each that is read is checked against what it is a number of, so that damaged bytes are refused, or at worst a wrong answer.
 */
#ifndef WM_ANALYZE_ANALYSIS_BYTES_H
#define WM_ANALYZE_ANALYSIS_BYTES_H

#include "analyze/regions.h"
#include "base/cursor.h"

/* Appends; a buffer that has failed says so (buffer_error). */
void analysis_write(const struct memory *m, const struct regions *r, struct buffer *ret);

/* ERROR_FORMAT: they are damaged, or of other code. The owner deinits both on success; on failure they are empty. */
struct error *analysis_read(struct cursor *bytes, const struct code *c, struct memory *ret_memory,
			    struct regions *ret_regions);

/* A hash of all that the numbers of the bytes are about: functions, blocks, instructions with their operands. */
uint64_t analysis_hash_of_code(const struct code *c);

#endif
