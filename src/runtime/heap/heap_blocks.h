/*
 * heap_blocks.h - the live blocks of the heap client: address -> (size, record), a hash table in tables of growing size.
 *
 *      table k: buckets of 8 places:   addresses (one cache line) | blocks
 *
 * A block goes to the first free place of its bucket in the first table that has one; it is looked for in the same
 * places. Nothing moves when a table is added. A place is free (0), being written (1) or has an address; the address
 * is stored last, so that a forked child finds only whole blocks.
 *
 * Lock-free: a block's address belongs to one thread from the moment malloc returns it until it is given to free, so
 * no two threads ever work on the same key; only places are fought over, by compare-and-swap.
 */
#ifndef WM_RUNTIME_HEAP_HEAP_BLOCKS_H
#define WM_RUNTIME_HEAP_HEAP_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/process.h"
#include "runtime/heap/counter.h"
#include "waymark/runtime.h"

enum {
	BLOCKS_TABLES = 5,
	BLOCKS_FIRST_BITS = 12, /* buckets of the first table; each next has 8 times as many */
	BLOCKS_WAYS = 8,
	BLOCKS_FREE = 0,
	BLOCKS_BEING_WRITTEN = 1,
};

/* Addresses, then blocks, in one mapping. Written by who adds the table. */
extern _Atomic(uintptr_t *) wmrt_blocks_tables[BLOCKS_TABLES] __attribute__((visibility("hidden")));

struct blocks_place {
	uintptr_t *address;
	struct wm1_heap_block *block;
};

static inline size_t blocks_place_count(int table)
{
	return (size_t)BLOCKS_WAYS << (BLOCKS_FIRST_BITS + 3 * table);
}

static inline struct blocks_place blocks_place_at(uintptr_t *base, int table, size_t i)
{
	struct wm1_heap_block *blocks = (struct wm1_heap_block *)(void *)(base + blocks_place_count(table));

	return (struct blocks_place){base + i, blocks + i};
}

/*
 * The first place of its bucket: neighbours have neighbouring buckets, so a process whose heap is small touches little of a table. Blocks that begin
 * at the same place of many pages are spread by the number of their page.
 */
static inline size_t blocks_bucket_of(uintptr_t address, int table)
{
	return (((address >> 7) + (address >> 12)) & ((UINT64_C(1) << (BLOCKS_FIRST_BITS + 3 * table)) - 1)) *
	       BLOCKS_WAYS;
}

/* False: its bucket in that table is full. */
static inline __attribute__((always_inline)) bool blocks_add_to(bool is_alone, uintptr_t *base, int table,
								uintptr_t address, struct wm1_heap_block block)
{
	size_t bucket = blocks_bucket_of(address, table), way;

	for (way = 0; way < BLOCKS_WAYS; way++) {
		struct blocks_place place = blocks_place_at(base, table, bucket + way);
		uint64_t was = BLOCKS_FREE;

		if (__atomic_load_n(place.address, __ATOMIC_RELAXED) != BLOCKS_FREE ||
		    !counter_replace(is_alone, place.address, &was, BLOCKS_BEING_WRITTEN))
			continue;
		*place.block = block;
		__atomic_store_n(place.address, address, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

/* False: it is not there. */
static inline __attribute__((always_inline)) bool blocks_take_from(uintptr_t *base, int table, uintptr_t address,
								   struct wm1_heap_block *ret)
{
	size_t bucket = blocks_bucket_of(address, table), way;

	for (way = 0; way < BLOCKS_WAYS; way++) {
		struct blocks_place place = blocks_place_at(base, table, bucket + way);

		if (__atomic_load_n(place.address, __ATOMIC_ACQUIRE) != address)
			continue;
		*ret = *place.block;
		__atomic_store_n(place.address, BLOCKS_FREE, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

bool wmrt_blocks_add_further(bool is_alone, uintptr_t address, struct wm1_heap_block block)
	__attribute__((preserve_most));
struct wm1_heap_block wmrt_blocks_take_further(uintptr_t address);

/* The block is new. False without memory: it will not be found. is_alone: counter_is_alone(). */
static inline __attribute__((always_inline)) bool wmrt_blocks_add(bool is_alone, uintptr_t address,
								  struct wm1_heap_block block)
{
	uintptr_t *first = atomic_load_explicit(&wmrt_blocks_tables[0], memory_order_acquire);

	return (WMRT_LIKELY(first != NULL) && WMRT_LIKELY(blocks_add_to(is_alone, first, 0, address, block))) ||
	       wmrt_blocks_add_further(is_alone, address, block);
}

/* Brings the place where it mostly is nearer, for one of the others. */
static inline void wmrt_blocks_prefetch(uintptr_t address)
{
	const uintptr_t *base = atomic_load_explicit(&wmrt_blocks_tables[0], memory_order_acquire);

	if (base)
		__builtin_prefetch(base + blocks_bucket_of(address, 0), 1);
}

/* Takes the block out of the table where it mostly is. False: it is not there. */
static inline __attribute__((always_inline)) bool wmrt_blocks_take_first(uintptr_t address, struct wm1_heap_block *ret)
{
	uintptr_t *first = atomic_load_explicit(&wmrt_blocks_tables[0], memory_order_acquire);

	return WMRT_LIKELY(first != NULL) && blocks_take_from(first, 0, address, ret);
}

/* Takes the block out; record 0 if it is not there. */
static inline struct wm1_heap_block wmrt_blocks_take(uintptr_t address)
{
	struct wm1_heap_block block;

	return WMRT_LIKELY(wmrt_blocks_take_first(address, &block)) ? block : wmrt_blocks_take_further(address);
}

/* Forgets all. Nobody uses it meanwhile. */
void wmrt_blocks_clear(void);
/* Visits every block; its record becomes what is returned. For a forked child, before it allocates. */
void wmrt_blocks_each(uint32_t (*visit)(struct wm1_heap_block block));
/* Visits blocks, also while others add and take some, which it may miss. */
void wmrt_blocks_look(void (*visit)(uintptr_t address, struct wm1_heap_block block, void *data), void *data);

#endif
