/*
 * path_table.c - makes tables of path counters and finds them again by function and thread.
 *
 * A function is known by what it is (image, keys, kind, size), not by where its descriptor lies: after a dlclose another
 * library may lie there. An image is known by its build id, which is read again from its memory each time.
 */
#include "runtime/paths/path_table.h"

#include <stdatomic.h>
#include <string.h>

#include "recorder/image.h"
#include "recorder/index.h"
#include "runtime/paths/path_count.h"
#include "runtime/paths/path_space.h"
#include "recorder/process.h"
#include "recorder/sys.h"

_Atomic(struct wmrt_path_table *) wmrt_path_pages[WMRT_PATH_PAGES];
static struct wmrt_index table_index;
/* Under the lock. */
static uint32_t table_count;

struct table_key {
	const struct wm1_path_function *function;
	uint64_t bundle;
	uint32_t image;
	uint32_t thread;
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
		atomic_load_explicit(&wmrt_path_pages[number / WMRT_PATH_TABLES_PER_PAGE], memory_order_acquire);

	return page + number % WMRT_PATH_TABLES_PER_PAGE;
}

static uint16_t record_flags(const struct wm1_path_function *function)
{
	return function->flags & WM1_PATHS_AT_ENTRY ? WMK_PATHS_AT_ENTRY : 0;
}

static bool has_checks(const struct wmrt_path_table *table, const uint64_t *checks)
{
	const uint64_t *words = wmrt_path_words(table);
	uint32_t i;

	for (i = 0; i < table->is.entry_count; i++)
		if (words[2 + 2 * i] != checks[i])
			return false;
	return true;
}

static bool table_matches(const void *key, uint32_t number)
{
	const struct table_key *k = key;
	const struct wm1_path_function *f = k->function;
	const struct wmrt_path_table *table = table_at(number);
	const struct wmk_paths *record = &table->is;

	return table->thread == k->thread && table->bundle == k->bundle && record->image == k->image &&
	       record->name_key == f->name_key && record->cfg_key == f->cfg_key &&
	       record->path_count == f->path_count && record->kind == f->kind && record->bits == f->bits &&
	       record->flags == record_flags(f) && record->entry_count == f->entry_count &&
	       (f->kind != WM1_PATHS_PLAN || has_checks(table, f->checks));
}

static uint64_t key_hash(const struct table_key *k)
{
	uint64_t hash = wmrt_hash(k->function->name_key, k->function->cfg_key ^ k->bundle);

	return wmrt_hash(hash, (uint64_t)k->image << 32 | k->thread);
}

/* Two bundles with the same are the same; 0 of a function that is in none. */
static uint64_t bundle_hash(const struct wm1_path_function *functions)
{
	uint64_t hash = functions->more;
	uint32_t i;

	for (i = 0; hash && i <= functions->more; i++) {
		const struct wm1_path_function *f = &functions[i];

		hash = wmrt_hash(wmrt_hash(hash, f->name_key), f->cfg_key);
		hash = wmrt_hash(wmrt_hash(hash, f->path_count), (uint64_t)f->entry_count << 32 | f->flags);
	}
	return hash;
}

static struct wmrt_path_table *table_find(const struct wm1_path_function *function, const struct wmrt_image *image,
					  const struct wmrt_thread *thread)
{
	struct table_key key = {function, bundle_hash(function), image->number, thread->number};
	uint32_t number = wmrt_index_find(&table_index, key_hash(&key), table_matches, &key);

	return number ? table_at(number) : NULL;
}

struct wmrt_path_table *wmrt_path_table_find(const struct wm1_path_function *function, struct wmrt_thread *thread)
{
	const struct wmrt_image *image = wmrt_image_at(function->ehdr);

	return image ? table_find(function, image, thread) : NULL;
}

/* The record and its table in the file. A reader of a killed process's file takes a place with keys and a kind for a record,
 * and knows its size from entry_count: this comes last, and until then the record has no entries. checks: one every
 * `stride` words. */
static void record_fill(struct wmrt_path_table *table, const struct wmk_paths *from, const uint64_t *checks,
			uint32_t stride)
{
	struct wmk_paths *record = table->record;
	uint64_t *words = wmrt_path_words(table);
	uint32_t i;

	table->is = *from;
	__atomic_store_n(&record->name_key, from->name_key, __ATOMIC_RELEASE);
	__atomic_store_n(&record->cfg_key, from->cfg_key, __ATOMIC_RELEASE);
	record->path_count = from->path_count;
	record->image = from->image;
	record->bits = from->bits;
	record->flags = from->flags;
	__atomic_store_n(&record->kind, from->kind, __ATOMIC_RELEASE);
	__atomic_store_n(&record->entry_count, from->entry_count, __ATOMIC_RELEASE);
	for (i = 0; checks && i < from->entry_count; i++)
		words[2 + 2 * i] = checks[(size_t)i * stride];
	words[1] = table->number;
	__atomic_store_n(&record->state, 1, __ATOMIC_RELEASE);
}

static void record_new(struct wmrt_path_table *table, const struct wm1_path_function *function,
		       const struct wmrt_image *image)
{
	struct wmk_paths record = {
		.name_key = function->name_key,
		.cfg_key = function->cfg_key,
		.path_count = function->path_count,
		.image = image->number,
		.kind = function->kind,
		.bits = function->bits,
		.flags = record_flags(function),
		.entry_count = function->entry_count,
	};

	record_fill(table, &record, function->kind == WM1_PATHS_PLAN ? function->checks : NULL, 1);
}

void wmrt_path_table_restore(struct wmrt_path_table *table, const struct wmk_paths *saved)
{
	struct wmk_paths record = *saved;
	const uint64_t *words = (const uint64_t *)(const void *)(saved + 1);

	record.flags &= (uint16_t)~WMK_PATHS_INHERITED;
	record_fill(table, &record, record.kind == WM1_PATHS_ARRAY ? NULL : words + 2, 2);
}

/* The place of a table to be, with its number. */
static struct wmrt_path_table *table_new(uint32_t *number)
{
	uint32_t page = (table_count + 1) / WMRT_PATH_TABLES_PER_PAGE;
	struct wmrt_path_table *tables;

	if (page == WMRT_PATH_PAGES)
		return NULL;
	if (!atomic_load(&wmrt_path_pages[page])) {
		tables = wmrt_map_memory(WMRT_PATH_TABLES_PER_PAGE * sizeof *tables);
		if (!tables)
			return NULL;
		atomic_store_explicit(&wmrt_path_pages[page], tables, memory_order_release);
	}
	*number = ++table_count;
	return table_at(*number);
}

/* The table of one function at that place, not in the index yet. */
static struct wmrt_path_table *table_add(const struct wm1_path_function *function, const struct wmrt_image *image,
					 struct wmrt_thread *thread, void *place, uint32_t *number)
{
	struct wmrt_path_table *table = table_new(number);
	struct wmrt_path_thread *mine = wmrt_path_thread(thread);

	if (!table)
		return NULL;
	table->record = place;
	table->number = *number;
	table->thread = thread->number;
	table->owner = atomic_load(&thread->owner);
	table->cache = wmrt_path_cache_none();
	record_new(table, function, image);
	table->next_of_thread = mine->tables;
	mine->tables = table;
	return table;
}

struct wmrt_path_table *wmrt_path_table_make(const struct wm1_path_function *function, struct wmrt_thread *thread)
{
	const struct wmrt_image *image = wmrt_image_at_locked(function->ehdr);
	struct wmrt_path_table *first = image ? table_find(function, image, thread) : NULL;
	struct table_key key = {function, bundle_hash(function), 0, thread->number};
	struct wmrt_path_table **link = &first;
	size_t len_bytes = 0;
	uint32_t i, number, first_number = 0;
	char *place;

	if (first || !image)
		return first;
	for (i = 0; i <= function->more; i++)
		len_bytes += wmrt_path_record_bytes(function[i].kind, function[i].entry_count);
	place = wmrt_path_space_claim(wmrt_path_thread(thread), len_bytes);
	if (!place)
		return NULL;
	for (i = 0; i <= function->more; i++) {
		*link = table_add(&function[i], image, thread, place, &number);
		if (!*link)
			return NULL;
		(*link)->bundle = key.bundle;
		link = &(*link)->next_of_bundle;
		first_number = first_number ? first_number : number;
		place += wmrt_path_record_bytes(function[i].kind, function[i].entry_count);
	}
	/* Without memory for the index it is only not found again. */
	key.image = image->number;
	wmrt_index_add(&table_index, key_hash(&key), table_matches, &key, first_number);
	return first;
}

/* For a forked child: what its thread had begun and not ended. What earlier owners left unfinished is not the thread's. */
static void adopt_one(struct wmrt_path_table *table, uint64_t owner)
{
	uint64_t *words = wmrt_path_words(table);
	size_t n = (wmrt_path_record_bytes(table->is.kind, table->is.entry_count) - sizeof *table->record) / 8;
	size_t i;

	/* Not the second time: a handler may have been here first. */
	if (table->owner != owner) {
		if (!table->adjust)
			table->adjust = wmrt_path_alloc(n * sizeof *words);
		for (i = 0; table->adjust && i < n; i++)
			table->adjust[i] = -words[i];
		wmrt_path_counts_adopt(table);
		table->owner = owner;
	}
}

void wmrt_path_table_adopt(struct wmrt_path_table *table, uint64_t owner)
{
	uint64_t mask = wmrt_block_signals();

	for (; table; table = table->next_of_bundle)
		adopt_one(table, owner);
	wmrt_unblock_signals(mask);
}
