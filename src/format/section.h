/*
 * section.h - the frame around metadata in a section: `.debug_waymark` is one; `.debug_waymark_paths`, `.debug_waymark_flow`
 * and `.debug_waymark_trace` have one for each unit.
 *
 *      0 magic (8)
 *      8 version u32
 *     12 compression u32        1 = zstd
 *     16 key u64                FNV-1a-64 of the raw body
 *     24 body_bytes u64         as stored
 *     32 raw_bytes u64          after decompression
 *     40 zero u64
 *     48 body                   one zstd frame
 *
 * Private to src/format.
 */
#ifndef WM_FORMAT_SECTION_H
#define WM_FORMAT_SECTION_H

#include "base/hash.h"
#include "base/arena.h"
#include "base/cursor.h"
#include "base/vec.h"

enum {
	SECTION_COMPRESSION_ZSTD = 1,
	SECTION_HEADER_BYTES = 48,
	SECTION_COMPRESSION_OFF = 12,
	SECTION_KEY_OFF = 16,
	SECTION_BODY_BYTES_OFF = 24,
	SECTION_RAW_BYTES_OFF = 32,

	/* Bounds that only a damaged section passes: they keep a small file from asking for much memory. */
	SECTION_RATIO_MAX = 1024, /* raw bytes a stored byte */
	SECTION_RAW_MAX = INT32_MAX,

	/* For all units of a section together, as a reader unpacks them. */
	SECTION_UNITS_RAW_MIN = 64 << 20, /* are fine whatever they are stored in */
	SECTION_UNITS_RATIO_MAX = 64,
};

struct section_kind {
	char magic[8];
	uint32_t version;
	uint32_t oldest; /* version that is read, too */
};

/* Appends the frame and the compressed body to out. The key does not depend on the version of zstd. */
struct error *section_write(const struct section_kind *kind, const struct buffer *raw, uint64_t *ret_key,
			    struct buffer *out);

static inline uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

struct section {
	uint64_t key;
	uint8_t *raw; /* malloc'd */
	size_t raw_bytes;
};

/* Reads, unpacks and checks the section at the cursor and moves behind it. */
struct error *section_read(struct cursor *c, const struct section_kind *kind, struct section *ret);
void section_deinit(struct section *s);

/* Reads a section's unit `index`; *ret_body goes over its bytes and has a name (the arena's) that says so. */
struct error *section_read_unit(struct cursor *c, const struct section_kind *kind, size_t index, struct arena *arena,
				struct section *ret, struct cursor *ret_body);

/*
 * Whether the units from the cursor on may all be unpacked: ERROR_FORMAT when they announce more bytes together than sections of their
 * size have. Each may be as small as a unit can be; many of those would still fill a machine. Headers that are damaged are left to
 * section_read.
 */
struct error *section_check_units(const struct cursor *c);

/* ERROR_FORMAT when something is left behind a unit's last table. */
struct error *section_check_end(struct cursor *body);

/* Moves over the zeros that may stand between two sections that the linker put together. */
void section_skip_zeros(struct cursor *c);

/* A uleb number of at most max: ERROR_FORMAT that says what it is of otherwise. */
struct error *section_small(struct cursor *c, uint32_t max, const char *what, uint32_t *ret);

/* A uleb count of elements that take min_bytes each at least: ERROR_FORMAT when they cannot be in what is left. */
struct error *section_count(struct cursor *c, size_t min_bytes, const char *what, uint32_t *ret);

#endif
