/*
 * path_count.c - counts of paths that are in no table: wm1_path_miss and wm1_path_residual.
 *
 *      miss     r -> the pair, if it is free                 PATH_COUNTS chunk
 *               r -> cache of the table ------------------> | r count | r count | ... |
 *               r -> index of the table (uthash) ---------------^
 *
 * All of it is the table's owner's alone. A signal handler on that thread may come in between: additions to the index
 * block signals (a path is new once), lookups do not. A lookup that is interrupted by additions finds the path or does
 * not, which is looked at again with signals blocked; memory of the index is never used twice.
 */
#include "runtime/paths/path_count.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "recorder/agent.h"
#include "recorder/file.h"
#include "recorder/index.h"
#include "runtime/paths/path_space.h"
#include "runtime/paths/paths.h"
#include "recorder/process.h"
#include "waymark/runtime.h"

/* Without memory the addition fails and `is_lost` says so. Bucket arrays that grew are left as they are, for lookups that
 * were interrupted: all of them together are no larger than the one in use. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) ((entry)->is_lost = true)
#define uthash_malloc(len_bytes) wmrt_path_alloc(len_bytes)
#define uthash_free(place, len_bytes) ((void)(place))
#define HASH_KEYCMP(a, b, len_bytes) key_differs((a), (b))
#define HASH_FUNCTION(key, len_bytes, hash) ((hash) = (unsigned)key_hash(key))
#include <uthash.h>

enum {
	MIN_CACHE_BITS = 4,
	MAX_CACHE_BITS = 20,
};

struct wmrt_path_entry {
	struct wmk_path_count *record; /* in the file */
	struct wmk_path_count key;     /* r and the context: nothing is read from the record but its count */
	uint64_t adjust;               /* as in wmrt_path_table */
	bool is_lost;
	UT_hash_handle hh;
};

/* No path has this number and context. */
static struct wmk_path_count nothing = {.r = UINT64_MAX, .site = UINT32_MAX};
static struct wmrt_path_cache none = {63, 2, {&nothing, &nothing}};

struct wmrt_path_cache *wmrt_path_cache_none(void)
{
	return &none;
}

static bool key_differs(const struct wmk_path_count *a, const struct wmk_path_count *b)
{
	return a->r != b->r || a->id != b->id || a->prefix != b->prefix || a->site != b->site || a->epoch != b->epoch;
}

static uint64_t key_hash(const struct wmk_path_count *key)
{
	uint64_t hash = wmrt_hash(key->r ^ (uint64_t)key->epoch << 32, key->id);

	return wmrt_hash(hash, (uint64_t)key->prefix << 32 | key->site);
}

static inline struct wmk_path_count **cache_place(struct wmrt_path_cache *cache, uint64_t r)
{
	return &cache->records[(r * WM1_PATH_HASH) >> cache->shift];
}

static struct wmrt_path_entry *index_find(struct wmrt_path_table *table, const struct wmk_path_count *key)
{
	struct wmrt_path_entry *found;

	HASH_FIND(hh, table->overflow, key, sizeof *key, found);
	return found;
}

/* Room for as many records as there are now, twice. Without memory it stays as it is. */
static void cache_grow(struct wmrt_path_table *table)
{
	uint32_t count = HASH_COUNT(table->overflow);
	uint32_t bits = MIN_CACHE_BITS;
	struct wmrt_path_cache *cache;
	struct wmrt_path_entry *entry;
	uint32_t i;

	if (2 * count <= table->cache->size && table->cache != &none)
		return;
	while (bits < MAX_CACHE_BITS && 1u << bits < 4 * count)
		bits++;
	if (1u << bits <= table->cache->size)
		return;
	cache = wmrt_path_alloc(sizeof *cache + (sizeof cache->records[0] << bits));
	if (!cache)
		return;
	cache->shift = 64 - bits;
	cache->size = 1u << bits;
	for (i = 0; i < cache->size; i++)
		cache->records[i] = &nothing;
	for (entry = table->overflow; entry; entry = entry->hh.next)
		*cache_place(cache, entry->key.r) = entry->record;
	__atomic_store_n(&table->cache, cache, __ATOMIC_RELEASE);
}

static void record_fill(struct wmk_path_count *record, const struct wmrt_path_table *table,
			const struct wmk_path_count *key)
{
	const struct wmk_paths *of = &table->is;

	__atomic_store_n(&record->kind, of->kind, __ATOMIC_RELEASE);
	record->name_key = of->name_key;
	record->cfg_key = of->cfg_key;
	record->path_count = of->path_count;
	record->r = key->r;
	record->id = key->id;
	record->prefix = key->prefix;
	record->site = key->site;
	record->epoch = key->epoch;
	record->image = of->image;
	record->bits = of->bits;
	record->flags = of->flags | (of->kind == WM1_PATHS_PLAN ? WMK_PATHS_RESIDUAL : 0);
	__atomic_store_n(&record->state, 1, __ATOMIC_RELEASE);
}

/* Signals are blocked. NULL with no room. */
static struct wmk_path_count *record_add(struct wmrt_path_table *table, struct wmrt_thread *thread,
					 const struct wmk_path_count *key)
{
	struct wmrt_path_thread *mine = wmrt_path_thread(thread);
	struct wmrt_path_entry *entry;
	struct wmk_path_count *record;

	if (!wmrt_path_space_counts(mine))
		return NULL;
	entry = wmrt_path_alloc(sizeof *entry);
	if (!entry)
		return NULL;
	record = mine->counts;
	record_fill(record, table, key);
	entry->record = record;
	entry->key = *key;
	HASH_ADD_KEYPTR(hh, table->overflow, &entry->key, sizeof entry->key, entry);
	if (entry->is_lost) {
		__atomic_store_n(&record->state, 2, __ATOMIC_RELEASE);
		record = NULL;
	}
	mine->counts++;
	mine->counts_left--;
	return record;
}

static __attribute__((noinline)) struct wmk_path_count *record_new(struct wmrt_path_table *table,
								   const struct wmk_path_count *key)
{
	struct wmrt_thread *thread = wmrt_thread_self();
	struct wmrt_path_entry *entry;
	struct wmk_path_count *record = NULL;
	uint64_t mask;

	if (!thread || wmrt_path_space_is_full(wmrt_path_thread(thread)))
		return NULL;
	mask = wmrt_block_signals();
	/* A handler may have been faster. */
	entry = index_find(table, key);
	record = entry ? entry->record : record_add(table, thread, key);
	if (record && !entry)
		cache_grow(table);
	wmrt_unblock_signals(mask);
	return record;
}

static void count_key(struct wmrt_path_table *table, const struct wmk_path_count *key)
{
	struct wmrt_path_entry *entry = index_find(table, key);
	struct wmk_path_count *record = entry ? entry->record : record_new(table, key);

	if (!record) {
		wmrt_file_drop(offsetof(struct wmk_header, dropped_paths));
		return;
	}
	wmrt_path_count(&record->count);
	if (table->cache != &none)
		*cache_place(table->cache, key->r) = record;
}

/* Counts r in its pair; false when that is another's. A handler may take the free pair first. */
static bool count_in_pair(uint32_t bits, uint64_t *words, uint64_t r)
{
	uint64_t *pair = words + 2 + 2 * ((r * WM1_PATH_HASH) >> (64 - bits));
	uint64_t check = 0;

	if (!__atomic_compare_exchange_n(pair, &check, r, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) && check != r)
		return false;
	wmrt_path_count(pair + 1);
	return true;
}

static __attribute__((noinline, preserve_most)) void miss_slow(uint64_t *words, uint64_t r)
{
	struct wmrt_path_table *table = wmrt_path_table_of(words);
	struct wmk_path_count key = {.r = r};

	wmrt_check_fork();
	/* `discard` is one such table, counted once. */
	if (!table)
		return;
	if (table->is.kind == WM1_PATHS_HASH && table->is.entry_count && count_in_pair(table->is.bits, words, r))
		return;
	count_key(table, &key);
}

static inline __attribute__((always_inline)) void miss(uint64_t *table, uint64_t r)
{
	struct wmrt_path_table *known = wmrt_path_table_of(table);

	if (WMRT_LIKELY(known)) {
		struct wmrt_path_cache *cache = __atomic_load_n(&known->cache, __ATOMIC_ACQUIRE);
		struct wmk_path_count *record = *cache_place(cache, r);

		if (WMRT_LIKELY(record->r == r)) {
			wmrt_path_count(&record->count);
			return;
		}
	}
	miss_slow(table, r);
}

void wmrt_path_miss(uint64_t *table, uint64_t r)
{
	miss(table, r);
}

void wm1_path_miss(const struct wm1_path_function *function, uint64_t *table, uint64_t r)
{
	(void)function;
	if (WMRT_UNLIKELY(wmrt_agent()))
		wmrt_agent()->path_miss(table, r);
	else
		miss(table, r);
}

void wmrt_path_residual(const void *return_address, uint64_t *table, uint64_t r, uint32_t site)
{
	struct wmrt_path_table *known = wmrt_path_table_of(table);
	struct wmk_path_count key = {.r = r};
	struct wmk_path_count *record;

	wmrt_check_fork();
	if (!known)
		return;
	if (site) {
		wm_context c = wmrt_path_context(return_address, site);

		key.id = c.id;
		key.prefix = c.prefix;
		key.site = c.site;
		key.epoch = c.epoch;
	}
	record = *cache_place(__atomic_load_n(&known->cache, __ATOMIC_ACQUIRE), r);
	if (WMRT_LIKELY(!key_differs(record, &key)))
		wmrt_path_count(&record->count);
	else
		count_key(known, &key);
}

void wm1_path_residual(const struct wm1_path_function *function, uint64_t *table, uint64_t r, uint32_t site)
{
	const void *return_address = __builtin_return_address(0);

	(void)function;
	if (wmrt_agent())
		wmrt_agent()->path_residual(return_address, table, r, site);
	else
		wmrt_path_residual(return_address, table, r, site);
}

uint32_t wmrt_path_counts_of(const struct wmrt_path_table *table)
{
	return HASH_COUNT(table->overflow);
}

struct wmk_path_count *wmrt_path_counts_save(const struct wmrt_path_table *table, struct wmk_path_count *saved)
{
	const struct wmrt_path_entry *entry;

	for (entry = table->overflow; entry; entry = entry->hh.next) {
		record_fill(saved, table, &entry->key);
		saved->count = entry->record->count + entry->adjust;
		saved->flags |= WMK_PATHS_INHERITED;
		saved++;
	}
	return saved;
}

void wmrt_path_counts_places(const struct wmrt_path_table *table, void (*visit)(const void *place, void *arg),
			     void *arg)
{
	const struct wmrt_path_entry *entry;

	for (entry = table->overflow; entry; entry = entry->hh.next)
		visit(entry->record, arg);
}

const struct wmk_path_count *wmrt_path_counts_restore(struct wmrt_path_table *table, const struct wmk_path_count *saved,
						      bool is_inherited)
{
	struct wmrt_path_entry *entry;

	for (entry = table->overflow; entry; entry = entry->hh.next) {
		record_fill(entry->record, table, &entry->key);
		entry->adjust = is_inherited ? saved->count : 0;
		saved++;
	}
	return saved;
}

void wmrt_path_counts_adopt(struct wmrt_path_table *table)
{
	struct wmrt_path_entry *entry;

	for (entry = table->overflow; entry; entry = entry->hh.next)
		entry->adjust = -entry->record->count;
}

void wmrt_path_counts_forget(struct wmrt_path_table *table)
{
	table->cache = &none;
	table->overflow = NULL;
}
