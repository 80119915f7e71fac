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

static struct wmrt_chunkdir string_chunks;
/* Number + 1 of a string that was once seen at an address with this hash; a hint. */
static _Atomic uint32_t cache[CACHE_SIZE];

/* Under the lock. table holds number + 1. */
static uint32_t *table;
static uint32_t table_size; /* a power of two */
static uint32_t table_count;
static uint64_t next_off;
/* The chunk at next_off is of another process, too. */
static bool is_last_inherited;

/* The record, NULL if there is no such string. */
static struct wmk_string *string_at(uint32_t number)
{
	struct wmk_chunk_header *chunk = wmrt_chunkdir_get(&string_chunks, number / WMRT_CHUNK_BODY_BYTES);

	return chunk ? (struct wmk_string *)(void *)(wmrt_chunk_body(chunk) + number % WMRT_CHUNK_BODY_BYTES) : NULL;
}

static bool is_same(uint32_t number, const char *s)
{
	struct wmk_string *string = string_at(number);
	uint32_t len = string->len_bytes;

	return strncmp((const char *)(string + 1), s, len) == 0 && (len == WMRT_STRING_MAX_BYTES || s[len] == '\0');
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
	uint32_t *bigger = wmrt_map_memory(size * sizeof *bigger);
	uint32_t i, j;

	if (!bigger)
		return false;
	for (i = 0; i < table_size; i++) {
		struct wmk_string *string;

		if (!table[i])
			continue;
		string = string_at(table[i] - 1);
		j = (uint32_t)hash_bytes((const char *)(string + 1), string->len_bytes) & (size - 1);
		while (bigger[j])
			j = (j + 1) & (size - 1);
		bigger[j] = table[i];
	}
	wmrt_unmap(table, table_size * sizeof *table);
	table = bigger;
	table_size = size;
	return true;
}

static uint32_t append(const char *s, size_t len)
{
	size_t len_bytes = (sizeof(struct wmk_string) + len + 7) & ~(size_t)7;
	uint64_t off = next_off;
	uint32_t order;
	struct wmk_chunk_header *chunk;
	struct wmk_string *string;

	if (off % WMRT_CHUNK_BODY_BYTES + len_bytes > WMRT_CHUNK_BODY_BYTES)
		off += WMRT_CHUNK_BODY_BYTES - off % WMRT_CHUNK_BODY_BYTES;
	if (off >= UINT32_MAX - WMRT_CHUNK_BODY_BYTES)
		return WMRT_STRING_NONE;
	order = (uint32_t)(off / WMRT_CHUNK_BODY_BYTES);
	chunk = wmrt_chunkdir_get(&string_chunks, order);
	if (chunk && is_last_inherited && !wmrt_file_own(chunk, (uint32_t)(off % WMRT_CHUNK_BODY_BYTES)))
		return WMRT_STRING_NONE;
	is_last_inherited = false;
	if (!chunk) {
		chunk = wmrt_file_chunk_or_memory(WMK_STRINGS, (uint64_t)order * WMRT_CHUNK_BODY_BYTES);
		if (!chunk || !wmrt_chunkdir_set(&string_chunks, order, chunk))
			return WMRT_STRING_NONE;
	}
	string = string_at((uint32_t)off);
	string->len_bytes = (uint32_t)len;
	memcpy(string + 1, s, len);
	__atomic_store_n(&string->state, 1, __ATOMIC_RELEASE);
	next_off = off + len_bytes;
	wmrt_chunk_raise_used(chunk, (uint32_t)(off % WMRT_CHUNK_BODY_BYTES + len_bytes));
	return (uint32_t)off;
}

uint32_t wmrt_string_locked(const char *s)
{
	size_t len = strnlen(s, WMRT_STRING_MAX_BYTES);
	uint32_t number;
	uint32_t i;

	if (table_count * 2 >= table_size && !table_grow())
		return WMRT_STRING_NONE;
	i = (uint32_t)hash_bytes(s, len) & (table_size - 1);
	for (; table[i]; i = (i + 1) & (table_size - 1))
		if (is_same(table[i] - 1, s))
			return table[i] - 1;
	number = append(s, len);
	if (number != WMRT_STRING_NONE) {
		table[i] = number + 1;
		table_count++;
	}
	return number;
}

uint32_t wmrt_string(const char *s)
{
	struct wmrt_guard guard;
	uint32_t number;

	wmrt_lock(&guard);
	number = wmrt_string_locked(s);
	wmrt_unlock(&guard);
	return number;
}

uint32_t wmrt_string_cached(const char *s)
{
	_Atomic uint32_t *hint = &cache[wmrt_hash((uintptr_t)s, 0) % CACHE_SIZE];
	uint32_t seen = atomic_load_explicit(hint, memory_order_acquire);
	uint32_t number;

	if (WMRT_LIKELY(seen) && is_same(seen - 1, s))
		return seen - 1;
	number = wmrt_string(s);
	if (number != WMRT_STRING_NONE)
		atomic_store_explicit(hint, number + 1, memory_order_release);
	return number;
}

static void copy_bytes(char *to, const char *from, uint32_t len_bytes)
{
	memcpy(to, from, len_bytes);
}

void wmrt_string_after_fork(void)
{
	is_last_inherited = true;
}

/* The parent may add strings while this runs; next_off is from the moment of the fork. A chunk before the last may have
 * unused bytes at its end: they are zero. */
void wmrt_string_copy_inherited(void)
{
	struct wmk_chunk_header *chunk;
	uint32_t order;

	for (order = 0; (chunk = wmrt_chunkdir_get(&string_chunks, order)) != NULL; order++) {
		uint64_t off = (uint64_t)order * WMRT_CHUNK_BODY_BYTES;
		uint64_t left = next_off <= off ? 0 : next_off - off;
		uint32_t used = left < WMRT_CHUNK_BODY_BYTES ? (uint32_t)left : chunk->used_bytes;

		if (!wmrt_file_inherit(chunk, WMK_STRINGS, off, used, copy_bytes))
			wmrt_file_drop(offsetof(struct wmk_header, dropped_events));
	}
	is_last_inherited = false;
}
