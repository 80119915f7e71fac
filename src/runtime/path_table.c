/*
 * path_table.c - makes tables of path counters and finds them again by function and thread.
 *
 *      PATHS chunk:  | table table table (free) | table table (free) |      table of 4096      | (free)
 *                    '------- thread 1 ---------'---- thread 2 ------'------- thread 1 --------'
 *
 * Threads take blocks of a chunk for their small tables, so that no two count in one cache line. Space is claimed by raising
 * the chunk's used_bytes, in one store: a forked child finds each table whole, or not there.
 *
 * A function is known by what it is (image, keys, kind, size), not by where its descriptor lies: after a dlclose another
 * library may lie there. An image is known by its build id, which is read again from its memory each time.
 */
#include "runtime/path_table.h"

#include <stdatomic.h>
#include <string.h>

#include "runtime/chunkdir.h"
#include "runtime/file.h"
#include "runtime/image.h"
#include "runtime/index.h"
#include "runtime/path_count.h"
#include "runtime/process.h"
#include "runtime/sys.h"

enum {
	LINE_BYTES = 64,
	BLOCK_BYTES = 4096,    /* what a thread takes of a chunk for its small tables */
	SMALL_BYTES = 1024,    /* those up to this large */
	MAX_GROWTH = 16,       /* chunks in one piece, where one table does not need more */
	COUNTS_PER_BLOCK = 32, /* one is left free, so that no cache line has records of two threads */
	ARENA_BYTES = 16384,
	TABLES_PER_PAGE = 1024,
	MAX_PAGES = 4096,
};

/* Tables by number: from 1. Pages are added under the lock. */
static _Atomic(struct wmrt_path_table *) table_pages[MAX_PAGES];
static struct wmrt_index table_index;
/* Under the lock. */
static uint32_t table_count;
static uint64_t tables_span;
static struct wmk_chunk_header *tables_now;
static struct wmk_chunk_header *counts_now;
/* There was no room: no more is looked for. */
static _Atomic bool is_counts_full;

struct table_key {
	const struct wm1_path_function *function;
	uint32_t image;
	uint32_t slot;
};

static size_t round_up(size_t n, size_t unit)
{
	return (n + unit - 1) & ~(unit - 1);
}

size_t wmrt_path_record_bytes(uint8_t kind, uint32_t entry_count)
{
	size_t entry_bytes = kind == WM1_PATHS_ARRAY ? 8 : 16;

	return round_up(sizeof(struct wmk_paths) + 16 + entry_bytes * entry_count, 16);
}

static struct wmrt_path_table *table_at(uint32_t number)
{
	struct wmrt_path_table *page =
		atomic_load_explicit(&table_pages[number / TABLES_PER_PAGE], memory_order_acquire);

	return page + number % TABLES_PER_PAGE;
}

static uint16_t record_flags(const struct wm1_path_function *function)
{
	return function->flags & WM1_PATHS_AT_ENTRY ? WMK_PATHS_AT_ENTRY : 0;
}

static bool has_checks(const struct wmrt_path_table *table, const uint64_t *checks)
{
	const uint64_t *words = wmrt_path_words(table);
	uint32_t i;

	for (i = 0; i < table->record->entry_count; i++)
		if (words[2 + 2 * i] != checks[i])
			return false;
	return true;
}

static bool table_matches(const void *key, uint32_t number)
{
	const struct table_key *k = key;
	const struct wm1_path_function *f = k->function;
	const struct wmrt_path_table *table = table_at(number);
	const struct wmk_paths *record = table->record;

	return table->slot == k->slot && record->image == k->image && record->name_key == f->name_key &&
	       record->cfg_key == f->cfg_key && record->path_count == f->path_count && record->kind == f->kind &&
	       record->bits == f->bits && record->flags == record_flags(f) && record->entry_count == f->entry_count &&
	       (f->kind != WM1_PATHS_PLAN || has_checks(table, f->checks));
}

static uint64_t key_hash(const struct table_key *k)
{
	uint64_t hash = wmrt_hash(k->function->name_key, k->function->cfg_key);

	return wmrt_hash(hash, (uint64_t)k->image << 32 | k->slot);
}

static struct wmrt_path_table *table_find(const struct wm1_path_function *function, const struct wmrt_image *image,
					  const struct wmrt_slot *slot)
{
	struct table_key key = {function, image->number, slot->number};
	uint32_t number = wmrt_index_find(&table_index, key_hash(&key), table_matches, &key);

	return number ? table_at(number) : NULL;
}

struct wmrt_path_table *wmrt_path_table_find(const struct wm1_path_function *function, struct wmrt_slot *slot)
{
	const struct wmrt_image *image = wmrt_image_at(function->ehdr);

	return image ? table_find(function, image, slot) : NULL;
}

/* Space of a chunk, under the lock; NULL when it has not that much. */
static char *chunk_claim(struct wmk_chunk_header *chunk, size_t len_bytes)
{
	size_t used, end;

	if (!chunk)
		return NULL;
	used = chunk->used_bytes;
	end = (size_t)wmrt_chunk_span(chunk) * WMK_CHUNK_BYTES - WMK_CHUNK_HEADER_BYTES;
	if (len_bytes > end - used)
		return NULL;
	__atomic_store_n(&chunk->used_bytes, (uint32_t)(used + len_bytes), __ATOMIC_RELEASE);
	return wmrt_chunk_body(chunk) + used;
}

static size_t chunk_left(const struct wmk_chunk_header *chunk)
{
	return (size_t)wmrt_chunk_span(chunk) * WMK_CHUNK_BYTES - WMK_CHUNK_HEADER_BYTES - chunk->used_bytes;
}

/* A chunk with room for len_bytes, larger the more there are already. */
static struct wmk_chunk_header *tables_chunk(size_t len_bytes)
{
	uint64_t needed = (len_bytes + WMK_CHUNK_HEADER_BYTES + WMK_CHUNK_BYTES - 1) / WMK_CHUNK_BYTES;
	uint64_t span = tables_span / 4 < MAX_GROWTH ? tables_span / 4 : MAX_GROWTH;
	struct wmk_chunk_header *chunk;

	if (span < needed)
		span = needed;
	chunk = wmrt_file_span(WMK_PATHS, (uint32_t)span);
	if (!chunk && span > needed)
		chunk = wmrt_file_span(WMK_PATHS, (uint32_t)needed);
	if (chunk)
		tables_span += wmrt_chunk_span(chunk);
	return chunk;
}

/* Whole cache lines of PATHS chunks; NULL with no room. */
static char *claim(size_t len_bytes)
{
	char *at = chunk_claim(tables_now, len_bytes);
	struct wmk_chunk_header *chunk;

	if (at)
		return at;
	chunk = tables_chunk(len_bytes);
	at = chunk_claim(chunk, len_bytes);
	if (at && (!tables_now || chunk_left(chunk) > chunk_left(tables_now)))
		tables_now = chunk;
	return at;
}

/* len_bytes is a multiple of 16. */
static char *claim_for(struct wmrt_slot_paths *mine, size_t len_bytes)
{
	char *at;

	if (len_bytes > SMALL_BYTES)
		return claim(round_up(len_bytes, LINE_BYTES));
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

/* The record and its table in the file; the order of its stores is what a reader of a killed process's file relies on. */
static void record_fill(struct wmrt_path_table *table, const struct wm1_path_function *function,
			const struct wmrt_image *image)
{
	struct wmk_paths *record = table->record;
	uint64_t *words = wmrt_path_words(table);
	uint32_t i;

	record->name_key = function->name_key;
	record->cfg_key = function->cfg_key;
	record->path_count = function->path_count;
	record->image = image->number;
	record->bits = function->bits;
	record->flags = record_flags(function);
	record->entry_count = function->entry_count;
	__atomic_store_n(&record->kind, function->kind, __ATOMIC_RELEASE);
	for (i = 0; function->kind == WM1_PATHS_PLAN && i < function->entry_count; i++)
		words[2 + 2 * i] = function->checks[i];
	words[1] = (uintptr_t)table;
	__atomic_store_n(&record->state, 1, __ATOMIC_RELEASE);
}

/* The place of a table to be, with its number. */
static struct wmrt_path_table *table_new(uint32_t *number)
{
	uint32_t page = (table_count + 1) / TABLES_PER_PAGE;
	struct wmrt_path_table *tables;

	if (page == MAX_PAGES)
		return NULL;
	if (!atomic_load(&table_pages[page])) {
		tables = wmrt_map_memory(TABLES_PER_PAGE * sizeof *tables);
		if (!tables)
			return NULL;
		atomic_store_explicit(&table_pages[page], tables, memory_order_release);
	}
	*number = ++table_count;
	return table_at(*number);
}

struct wmrt_path_table *wmrt_path_table_make(const struct wm1_path_function *function, struct wmrt_slot *slot)
{
	const struct wmrt_image *image = wmrt_image_at_locked(function->ehdr);
	struct wmrt_path_table *table = image ? table_find(function, image, slot) : NULL;
	struct table_key key = {function, 0, slot->number};
	uint32_t number;
	void *place;

	if (table || !image)
		return table;
	place = claim_for(&slot->paths, wmrt_path_record_bytes(function->kind, function->entry_count));
	table = place ? table_new(&number) : NULL;
	if (!table)
		return NULL;
	table->record = place;
	table->slot = slot->number;
	table->cache = wmrt_path_cache_none();
	record_fill(table, function, image);
	/* Without memory for the index it is only not found again. */
	key.image = image->number;
	wmrt_index_add(&table_index, key_hash(&key), table_matches, &key, number);
	table->next_of_slot = slot->paths.tables;
	slot->paths.tables = table;
	return table;
}

void *wmrt_path_alloc(size_t len_bytes)
{
	struct wmrt_slot_paths *mine = &wmrt_local.slot->paths;
	void *at;

	len_bytes = round_up(len_bytes, 16);
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

static struct wmk_path_count *counts_claim_locked(void)
{
	size_t len_bytes = COUNTS_PER_BLOCK * sizeof(struct wmk_path_count);
	char *at = chunk_claim(counts_now, len_bytes);

	if (!at) {
		struct wmk_chunk_header *chunk = wmrt_file_chunk(WMK_PATH_COUNTS, 0, 0, NULL);

		at = chunk_claim(chunk, len_bytes);
		if (at)
			counts_now = chunk;
		else
			atomic_store(&is_counts_full, true);
	}
	return (struct wmk_path_count *)(void *)at;
}

bool wmrt_path_counts_claim(struct wmrt_slot *slot)
{
	struct wmk_path_count *counts;
	struct wmrt_guard guard;

	if (atomic_load_explicit(&is_counts_full, memory_order_relaxed) || !wmrt_file_open())
		return false;
	wmrt_lock(&guard);
	counts = counts_claim_locked();
	wmrt_unlock(&guard);
	if (!counts)
		return false;
	slot->paths.counts = counts;
	slot->paths.counts_left = COUNTS_PER_BLOCK - 1;
	return true;
}
