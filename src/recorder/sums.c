/*
 * sums.c - a hash table in private memory of the records that are in the file.
 *
 *      table (linear probing, at most half full)          SUMS chunks
 *     .---------------------------------------.          .--------------------------.
 *     | key: id, prefix, site, epoch, name,   |          | record 0 | record 1 | ...|
 *     | tid, window | number of the record + 1|--------->|                          |
 *     '---------------------------------------'          '--------------------------'
 *
 * Keys are private: others may write into the file. To join two records, the one that goes is given up (state 2) before its numbers are added
 * to the other, so that a killed process counts nothing twice.
 */
#include "recorder/sums.h"

#include <stddef.h>
#include <string.h>

#include "recorder/chunkdir.h"
#include "recorder/config.h"
#include "recorder/file.h"
#include "recorder/index.h"
#include "recorder/mapping.h"
#include "recorder/sys.h"
#include "waymark/abi.h"

enum {
	PER_CHUNK = (WMK_CHUNK_BYTES - WMK_CHUNK_HEADER_BYTES) / sizeof(struct wmk_sum),
	STATE_WHOLE = 1,
	STATE_GIVEN_UP = 2,
};
#define FIRST_WINDOW_NS UINT64_C(1000000000)
#define ONE_WINDOW UINT64_MAX

struct sum {
	uint64_t id;
	uint32_t prefix, site, epoch, name, tid, window;
	uint64_t count;    /* as in the record */
	uint32_t number_1; /* of the record, + 1; 0: nothing is here */
};

/* Under the lock. */
static struct {
	struct wmrt_chunkdir chunks; /* from order 0 on, all of one size */
	uint32_t chunk_count;
	uint32_t record_count; /* that have been in use */
	struct sum *table;
	uint32_t table_size; /* a power of two */
	uint32_t sum_count;
	uint32_t *unused; /* numbers of records that were given up, room for as many as the chunks have */
	uint32_t unused_count, unused_size;
	uint64_t base_ns, window_ns; /* window_ns ONE_WINDOW: there is one */
	bool has_no_threads;
	bool is_stuck; /* even [lost] by each name needs more records than there are */
} s;

static struct wmk_sum *record_at(uint32_t number)
{
	return (struct wmk_sum *)(void *)wmrt_chunk_body(wmrt_chunkdir_get(&s.chunks, number / PER_CHUNK)) +
	       number % PER_CHUNK;
}

static uint32_t capacity(void)
{
	return s.chunk_count * PER_CHUNK;
}

static bool is_same(const struct sum *a, const struct sum *b)
{
	return a->id == b->id && a->prefix == b->prefix && a->site == b->site && a->epoch == b->epoch &&
	       a->name == b->name && a->tid == b->tid && a->window == b->window;
}

static uint64_t hash_of(const struct sum *a)
{
	uint64_t hash = wmrt_hash(a->id, (uint64_t)a->prefix << 32 | a->site);

	hash = wmrt_hash(hash, (uint64_t)a->epoch << 32 | a->name);
	return wmrt_hash(hash, (uint64_t)a->tid << 32 | a->window);
}

/* Where the sum is, or is to be. */
static struct sum *find(struct sum *table, uint32_t size, const struct sum *wanted)
{
	uint32_t i = (uint32_t)hash_of(wanted) & (size - 1);

	while (table[i].number_1 && !is_same(&table[i], wanted))
		i = (i + 1) & (size - 1);
	return &table[i];
}

/* ---- room ---- */

static bool add_chunk(void)
{
	struct wmk_chunk_header *header;
	uint32_t *unused;
	size_t unused_size = (size_t)(s.chunk_count + 1) * PER_CHUNK;

	if ((uint64_t)(s.chunk_count + 1) * WMK_CHUNK_BYTES > wmrt_config()->recent_bytes / 4 && s.chunk_count)
		return false;
	unused = wmrt_map_memory(unused_size * sizeof *unused);
	if (!unused)
		return false;
	header = wmrt_file_chunk_new(WMK_SUMS, WMRT_UNITS_MAX);
	if (!header || !wmrt_chunkdir_set(&s.chunks, s.chunk_count, header)) {
		wmrt_unmap(unused, unused_size * sizeof *unused);
		return false;
	}
	if (s.unused) {
		memcpy(unused, s.unused, s.unused_count * sizeof *unused);
		wmrt_unmap(s.unused, s.unused_size * sizeof *unused);
	}
	s.unused = unused;
	s.unused_size = (uint32_t)unused_size;
	s.chunk_count++;
	return true;
}

/* A larger table of the same sums. */
static bool grow_table(void)
{
	uint32_t size = s.table_size ? s.table_size * 2 : 4096;
	struct sum *bigger = wmrt_map_memory(size * sizeof *bigger);

	if (!bigger)
		return false;
	for (uint32_t i = 0; i < s.table_size; i++)
		if (s.table[i].number_1)
			*find(bigger, size, &s.table[i]) = s.table[i];
	if (s.table)
		wmrt_unmap(s.table, s.table_size * sizeof *s.table);
	s.table = bigger;
	s.table_size = size;
	return true;
}

bool wmrt_sums_start(void)
{
	return s.chunk_count || add_chunk();
}

void wmrt_sums_forget(void)
{
	for (uint32_t i = 0; i < s.chunk_count; i++) {
		wmrt_mapping_drop(wmrt_chunkdir_get(&s.chunks, i), WMK_CHUNK_BYTES);
		wmrt_chunkdir_set(&s.chunks, i, NULL);
	}
	if (s.table)
		wmrt_unmap(s.table, s.table_size * sizeof *s.table);
	if (s.unused)
		wmrt_unmap(s.unused, s.unused_size * sizeof *s.unused);
	s.table = NULL;
	s.unused = NULL;
	s.table_size = s.sum_count = s.unused_count = s.unused_size = s.chunk_count = s.record_count = 0;
	s.base_ns = s.window_ns = 0;
	s.has_no_threads = false;
	s.is_stuck = false;
}

/* ---- fewer sums ---- */

static void give_up(const struct sum *sum)
{
	__atomic_store_n(&record_at(sum->number_1 - 1)->state, STATE_GIVEN_UP, __ATOMIC_RELEASE);
	s.unused[s.unused_count++] = sum->number_1 - 1;
	s.sum_count--;
}

/* What `from` has is counted in `to` from here on. */
static void join(struct sum *to, const struct sum *from)
{
	struct wmk_sum *record = record_at(to->number_1 - 1);
	struct wmk_sum gone = *record_at(from->number_1 - 1);

	give_up(from);
	if (gone.start_ns < record->start_ns)
		record->start_ns = gone.start_ns;
	if (gone.end_ns > record->end_ns)
		record->end_ns = gone.end_ns;
	to->count += gone.count;
	record->value += gone.value;
	__atomic_store_n(&record->count, record->count + gone.count, __ATOMIC_RELEASE);
}

/* The key that a sum is to have. */
typedef struct sum (*renew_fn)(const struct sum *sum, uint64_t argument);

/* Gives all sums new keys; those that have one key then are one. False: without memory all stays as it is. */
static bool renew(renew_fn renewed, uint64_t argument)
{
	struct sum *old = s.table, *table = wmrt_map_memory(s.table_size * sizeof *table);

	if (!table)
		return false;
	for (uint32_t i = 0; i < s.table_size; i++) {
		struct sum sum = old[i], *place;
		struct wmk_sum *record;

		if (!sum.number_1)
			continue;
		sum = renewed(&sum, argument);
		place = find(table, s.table_size, &sum);
		if (place->number_1) {
			join(place, &sum);
			continue;
		}
		*place = sum;
		if (sum.tid == old[i].tid && sum.prefix == old[i].prefix)
			continue;
		record = record_at(sum.number_1 - 1);
		__atomic_store_n(&record->state, 0, __ATOMIC_RELEASE);
		record->tid = sum.tid;
		record->id = sum.id;
		record->prefix = sum.prefix;
		record->site = sum.site;
		record->epoch = sum.epoch;
		__atomic_store_n(&record->state, STATE_WHOLE, __ATOMIC_RELEASE);
	}
	wmrt_unmap(old, s.table_size * sizeof *old);
	s.table = table;
	return true;
}

static struct sum with_half_the_windows(const struct sum *sum, uint64_t unused)
{
	struct sum ret = *sum;

	(void)unused;
	ret.window /= 2;
	return ret;
}

static struct sum without_thread(const struct sum *sum, uint64_t unused)
{
	struct sum ret = *sum;

	(void)unused;
	ret.tid = 0;
	return ret;
}

/* Of contexts with so many events or fewer only their name is left. */
static struct sum without_small(const struct sum *sum, uint64_t most)
{
	struct sum ret = *sum;

	if (sum->count > most)
		return ret;
	ret.id = 0;
	ret.site = ret.epoch = 0;
	ret.prefix = WM_PREFIX_LOST;
	return ret;
}

static bool has_windows(void)
{
	for (uint32_t i = 0; i < s.table_size; i++)
		if (s.table[i].number_1 && s.table[i].window)
			return true;
	return false;
}

static uint64_t most_events(void)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < s.table_size; i++)
		if (s.table[i].number_1 && s.table[i].prefix != WM_PREFIX_LOST && s.table[i].count > most)
			most = s.table[i].count;
	return most;
}

/* Makes room for a quarter of the records. False: that cannot be done. */
static bool make_room(void)
{
	uint32_t wanted = capacity() - capacity() / 4;
	uint64_t highest;

	if (s.is_stuck)
		return false;

	while (s.sum_count > wanted && has_windows()) {
		if (!renew(with_half_the_windows, 0))
			return false;
		s.window_ns = s.window_ns > ONE_WINDOW / 2 ? ONE_WINDOW : s.window_ns * 2;
	}
	if (s.sum_count > wanted && !s.has_no_threads) {
		if (!renew(without_thread, 0))
			return false;
		s.has_no_threads = true;
	}
	highest = most_events();
	for (uint64_t most = 1; s.sum_count > wanted && most / 2 < highest; most *= 2)
		if (!renew(without_small, most))
			return false;
	s.is_stuck = s.sum_count > wanted;
	return !s.is_stuck;
}

/* The number of a free record; false: there is none. */
static bool take_record(uint32_t *ret)
{
	if (s.unused_count)
		*ret = s.unused[--s.unused_count];
	else if (s.record_count < capacity() || add_chunk())
		*ret = s.record_count++;
	else
		return false;
	return true;
}

/* ---- adding ---- */

static uint32_t window_of(uint64_t time_ns)
{
	if (!s.base_ns) {
		s.base_ns = time_ns;
		s.window_ns = FIRST_WINDOW_NS;
	}
	return s.window_ns == ONE_WINDOW || time_ns < s.base_ns ? 0 : (uint32_t)((time_ns - s.base_ns) / s.window_ns);
}

static struct sum key_of(const struct wmk_event *e)
{
	return (struct sum){.id = e->id,
			    .prefix = e->prefix,
			    .site = e->site,
			    .epoch = e->epoch,
			    .name = e->name,
			    .tid = s.has_no_threads ? 0 : e->tid,
			    .window = window_of(e->time_ns)};
}

static void begin(struct sum *place, const struct sum *key, const struct wmk_event *e, uint32_t number)
{
	struct wmk_sum *record = record_at(number);

	*place = *key;
	place->number_1 = number + 1;
	s.sum_count++;
	*record = (struct wmk_sum){.start_ns = e->time_ns,
				   .id = key->id,
				   .prefix = key->prefix,
				   .site = key->site,
				   .name = key->name,
				   .epoch = key->epoch,
				   .tid = key->tid};
	__atomic_store_n(&record->state, STATE_WHOLE, __ATOMIC_RELEASE);
	wmrt_chunk_raise_used(wmrt_chunkdir_get(&s.chunks, number / PER_CHUNK),
			      (number % PER_CHUNK + 1) * (uint32_t)sizeof *record);
}

/* A new sum; false without room. */
static bool begin_sum(const struct wmk_event *e, struct sum **ret)
{
	struct sum key;
	uint32_t number;

	if (s.sum_count * 2 >= s.table_size && !grow_table())
		return false;
	if (!take_record(&number)) {
		if (!make_room() || !take_record(&number))
			return false;
	}
	key = key_of(e); /* of windows that may be longer now */
	*ret = find(s.table, s.table_size, &key);
	if ((*ret)->number_1)
		s.unused[s.unused_count++] = number;
	else
		begin(*ret, &key, e, number);
	return true;
}

/* Where no record is free: the sum of its name alone, if there is one. */
static bool find_lost(const struct wmk_event *e, struct sum **ret)
{
	struct sum key = key_of(e), lost;

	if (!s.table)
		return false;
	lost = without_small(&key, UINT64_MAX);
	*ret = find(s.table, s.table_size, &lost);
	return (*ret)->number_1 != 0;
}

bool wmrt_sums_add(const struct wmk_event *e)
{
	struct sum key, *sum = NULL;
	struct wmk_sum *record;

	if (!s.chunk_count)
		return false;
	if (s.table) {
		key = key_of(e);
		sum = find(s.table, s.table_size, &key);
	}
	if ((!sum || !sum->number_1) && !begin_sum(e, &sum) && !find_lost(e, &sum))
		return false;
	record = record_at(sum->number_1 - 1);
	if (e->time_ns < record->start_ns)
		record->start_ns = e->time_ns;
	if (e->time_ns > record->end_ns)
		record->end_ns = e->time_ns;
	sum->count++;
	record->value += e->value;
	__atomic_store_n(&record->count, record->count + 1, __ATOMIC_RELEASE);
	return true;
}
