/*
 * meta_bytes.h - numbers of the `.debug_waymark` layout that its writer and its reader share. docs/format.md has the rest.
 *
 *      0 magic (8)              the section: a header of 48 bytes, then the body, zstd-compressed as one frame
 *      8 version u32
 *     12 compression u32        1 = zstd
 *     16 key u64                FNV-1a-64 of the raw body
 *     24 body_bytes u64         as stored
 *     32 raw_bytes u64          after decompression
 *     40 zero u64
 *     48 body
 *
 * The raw body, every number uleb128, every string a reference (0 = none, else index + 1):
 *
 *     string_count pool_bytes pool (each string ends with a NUL)
 *     producer unit
 *     function_count { link_name name file line flags contexts restart }
 *     alias_count { link_name function }
 *     location_count { function file line column inlined_at }
 *     site_count { kind flags caller (callee | foreign | -) (addend | -) location }   sites 1 .. site_count - 1
 *     functions_total call_sites_total call_sites_no_code ball_larus_max_id max_id cut_nodes
 *
 * Private to src/format.
 */
#ifndef WM_FORMAT_META_BYTES_H
#define WM_FORMAT_META_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define META_MAGIC "\x89WMD\r\n\x1a\n" /* 8 bytes */
enum {
	META_VERSION = 1,
	META_COMPRESSION_ZSTD = 1,
	META_HEADER_BYTES = 48,
	META_KEY_OFF = 16,
	META_BODY_BYTES_OFF = 24,
	META_RAW_BYTES_OFF = 32,

	/* Bounds that only a damaged section passes: they keep a small file from asking for much memory. */
	META_RATIO_MAX = 1024, /* raw bytes a stored byte */
	META_RAW_MAX = INT32_MAX,
};

static inline uint64_t meta_hash(const uint8_t *bytes, size_t len_bytes)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len_bytes; i++)
		h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
	return h;
}

#endif
