/*
 * path_space.c - PATHS and PATH_COUNTS chunks, shared out to threads in blocks.
 *
 *      PATHS chunk:  | table table table (free) | table table (free) |      table of 4096      | (free)
 *                    '------- thread 1 ---------'---- thread 2 ------'------- thread 1 --------'
 *
 * Threads take blocks of a chunk for their small tables and for their single counts, so that no two count in one cache line.
 * Space is claimed by raising the chunk's used_bytes; what is not used of it stays zero, which readers pass over.
 */
#include "runtime/paths/path_space.h"

#include <stdatomic.h>

#include "recorder/chunkdir.h"
#include "recorder/file.h"
#include "recorder/mapping.h"
#include "recorder/process.h"
#include "recorder/sys.h"

enum {
	LINE_BYTES = 64,
	BLOCK_BYTES = 4096,    /* what a thread takes of a chunk for its small tables */
	SMALL_BYTES = 1024,    /* those up to this large */
	MIN_UNITS = 4,         /* of a chunk of tables */
	MAX_UNITS = 256,       /* of one whose tables do not need more */
	COUNTS_PER_BLOCK = 32, /* one is left free, so that no cache line has records of two threads */
	ARENA_BYTES = 16384,
	MAX_CHUNKS = WMRT_CHUNKDIR_TOP * WMRT_CHUNKDIR_PAGE,
};

/* All chunks in use; appended to under the lock. */
static struct wmrt_chunkdir chunks;
static _Atomic uint32_t chunk_count;
/* Under the lock. */
static uint64_t tables_units;
static struct wmrt_chunk *tables_now;
static struct wmrt_chunk *counts_now;
/* There was no room: no more is looked for. */
static _Atomic bool is_counts_full;

struct wmrt_client_slot wmrt_path_slot = {.len_bytes = sizeof(struct wmrt_path_thread)};

static size_t chunk_bytes(const struct wmrt_chunk *chunk)
{
	return (size_t)chunk->span * WMK_UNIT_BYTES;
}

static size_t chunk_left(const struct wmrt_chunk *chunk)
{
	return chunk_bytes(chunk) - WMK_CHUNK_HEADER_BYTES - chunk->used_bytes;
}

/* NULL when it has not that much. */
static char *chunk_claim(struct wmrt_chunk *chunk, size_t len_bytes)
{
	char *at;

	if (!chunk || len_bytes > chunk_left(chunk))
		return NULL;
	at = wmrt_chunk_body(chunk->header) + chunk->used_bytes;
	chunk->used_bytes += (uint32_t)len_bytes;
	wmrt_chunk_raise_used(chunk->header, chunk->used_bytes);
	return at;
}

/* Under the lock. */
static struct wmrt_chunk *chunk_note(uint32_t i, struct wmk_chunk_header *header, enum wmk_kind kind, uint32_t span,
				     uint32_t used_bytes)
{
	struct wmrt_chunk *chunk = wmrt_chunkdir_set(&chunks, i, header);

	chunk->kind = kind;
	chunk->span = span;
	chunk->used_bytes = used_bytes;
	return chunk;
}

static struct wmrt_chunk *chunk_new(enum wmk_kind kind, uint64_t units)
{
	uint32_t i = atomic_load(&chunk_count);
	struct wmk_chunk_header *header;
	struct wmrt_chunk *chunk;

	if (i == MAX_CHUNKS || !wmrt_chunkdir_set(&chunks, i, NULL))
		return NULL;
	header = wmrt_file_chunk(kind, (uint32_t)units, 0, 0);
	if (!header)
		return NULL;
	chunk = chunk_note(i, header, kind, (uint32_t)units, 0);
	atomic_store(&chunk_count, i + 1);
	return chunk;
}

/* A chunk with room for len_bytes, larger the more there are already. */
static struct wmrt_chunk *tables_chunk(size_t len_bytes)
{
	uint64_t needed = (len_bytes + WMK_CHUNK_HEADER_BYTES + WMK_UNIT_BYTES - 1) / WMK_UNIT_BYTES;
	uint64_t units = tables_units < 2 * MIN_UNITS ? MIN_UNITS : tables_units / 2;
	struct wmrt_chunk *chunk;

	if (units > MAX_UNITS)
		units = MAX_UNITS;
	if (units < needed)
		units = needed;
	chunk = chunk_new(WMK_PATHS, units);
	if (!chunk && units > needed)
		chunk = chunk_new(WMK_PATHS, needed);
	if (chunk)
		tables_units += chunk->span;
	return chunk;
}

/* Whole cache lines; NULL with no room. */
static char *claim(size_t len_bytes)
{
	char *at = chunk_claim(tables_now, len_bytes);
	struct wmrt_chunk *chunk;

	if (at)
		return at;
	chunk = tables_chunk(len_bytes);
	at = chunk_claim(chunk, len_bytes);
	if (at && (!tables_now || chunk_left(chunk) > chunk_left(tables_now)))
		tables_now = chunk;
	return at;
}

void *wmrt_path_space_claim(struct wmrt_path_thread *mine, size_t len_bytes)
{
	char *at;

	if (len_bytes > SMALL_BYTES)
		return claim((len_bytes + LINE_BYTES - 1) & ~(size_t)(LINE_BYTES - 1));
	if (len_bytes > mine->block_left_bytes) {
		at = claim(BLOCK_BYTES);
		if (!at)
			return NULL;
		mine->block = at;
		mine->block_left_bytes = BLOCK_BYTES;
	}
	at = mine->block;
	mine->block += len_bytes;
	mine->block_left_bytes -= (uint32_t)len_bytes;
	return at;
}

static char *counts_claim(void)
{
	size_t len_bytes = COUNTS_PER_BLOCK * sizeof(struct wmk_path_count);
	char *at = chunk_claim(counts_now, len_bytes);

	if (!at) {
		counts_now = chunk_new(WMK_PATH_COUNTS, counts_now ? WMRT_UNITS_MAX : 1);
		at = chunk_claim(counts_now, len_bytes);
		if (!at)
			atomic_store(&is_counts_full, true);
	}
	return at;
}

bool wmrt_path_space_is_full(const struct wmrt_path_thread *mine)
{
	return !mine->counts_left && atomic_load_explicit(&is_counts_full, memory_order_relaxed);
}

bool wmrt_path_space_counts(struct wmrt_path_thread *mine)
{
	struct wmrt_guard guard;
	char *at;

	if (mine->counts_left)
		return true;
	if (atomic_load_explicit(&is_counts_full, memory_order_relaxed) || !wmrt_file_open())
		return false;
	wmrt_lock(&guard);
	at = counts_claim();
	wmrt_unlock(&guard);
	if (!at)
		return false;
	mine->counts = (struct wmk_path_count *)(void *)at;
	mine->counts_left = COUNTS_PER_BLOCK - 1;
	return true;
}

void *wmrt_path_alloc(size_t len_bytes)
{
	struct wmrt_path_thread *mine = wmrt_path_thread(wmrt_local.thread);
	void *at;

	len_bytes = (len_bytes + 15) & ~(size_t)15;
	if (len_bytes > ARENA_BYTES / 4)
		return wmrt_map_memory(len_bytes);
	if (len_bytes > mine->arena_left_bytes) {
		at = wmrt_map_memory(ARENA_BYTES);
		if (!at)
			return NULL;
		mine->arena = at;
		mine->arena_left_bytes = ARENA_BYTES;
	}
	at = mine->arena;
	mine->arena += len_bytes;
	mine->arena_left_bytes -= len_bytes;
	return at;
}

bool wmrt_path_space_is_used(void)
{
	return atomic_load_explicit(&chunk_count, memory_order_acquire) != 0;
}

uint32_t wmrt_path_space_chunk_count(void)
{
	return atomic_load(&chunk_count);
}

static bool chunk_has(uint32_t i, const void *address)
{
	const struct wmrt_chunk *chunk = wmrt_chunkdir_at(&chunks, i);

	return (uintptr_t)address - (uintptr_t)atomic_load(&chunk->header) < chunk_bytes(chunk);
}

uint32_t wmrt_path_space_chunk_of(const void *address, uint32_t *hint)
{
	uint32_t count = atomic_load(&chunk_count);
	uint32_t i;

	for (i = *hint < count ? *hint : 0; !chunk_has(i, address); i = i + 1 < count ? i + 1 : 0)
		;
	*hint = i;
	return i;
}

/* New space over that chunk: of the file, or memory if that is what is wanted or all there is. NULL: it is memory. */
static struct wmk_chunk_header *chunk_renew(const struct wmrt_chunk *chunk, bool is_kept)
{
	struct wmk_chunk_header *place = chunk->header;
	struct wmk_chunk_header *header =
		is_kept && wmrt_file_header() ? wmrt_file_chunk_at(chunk->kind, chunk->span, place) : NULL;

	if (header)
		wmrt_chunk_raise_used(header, chunk->used_bytes);
	else
		wmrt_mapping_clear(place, chunk_bytes(chunk));
	return header;
}

bool wmrt_path_space_renew(const bool *is_kept, uint32_t count)
{
	bool is_good = true;
	uint32_t i, kept = 0;

	for (i = 0; i < count; i++) {
		struct wmrt_chunk chunk = *wmrt_chunkdir_at(&chunks, i);
		bool is_wanted = is_kept && is_kept[i] && is_good;
		struct wmk_chunk_header *header = chunk_renew(&chunk, is_wanted);

		if (header)
			chunk_note(kept++, header, chunk.kind, chunk.span, chunk.used_bytes);
		is_good = is_good && (header || !is_wanted);
	}
	for (i = 0; i < kept && !is_good; i++)
		chunk_renew(wmrt_chunkdir_at(&chunks, i), false);
	atomic_store(&chunk_count, is_good ? kept : 0);
	atomic_store(&is_counts_full, false);
	tables_units = 0;
	tables_now = NULL;
	counts_now = NULL;
	return is_good;
}
