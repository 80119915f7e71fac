/*
 * strtab.c - interns strings by content into STRINGS chunks.
 *
 * Adding is under the lock; the table of all strings is linear probing by content hash. In front of it is a small
 * cache by address whose hits are checked by content, so that a buffer that is used again for another name cannot
 * deceive it.
 */
#include "recorder/strtab.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "recorder/chunkdir.h"
#include "recorder/file.h"
#include "recorder/index.h"
#include "recorder/process.h"

enum {
	CACHE_SIZE = 1024,
	FIRST_TABLE_SIZE = 1024,
};

/* The process's private copy of a string: its bytes in the file may be another's by now. */
struct string {
	uint64_t hash;
	uint32_t number_1; /* number + 1; 0: nothing is here */
	uint32_t len_bytes;
};

static struct wmrt_chunkdir string_chunks;
/* Number + 1 of a string that was once seen at an address with this hash, above it its length; a hint. */
static _Atomic uint64_t cache[CACHE_SIZE];

/* Under the lock; but once is_full is set nothing is added any more, and anybody may look. */
static struct string *table;
static uint32_t table_size; /* a power of two */
static uint32_t table_count;
static _Atomic bool is_full;
static uint64_t next_off;
/* The chunk at next_off is of another process, too. */
static bool is_last_inherited;

/* The record, NULL if there is no such string. */
static struct wmk_string *string_at(uint32_t number)
{
	struct wmrt_place place = wmrt_place_of(number, 1);
	struct wmk_chunk_header *chunk = wmrt_chunkdir_get(&string_chunks, place.order);

	return chunk ? (struct wmk_string *)(void *)(wmrt_chunk_body(chunk) + place.i) : NULL;
}

static size_t length_of(const char *s)
{
	return strnlen(s, WMRT_STRING_MAX_BYTES);
}

static bool is_same(uint32_t number, uint32_t len_bytes, const char *s)
{
	return length_of(s) == len_bytes && memcmp(string_at(number) + 1, s, len_bytes) == 0;
}

static uint64_t hash_bytes(const char *s, size_t len)
{
	uint64_t hash = len;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
	return wmrt_hash(hash, len);
}

static bool table_grow(void)
{
	uint32_t size = table_size ? table_size * 2 : FIRST_TABLE_SIZE;
	struct string *bigger = wmrt_map_memory(size * sizeof *bigger);
	uint32_t i, j;

	if (!bigger)
		return false;
	for (i = 0; i < table_size; i++) {
		if (!table[i].number_1)
			continue;
		j = (uint32_t)table[i].hash & (size - 1);
		while (bigger[j].number_1)
			j = (j + 1) & (size - 1);
		bigger[j] = table[i];
	}
	wmrt_unmap(table, table_size * sizeof *table);
	table = bigger;
	table_size = size;
	return true;
}

/* The chunk at that offset, with room in it; NULL with none. */
static struct wmrt_chunk *chunk_at(uint64_t off)
{
	struct wmrt_place place = wmrt_place_of(off, 1);
	uint32_t order = place.order, units = wmrt_chunk_units(order);
	uint64_t first = off - place.i;
	struct wmk_chunk_header *header = wmrt_chunkdir_get(&string_chunks, order);

	if (header && is_last_inherited && !wmrt_file_own(header, units, first, place.i))
		return NULL;
	is_last_inherited = false;
	if (header)
		return wmrt_chunkdir_at(&string_chunks, order);
	header = wmrt_file_chunk_or_memory(WMK_STRINGS, units, first);
	return header ? wmrt_chunkdir_set(&string_chunks, order, header) : NULL;
}

static void after_fork(void)
{
	is_last_inherited = true;
	atomic_store(&is_full, false);
}

/* The parent may add strings while this runs; used_bytes is from the moment of the fork. */
static void begin_file(void)
{
	for (uint32_t order = 0; wmrt_chunk_start(order, 1) < next_off; order++) {
		struct wmrt_chunk *chunk = wmrt_chunkdir_at(&string_chunks, order);

		/* A long string passes over chunks that are too small for it. */
		if (!chunk || !chunk->header)
			continue;
		if (!wmrt_file_inherit(chunk->header, WMK_STRINGS, wmrt_chunk_units(order), wmrt_chunk_start(order, 1),
				       chunk->used_bytes, NULL))
			wmrt_file_drop(offsetof(struct wmk_header, dropped_events));
	}
	is_last_inherited = false;
}

static const struct wmrt_part part = {after_fork, begin_file};

static uint32_t append(const char *s, size_t len)
{
	size_t len_bytes = (sizeof(struct wmk_string) + len + 7) & ~(size_t)7;
	uint64_t off = next_off;
	struct wmrt_place place;
	struct wmrt_chunk *chunk;
	struct wmk_string *string;

	wmrt_part_add(WMRT_PART_STRINGS, &part);
	for (place = wmrt_place_of(off, 1); place.i + len_bytes > wmrt_chunk_capacity(place.order, 1);
	     place = wmrt_place_of(off, 1))
		off = wmrt_chunk_start(place.order + 1, 1);
	if (off >= UINT32_MAX - WMK_CHUNK_BYTES)
		return WMRT_STRING_NONE;
	chunk = chunk_at(off);
	if (!chunk)
		return WMRT_STRING_NONE;
	string = string_at((uint32_t)off);
	string->len_bytes = (uint32_t)len;
	memcpy(string + 1, s, len);
	__atomic_store_n(&string->state, 1, __ATOMIC_RELEASE);
	next_off = off + len_bytes;
	chunk->used_bytes = place.i + (uint32_t)len_bytes;
	wmrt_chunk_raise_used(chunk->header, chunk->used_bytes);
	return (uint32_t)off;
}

/* Where the string is in the table, or is to be. The table has room. */
static struct string *find(const char *s, uint64_t hash)
{
	uint32_t i = (uint32_t)hash & (table_size - 1);

	for (; table[i].number_1; i = (i + 1) & (table_size - 1))
		if (table[i].hash == hash && is_same(table[i].number_1 - 1, table[i].len_bytes, s))
			break;
	return &table[i];
}

uint32_t wmrt_string_locked(const char *s)
{
	size_t len = length_of(s);
	uint64_t hash = hash_bytes(s, len);
	struct string *string;
	uint32_t number;

	if (!atomic_load(&is_full) && table_count * 2 >= table_size && !table_grow())
		return WMRT_STRING_NONE;
	string = find(s, hash);
	if (string->number_1 || atomic_load(&is_full))
		return string->number_1 - 1;
	number = append(s, len);
	if (number != WMRT_STRING_NONE) {
		*string = (struct string){hash, number + 1, (uint32_t)len};
		table_count++;
	} else if (wmrt_file_is_full_for_good()) {
		atomic_store_explicit(&is_full, true, memory_order_release);
	}
	return number;
}

uint32_t wmrt_string(const char *s)
{
	struct wmrt_guard guard;
	uint32_t number;

	if (atomic_load_explicit(&is_full, memory_order_acquire))
		return find(s, hash_bytes(s, length_of(s)))->number_1 - 1;
	wmrt_lock(&guard);
	number = wmrt_string_locked(s);
	wmrt_unlock(&guard);
	return number;
}

uint32_t wmrt_string_cached(const char *s)
{
	_Atomic uint64_t *hint = &cache[wmrt_hash((uintptr_t)s, 0) % CACHE_SIZE];
	uint64_t seen = atomic_load_explicit(hint, memory_order_acquire);
	uint32_t number;

	if (WMRT_LIKELY(seen) && is_same((uint32_t)seen - 1, (uint32_t)(seen >> 32), s))
		return (uint32_t)seen - 1;
	number = wmrt_string(s);
	if (number != WMRT_STRING_NONE)
		atomic_store_explicit(hint, (uint64_t)length_of(s) << 32 | (number + 1), memory_order_release);
	return number;
}
