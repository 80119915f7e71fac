/*
 * heap.c - the heap client's records: what each context allocated, freed, holds, and held when the process held the most (at_peak.h), by the
 * sizes of the blocks, and how long these lived (block_classes.h).
 *
 * libwaymark-heap.so interposes the allocator and notifies this file of every call; the records lie in HEAP
 * chunks of the .wmk and are updated in place with atomic adds, so a SIGKILL loses nothing. Record 0 of the file is
 * that of WM_PREFIX_LOST: calls whose context found no room are added up there.
 *
 * A forked child goes on with a file of its own. The blocks that were live at its fork were allocated by its parent,
 * whose file counts them; the child's counts them, and its frees of them, as inherited. So each allocation is counted
 * in one file. Live bytes for peaks are those of the process, whoever allocated them.
 */
#include "runtime/heap/heap.h"

#include <stdatomic.h>
#include <string.h>

#include "recorder/chunkdir.h"
#include "recorder/config.h"
#include "recorder/file.h"
#include "runtime/heap/at_peak.h"
#include "runtime/heap/counter.h"
#include "runtime/heap/block_classes.h"
#include "runtime/heap/heap_blocks.h"
#include "runtime/heap/reach.h"
#include "runtime/heap/timeline.h"
#include "recorder/index.h"
#include "recorder/mapping.h"
#include "recorder/memo.h"
#include "recorder/process.h"

enum {
	MAX_CHUNKS = 16384, /* 4.2 million records */
	LOST_RECORD = 0,
	/* In the record number of a live block: it was there when this process was forked. */
	BLOCK_INHERITED = 1u << 31,
	/* In that of a block that was taken: the call before, of the same thread, allocated it. */
	BLOCK_TEMPORARY = 1u << 30,
	BLOCK_RECORD = BLOCK_TEMPORARY - 1,
};

struct heap_key {
	uint64_t id;
	uint32_t prefix;
	uint32_t epoch;
	uint32_t size_class;
};

/*
 * A record's number is where it is: order of its chunk << RECORD_BITS | its index in the chunk. They are claimed in this order, but numbers past the
 * end of a chunk are none.
 */
enum {
	RECORD_BITS = 8,
};
_Static_assert((WMK_CHUNK_BYTES - WMK_CHUNK_HEADER_BYTES) / sizeof(struct wmk_heap) <= 1 << RECORD_BITS, "an index");

static struct wmrt_index record_index;                               /* key -> record + 1 */
static struct wmrt_memo record_memo;                                 /* point, size class -> record */
static _Atomic(struct wmk_chunk_header *) record_chunks[MAX_CHUNKS]; /* by order; written under the lock */
/* Allocations so far: the clock of life times. */
static uint64_t allocations;
/* Records claimed so far, private: a forked child knows what it inherited. */
static _Atomic uint32_t record_count;
/* Why nothing is recorded; 0: everything is. */
enum {
	OFF_NOT_BEGUN = 1,
	OFF_PAUSED = 2,
};
static _Atomic uint32_t off = OFF_NOT_BEGUN;
static _Atomic bool is_full;
static bool has_come_late; /* blocks of before are not known */
static uint64_t interval;  /* of sampled allocations; 0: every one is recorded. Written before `off` */
/* The block that the thread's last call allocated, all bits inverted, so that it is no pointer to that (reach.h); 0: that freed one. Its own thread's. */
static _Thread_local uintptr_t last_block __attribute__((tls_model("initial-exec")));

static inline struct wmk_chunk_header *chunk_at(uint32_t order)
{
	return atomic_load_explicit(&record_chunks[order], memory_order_acquire);
}

/* Of a record that is there. */
static inline struct wmk_heap *record_at(uint32_t number)
{
	return (struct wmk_heap *)(void *)wmrt_chunk_body(chunk_at(number >> RECORD_BITS)) +
	       (number & ((1u << RECORD_BITS) - 1));
}

static bool record_matches(const void *key, uint32_t number_plus_1)
{
	const struct heap_key *k = key;
	const struct wmk_heap *record = record_at(number_plus_1 - 1);

	return record->id == k->id && record->prefix == k->prefix && record->epoch == k->epoch &&
	       record->size_class == k->size_class;
}

static void add_chunk(uint32_t order)
{
	struct wmk_chunk_header *chunk;
	struct wmrt_guard guard;

	wmrt_lock(&guard);
	if (!chunk_at(order)) {
		chunk = wmrt_file_chunk(WMK_HEAP, wmrt_chunk_units(order),
					wmrt_chunk_start(order, sizeof(struct wmk_heap)), 0);
		atomic_store_explicit(&record_chunks[order], chunk, memory_order_release);
		if (!chunk)
			atomic_store(&is_full, true);
	}
	wmrt_unlock(&guard);
}

/* A new record with that key, whole; false with no room. */
static bool record_new(const struct heap_key *key, uint32_t *ret)
{
	struct wmrt_place place;
	struct wmk_heap *record;

	if (atomic_load_explicit(&is_full, memory_order_relaxed))
		return false;
	place = wmrt_place_of(atomic_fetch_add(&record_count, 1), sizeof(struct wmk_heap));
	if (place.order >= MAX_CHUNKS) {
		atomic_store(&is_full, true);
		return false;
	}
	if (!chunk_at(place.order))
		add_chunk(place.order);
	if (!chunk_at(place.order))
		return false;
	*ret = place.order << RECORD_BITS | place.i;
	record = record_at(*ret);
	record->id = key->id;
	record->prefix = key->prefix;
	record->epoch = key->epoch;
	record->size_class = key->size_class;
	record->site = WM_SITE_FOREIGN;
	__atomic_store_n(&record->state, 1, __ATOMIC_RELEASE);
	wmrt_chunk_raise_used(chunk_at(place.order), (place.i + 1) * (uint32_t)sizeof *record);
	return true;
}

static __attribute__((noinline)) uint32_t record_add(const struct heap_key *key, uint64_t hash)
{
	uint32_t number, found;

	if (record_new(key, &number)) {
		found = wmrt_index_add(&record_index, hash, record_matches, key, number + 1);
		if (found != number + 1)
			__atomic_store_n(&record_at(number)->state, 2, __ATOMIC_RELEASE);
		if (found)
			return found - 1;
	}
	return LOST_RECORD;
}

/*
 * Records of walked contexts, which a prefix and a size class alone tell: prefix << 32 | size class << 24 | record + 1, each in one word. A later one
 * takes the place of an earlier one.
 */
enum {
	WALKED_BITS = 13,
	WALKED_RECORD_BITS = 24,
};
static _Atomic uint64_t walked_records[1 << WALKED_BITS];
_Static_assert((uint64_t)MAX_CHUNKS << RECORD_BITS < UINT64_C(1) << WALKED_RECORD_BITS, "numbers of records");

static uint32_t record_of(wm_context c, uint32_t size_class);

static inline uint32_t record_of_walk(wm_context c, uint32_t size_class)
{
	uint64_t key = (uint64_t)c.prefix << (32 - WALKED_RECORD_BITS) | size_class;
	_Atomic uint64_t *place =
		&walked_records[(c.prefix + (size_class << 26)) * UINT32_C(0x9e3779b1) >> (32 - WALKED_BITS)];
	uint64_t entry = atomic_load_explicit(place, memory_order_relaxed);
	uint32_t number;

	if (WMRT_LIKELY(entry && entry >> WALKED_RECORD_BITS == key && c.epoch == WM_EPOCH_WALKED && !c.id))
		return ((uint32_t)entry & ((1u << WALKED_RECORD_BITS) - 1)) - 1;
	number = record_of(c, size_class);
	if (number != LOST_RECORD && c.epoch == WM_EPOCH_WALKED && !c.id)
		atomic_store_explicit(place, key << WALKED_RECORD_BITS | (number + 1), memory_order_relaxed);
	return number;
}

/* The record of a call of the allocator. */
static uint32_t record_of(wm_context c, uint32_t size_class)
{
	struct heap_key key = {c.id, c.prefix, c.epoch, size_class};
	uint64_t hash = wmrt_hash(c.id ^ (uint64_t)size_class << 56, (uint64_t)c.epoch << 32 | c.prefix);
	uint32_t found;

	if (WMRT_UNLIKELY(c.prefix == WM_PREFIX_LOST)) {
		found = LOST_RECORD;
	} else {
		found = wmrt_index_find(&record_index, hash, record_matches, &key);
		found = WMRT_LIKELY(found) ? found - 1 : record_add(&key, hash);
	}
	if (WMRT_UNLIKELY(found == LOST_RECORD))
		wmrt_file_drop(offsetof(struct wmk_header, dropped_heap_calls));
	return found;
}

/* What the record of a call is a function of, and a hash of that. False: nothing is. */
static inline bool point_of(const void *return_address, enum wm1_heap_function function, uint32_t size_class,
			    struct wmrt_memo_key *key, uint64_t *hash)
{
	if (WMRT_UNLIKELY(!wmrt_heap_point(return_address, function, key)))
		return false;
	key->words[3] |= size_class;
	*hash = (key->words[0] ^ key->words[1] << 11 ^ key->words[2] << 22 ^ key->words[3] << 33) *
			UINT64_C(0x9e3779b97f4a7c15) >>
		48;
	return true;
}

/* Of a call that is like an earlier one. 0: it is not known, or none. */
static inline uint32_t record_remembered(const void *return_address, enum wm1_heap_function function,
					 uint32_t size_class)
{
	struct wmrt_memo_key key;
	uint64_t hash;

	return point_of(return_address, function, size_class, &key, &hash) ? wmrt_memo_find(&record_memo, hash, &key)
									   : 0;
}

static uint32_t record_at_call(const void *return_address, enum wm1_heap_function function, uint32_t size_class)
{
	struct wmrt_memo_key key;
	uint64_t hash;
	bool is_settled, is_point = point_of(return_address, function, size_class, &key, &hash);
	uint32_t number = is_point ? wmrt_memo_find(&record_memo, hash, &key) : 0;

	if (number)
		return number;
	number = record_of(wmrt_heap_context(return_address, function, &is_settled), size_class);
	if (is_point && is_settled && number != LOST_RECORD)
		wmrt_memo_set(&record_memo, hash, &key, number);
	return number;
}

/*
 * What a block has beside its address: size_bytes has the size in the lower 48 bits, which addresses have, and above it the upper 16 bits of the
 * number of its allocation, of which `count` has the lower ones. Where allocations are sampled, size_bytes is the size and count the count.
 */
enum {
	BLOCK_SIZE_BITS = 48,
};

static inline struct wm1_heap_block block_born(uint64_t size_bytes, uint32_t number, uint64_t birth)
{
	return (struct wm1_heap_block){size_bytes | birth >> 32 << BLOCK_SIZE_BITS, number + 1, (uint32_t)birth};
}

/* is_sampled: allocations are, here and below. */
static inline uint64_t block_size(bool is_sampled, struct wm1_heap_block block)
{
	return is_sampled ? block.size_bytes : block.size_bytes & ((UINT64_C(1) << BLOCK_SIZE_BITS) - 1);
}

static inline uint32_t block_count(bool is_sampled, struct wm1_heap_block block)
{
	return is_sampled ? block.count : 1;
}

/* Its index in lives. */
static inline uint32_t block_life(bool is_sampled, struct wm1_heap_block block)
{
	uint64_t birth = block.size_bytes >> BLOCK_SIZE_BITS << 32 | block.count;

	return is_sampled ? 0 : life_class_of(__atomic_load_n(&allocations, __ATOMIC_RELAXED) - birth);
}

/* The bytes are about to be added to those of the record. Returns the live bytes of the process. */
static inline uint64_t count_live(bool is_alone, struct wmk_heap *record, uint64_t bytes)
{
	struct wmk_header *header = wmrt_file_header();
	uint64_t all = counter_fetch_add(is_alone, &header->heap_live_bytes, bytes) + bytes;

	if (all > __atomic_load_n(&header->heap_peak_bytes, __ATOMIC_RELAXED))
		at_peak_raise(is_alone, header, all);
	else
		at_peak_keep(header, record);
	return all;
}

static inline void count_alloc(bool is_alone, uint32_t number, uint64_t size_bytes, uint64_t count)
{
	struct wmk_heap *record = record_at(number);
	uint64_t bytes = size_bytes * count, all = count_live(is_alone, record, bytes);

	counter_add(is_alone, &record->count, count);
	counter_add(is_alone, &record->bytes, bytes);
	if (WMRT_UNLIKELY(timeline_is_due(all)))
		wmrt_timeline_add(all);
}

static inline bool is_ready(void)
{
	return !atomic_load_explicit(&off, memory_order_acquire) && wmrt_file_open();
}

static bool has_begun(void)
{
	return !(atomic_load(&off) & OFF_NOT_BEGUN);
}

static uint32_t header_flags(void)
{
	return has_begun() ? WMK_FLAG_HEAP : 0;
}

void wm1_heap_start(void)
{
	struct heap_key lost = {0, WM_PREFIX_LOST, WM_EPOCH_COMPILED, WMK_SIZE_MIXED};
	uint32_t number;

	if (has_begun() || !wmrt_file_open())
		return;
	if (!record_new(&lost, &number) || number != LOST_RECORD)
		return;
	wmrt_file_header()->heap_interval_bytes = interval;
	__atomic_fetch_or(&wmrt_file_header()->flags, WMK_FLAG_HEAP, __ATOMIC_RELAXED);
	atomic_fetch_and(&off, ~(uint32_t)OFF_NOT_BEGUN);
}

static int start_records(uint64_t interval_bytes)
{
	if (!has_begun())
		interval = interval_bytes;
	wm1_heap_start();
	return has_begun();
}

/* Forgets the records of the former recording. */
static void forget_records(void)
{
	uint32_t order, count = atomic_exchange(&record_count, 0);

	for (order = 0; order < MAX_CHUNKS && wmrt_chunk_start(order, sizeof(struct wmk_heap)) < count; order++)
		wmrt_mapping_drop(atomic_exchange(&record_chunks[order], NULL),
				  (size_t)wmrt_chunk_units(order) * WMK_UNIT_BYTES);
	wmrt_index_clear(&record_index);
	wmrt_memo_clear(&record_memo);
	for (size_t i = 0; i < sizeof walked_records / sizeof *walked_records; i++)
		atomic_store(&walked_records[i], 0);
	wmrt_blocks_clear();
	wmrt_timeline_begin();
	last_block = 0;
	allocations = 0;
	atomic_store(&is_full, false);
}

bool wmrt_heap_begin(void)
{
	forget_records();
	has_come_late = true;
	wm1_heap_start();
	return has_begun();
}

void wmrt_heap_end(void)
{
	atomic_fetch_or(&off, OFF_NOT_BEGUN);
}

void wmrt_heap_pause(void)
{
	atomic_fetch_or(&off, OFF_PAUSED);
}

void wmrt_heap_resume(void)
{
	atomic_fetch_and(&off, ~(uint32_t)OFF_PAUSED);
}

void wmrt_heap_prefetch(const void *block)
{
	wmrt_blocks_prefetch((uintptr_t)block);
}

void wm1_heap_alloc(void *block, size_t size_bytes)
{
	wmrt_own_heap_alloc_from(block, size_bytes, NULL, WM1_HEAP_MALLOC);
}

static inline __attribute__((always_inline)) void add_block(bool is_alone, bool is_sampled, void *block,
							    size_t size_bytes, uint32_t count, uint32_t number)
{
	struct wm1_heap_block known = {size_bytes, number + 1, count};

	last_block = ~(uintptr_t)block;
	if (!is_sampled)
		known = block_born(size_bytes, number, counter_fetch_add(is_alone, &allocations, 1) + 1);
	if (WMRT_LIKELY(wmrt_blocks_add(is_alone, (uintptr_t)block, known)))
		count_alloc(is_alone, number, size_bytes, block_count(is_sampled, known));
	else
		wmrt_file_drop(offsetof(struct wmk_header, dropped_heap_calls));
}

/*
 * Every allocation is recorded, and the file is open: what most calls are has code of its own, which asks that once. All that is rare comes behind
 * it, in functions that take all of the call: what would have to be kept for them would make each call dearer.
 */
static inline bool is_simple(void)
{
	return WMRT_LIKELY(!atomic_load_explicit(&off, memory_order_acquire) && !interval && wmrt_file_is_open());
}

static inline __attribute__((always_inline)) void add_simple(void *block, size_t size_bytes, uint32_t number)
{
	if (WMRT_LIKELY(counter_is_alone()))
		add_block(true, false, block, size_bytes, 1, number);
	else
		add_block(false, false, block, size_bytes, 1, number);
}

static __attribute__((noinline)) void alloc_any(void *block, size_t size_bytes, const void *return_address,
						enum wm1_heap_function function)
{
	if (is_ready())
		add_block(counter_is_alone(), interval, block, size_bytes, 1,
			  record_at_call(return_address, function, size_class_of(size_bytes)));
}

void wm1_heap_alloc_from(void *block, size_t size_bytes, const void *return_address, enum wm1_heap_function function)
{
	uint32_t number = 0;

	if (is_simple())
		number = record_remembered(return_address, function, size_class_of(size_bytes));
	if (WMRT_LIKELY(number))
		add_simple(block, size_bytes, number);
	else
		alloc_any(block, size_bytes, return_address, function);
}

static void alloc_in(void *block, size_t size_bytes, uint32_t count, wm_context context)
{
	uint32_t number;

	if (WMRT_UNLIKELY(!is_ready()))
		return;
	number = record_of_walk(context, size_class_of(size_bytes));
	if (is_simple())
		add_simple(block, size_bytes, number);
	else
		add_block(counter_is_alone(), interval, block, size_bytes, count, number);
}

/* Notes that a call of the thread's frees the block. */
static inline __attribute__((always_inline)) struct wm1_heap_block with_last(void *block, struct wm1_heap_block taken)
{
	if (last_block == ~(uintptr_t)block && taken.record && !interval)
		taken.record |= BLOCK_TEMPORARY;
	last_block = 0;
	return taken;
}

struct wm1_heap_block wm1_heap_take(void *block)
{
	return WMRT_LIKELY(is_ready()) ? with_last(block, wmrt_blocks_take((uintptr_t)block))
				       : (struct wm1_heap_block){0, 0, 0};
}

void wm1_heap_put_back(void *block, struct wm1_heap_block taken)
{
	taken.record &= ~(uint32_t)BLOCK_TEMPORARY;
	if (taken.record && is_ready())
		wmrt_blocks_add(counter_is_alone(), (uintptr_t)block, taken);
}

static inline __attribute__((always_inline)) void count_freed(bool is_alone, bool is_sampled,
							      struct wm1_heap_block taken)
{
	struct wmk_header *header = wmrt_file_header();
	struct wmk_heap *record = record_at((taken.record & BLOCK_RECORD) - 1);
	uint64_t count = block_count(is_sampled, taken), bytes = block_size(is_sampled, taken) * count, all;

	all = counter_fetch_add(is_alone, &header->heap_live_bytes, -bytes) - bytes;
	at_peak_keep(header, record);
	if (WMRT_UNLIKELY(taken.record & BLOCK_INHERITED)) {
		counter_add(is_alone, &record->inherited_freed_count, count);
		counter_add(is_alone, &record->inherited_freed_bytes, bytes);
	} else {
		counter_add(is_alone, &record->lives[block_life(is_sampled, taken)], count);
		counter_add(is_alone, &record->freed_bytes, bytes);
	}
	if (taken.record & BLOCK_TEMPORARY)
		counter_add(is_alone, &record->temporary_count, count);
	if (WMRT_UNLIKELY(timeline_is_due(all)))
		wmrt_timeline_add(all);
}

static __attribute__((noinline)) void freed_any(struct wm1_heap_block taken)
{
	if (!is_ready())
		return;
	if (taken.record)
		count_freed(counter_is_alone(), interval, taken);
	else
		counter_add(false, &wmrt_file_header()->heap_unknown_frees, 1);
}

static inline __attribute__((always_inline)) void freed_simple(struct wm1_heap_block taken)
{
	if (WMRT_LIKELY(counter_is_alone()))
		count_freed(true, false, taken);
	else
		count_freed(false, false, taken);
}

void wm1_heap_freed(struct wm1_heap_block taken)
{
	if (WMRT_LIKELY(taken.record) && is_simple())
		freed_simple(taken);
	else
		freed_any(taken);
}

static __attribute__((noinline)) void free_any(void *block)
{
	if (is_ready())
		freed_any(with_last(block, wmrt_blocks_take((uintptr_t)block)));
}

void wm1_heap_free(void *block)
{
	struct wm1_heap_block taken;

	if (is_simple() && WMRT_LIKELY(wmrt_blocks_take_first((uintptr_t)block, &taken)))
		freed_simple(with_last(block, taken));
	else
		free_any(block);
}

#define OWN(name) WMRT_HEAP_OWN(name) __attribute__((alias("wm1_heap_" #name)))
OWN(start);
OWN(alloc);
OWN(alloc_from);
OWN(take);
OWN(put_back);
OWN(freed);

const struct wm1_heap_records wmrt_heap_records = {start_records, alloc_in, wmrt_own_heap_take, wmrt_own_heap_put_back,
						   wmrt_own_heap_freed};

/* Hands this instance to a heap client that was loaded before it: at its start, and with each image whose contexts it knows. */
static void attach(void)
{
	static const struct wm1_heap_client client = {wmrt_own_heap_start, wmrt_own_heap_alloc, wmrt_own_heap_take,
						      wmrt_own_heap_put_back, wmrt_own_heap_freed};

	if (wm1_heap_attach)
		wm1_heap_attach(&client);
}

/* Contexts without numbers. */
static void copy_records(char *to, const char *from, uint32_t len_bytes)
{
	struct wmk_heap *out = (struct wmk_heap *)(void *)to;
	const struct wmk_heap *in = (const struct wmk_heap *)(const void *)from;
	uint32_t i;

	for (i = 0; i < len_bytes / sizeof *out; i++) {
		uint32_t state = __atomic_load_n(&in[i].state, __ATOMIC_ACQUIRE);

		if (state == 1) {
			out[i].id = in[i].id;
			out[i].prefix = in[i].prefix;
			out[i].site = in[i].site;
			out[i].epoch = in[i].epoch;
			out[i].size_class = in[i].size_class;
		}
		out[i].state = state == 1 ? 1 : 2;
	}
}

/* The child's own children inherit the rest of them again. The time line begins with its first call: here the lock is held. */
static uint32_t count_inherited(struct wm1_heap_block block)
{
	struct wmk_heap *record = record_at((block.record & BLOCK_RECORD) - 1);
	uint64_t count = block_count(interval, block), bytes = block_size(interval, block) * count;

	count_live(false, record, bytes);
	counter_add(false, &record->inherited_count, count);
	counter_add(false, &record->inherited_bytes, bytes);
	return block.record | BLOCK_INHERITED;
}

static void copy_inherited(void)
{
	uint32_t count = atomic_load(&record_count);
	uint32_t capacity;

	if (!has_begun())
		return;
	wmrt_file_header()->heap_interval_bytes = interval;
	wmrt_timeline_begin();
	for (uint32_t i = 0, order = 0; i < count && order < MAX_CHUNKS; i += capacity, order++) {
		struct wmk_chunk_header *chunk = chunk_at(order);
		uint32_t n;

		capacity = wmrt_chunk_capacity(order, sizeof(struct wmk_heap));
		n = count - i < capacity ? count - i : capacity;
		if (chunk && !wmrt_file_inherit(chunk, WMK_HEAP, wmrt_chunk_units(order), i,
						n * (uint32_t)sizeof(struct wmk_heap), copy_records))
			wmrt_file_drop(offsetof(struct wmk_header, dropped_heap_calls));
	}
	wmrt_blocks_each(count_inherited);
}

/* ---- what can be reached at the end ---- */

struct collected {
	struct reach_block *blocks; /* NULL: they are only counted */
	size_t count, capacity;
};

static void collect(uintptr_t address, struct wm1_heap_block block, void *data)
{
	struct collected *c = data;

	if (c->blocks && c->count < c->capacity)
		c->blocks[c->count] = (struct reach_block){address, block_size(interval, block), block.record, 0};
	c->count += !c->blocks || c->count < c->capacity;
}

/* A block of the parent's is none of this process's, but may have pointers to such. */
static void count_unreached(const struct reach_block *blocks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct wmk_heap *record;

		if (blocks[i].next || blocks[i].record & BLOCK_INHERITED)
			continue;
		record = record_at((blocks[i].record & BLOCK_RECORD) - 1);
		counter_add(false, &record->unreached_count, 1);
		counter_add(false, &record->unreached_bytes, blocks[i].size_bytes);
	}
}

/* Registers that the callers may have kept something in are in this frame. */
static __attribute__((noinline)) enum wmk_reach look_for_pointers(void)
{
	struct collected c = {0};
	enum wmk_reach state;
	uintptr_t stack;

	__builtin_unwind_init();
	wmrt_blocks_look(collect, &c);
	c.capacity = c.count;
	c.blocks = wmrt_reach_blocks_create(c.capacity);
	if (!c.blocks)
		return WMK_REACH_NO_MEMORY;
	c.count = 0;
	wmrt_blocks_look(collect, &c);
	__asm__ volatile("movq %%rsp, %0" : "=r"(stack));
	state = wmrt_reach_mark(c.blocks, c.count, stack);
	if (state == WMK_REACH_TOLD || state == WMK_REACH_THREADS)
		count_unreached(c.blocks, c.count);
	wmrt_reach_blocks_destroy(c.blocks, c.capacity);
	return state;
}

static void tell_reach(void)
{
	static _Atomic(uint64_t) told_run;
	struct wmk_header *header = wmrt_file_header();

	if (!has_begun() || !wmrt_config()->tells_leaks || atomic_exchange(&told_run, header->run) == header->run)
		return;
	header->heap_reach = interval || has_come_late ? WMK_REACH_NOT_ALL : look_for_pointers();
}

static uint64_t count_calls(void)
{
	uint32_t count = atomic_load(&record_count);
	uint64_t calls = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct wmrt_place place = wmrt_place_of(i, sizeof(struct wmk_heap));

		if (place.order < MAX_CHUNKS && chunk_at(place.order))
			calls += __atomic_load_n(&record_at(place.order << RECORD_BITS | place.i)->count,
						 __ATOMIC_RELAXED);
	}
	return calls;
}

const struct wmrt_client wmrt_heap = {.attach = attach, .image_added = attach};
const struct wmrt_client wmrt_heap_files = {
	.header_flags = header_flags, .begin_file = copy_inherited, .count_calls = count_calls, .end = tell_reach};
