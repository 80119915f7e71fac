/*
 * heap_blocks.c - a hash table of live blocks in tables of growing size.
 *
 *      table k: buckets of 8 places:   addresses (one cache line) | blocks
 *
 * A block goes to the first free place of its bucket in the first table that has one; it is looked for in the same
 * places. Nothing moves when a table is added. A place is free (0), being written (1) or has an address; the address
 * is stored last, so that a forked child finds only whole blocks.
 */
#include "runtime/heap/heap_blocks.h"

#include <stdatomic.h>
#include <stddef.h>

#include "recorder/index.h"
#include "recorder/sys.h"
#include "runtime/heap/counter.h"
#include "waymark/runtime.h"

enum {
	TABLES = 5,
	FIRST_BITS = 11, /* buckets of the first table; each next has 8 times as many */
	WAYS = 8,
	FREE = 0,
	BEING_WRITTEN = 1,
};

/* Addresses, then blocks, in one mapping. */
static _Atomic(uintptr_t *) tables[TABLES];

struct place {
	uintptr_t *address;
	struct wm1_heap_block *block;
};

static size_t place_count(int table)
{
	return (size_t)WAYS << (FIRST_BITS + 3 * table);
}

static struct place place_at(uintptr_t *base, int table, size_t i)
{
	struct wm1_heap_block *blocks = (struct wm1_heap_block *)(void *)(base + place_count(table));

	return (struct place){base + i, blocks + i};
}

static size_t bucket_of(uintptr_t address, int table)
{
	return (wmrt_hash(address, 0) & ((UINT64_C(1) << (FIRST_BITS + 3 * table)) - 1)) * WAYS;
}

static size_t table_bytes(int table)
{
	return place_count(table) * (sizeof(uintptr_t) + sizeof(struct wm1_heap_block));
}

/* The table, made if need be; NULL without memory. */
static uintptr_t *table_at(int table)
{
	uintptr_t *base = atomic_load_explicit(&tables[table], memory_order_acquire);
	size_t len_bytes = table_bytes(table);
	uintptr_t *made;

	if (base)
		return base;
	made = wmrt_map_memory(len_bytes);
	if (!made)
		return NULL;
	if (atomic_compare_exchange_strong(&tables[table], &base, made))
		return made;
	wmrt_unmap(made, len_bytes);
	return base;
}

bool wmrt_blocks_add(uintptr_t address, struct wm1_heap_block block)
{
	int table;
	size_t way;

	for (table = 0; table < TABLES; table++) {
		uintptr_t *base = table_at(table);
		size_t bucket = bucket_of(address, table);

		if (!base)
			return false;
		for (way = 0; way < WAYS; way++) {
			struct place place = place_at(base, table, bucket + way);
			uint64_t was = FREE;

			if (__atomic_load_n(place.address, __ATOMIC_RELAXED) != FREE ||
			    !counter_replace(place.address, &was, BEING_WRITTEN))
				continue;
			*place.block = block;
			__atomic_store_n(place.address, address, __ATOMIC_RELEASE);
			return true;
		}
	}
	return false;
}

void wmrt_blocks_prefetch(uintptr_t address)
{
	const uintptr_t *base = atomic_load_explicit(&tables[0], memory_order_acquire);

	if (base)
		__builtin_prefetch(base + bucket_of(address, 0), 1);
}

struct wm1_heap_block wmrt_blocks_take(uintptr_t address)
{
	struct wm1_heap_block block = {0, 0, 0};
	int table;
	size_t way;

	for (table = 0; table < TABLES; table++) {
		uintptr_t *base = atomic_load_explicit(&tables[table], memory_order_acquire);
		size_t bucket = bucket_of(address, table);

		if (!base)
			return block;
		for (way = 0; way < WAYS; way++) {
			struct place place = place_at(base, table, bucket + way);

			if (__atomic_load_n(place.address, __ATOMIC_ACQUIRE) != address)
				continue;
			block = *place.block;
			__atomic_store_n(place.address, FREE, __ATOMIC_RELEASE);
			return block;
		}
	}
	return block;
}

void wmrt_blocks_clear(void)
{
	int table;

	for (table = 0; table < TABLES; table++) {
		uintptr_t *base = atomic_exchange(&tables[table], NULL);

		if (base)
			wmrt_unmap(base, table_bytes(table));
	}
}

void wmrt_blocks_each(uint32_t (*visit)(struct wm1_heap_block block))
{
	int table;
	size_t i;

	for (table = 0; table < TABLES; table++) {
		uintptr_t *base = atomic_load_explicit(&tables[table], memory_order_acquire);

		for (i = 0; base && i < place_count(table); i++) {
			struct place place = place_at(base, table, i);

			uint32_t record;

			if (__atomic_load_n(place.address, __ATOMIC_ACQUIRE) <= BEING_WRITTEN)
				continue;
			record = visit(*place.block);
			/* In a forked child, a write copies the page. */
			if (record != place.block->record)
				place.block->record = record;
		}
	}
}

void wmrt_blocks_look(void (*visit)(uintptr_t address, struct wm1_heap_block block, void *data), void *data)
{
	for (int table = 0; table < TABLES; table++) {
		uintptr_t *base = atomic_load_explicit(&tables[table], memory_order_acquire);

		for (size_t i = 0; base && i < place_count(table); i++) {
			struct place place = place_at(base, table, i);
			uintptr_t address = __atomic_load_n(place.address, __ATOMIC_ACQUIRE);

			if (address > BEING_WRITTEN)
				visit(address, *place.block, data);
		}
	}
}
