/*
 * index.h - a hash index from keys to record numbers: lock-free, growing, only ever added to.
 *
 *      tables[0]: 512 buckets        tables[1]: 4096 buckets      ...
 *     .-----------------------.     .-----------------------.
 *     | 8 slots (a cache line)|     | 8 slots               |
 *     | ...                   |     | ...                   |
 *     '-----------------------'     '-----------------------'
 *
 * A key lives in the first table whose bucket for it had a free slot. Slots never become free again, so every thread
 * walks the same way: whoever adds a key meets everyone else who adds it at the same slot, and one compare-and-swap
 * decides. A free slot on the way means that the key is nowhere. Nothing moves and nobody waits: a signal handler may
 * interrupt anything.
 *
 * slot: hash bits 32..63, then the number (not 0).
 */
#ifndef WM_RECORDER_INDEX_H
#define WM_RECORDER_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WMRT_INDEX_TABLES = 7,
	WMRT_INDEX_WAYS = 8,
	WMRT_INDEX_FIRST_BITS = 9, /* buckets of the first table; each next has 8 times as many */
};

struct wmrt_index {
	_Atomic(_Atomic uint64_t *) tables[WMRT_INDEX_TABLES];
};

typedef bool (*wmrt_index_match)(const void *key, uint32_t number);

static inline _Atomic uint64_t *wmrt_index_bucket(_Atomic uint64_t *slots, int table, uint64_t hash)
{
	uint64_t mask = (UINT64_C(1) << (WMRT_INDEX_FIRST_BITS + 3 * table)) - 1;

	return slots + (hash & mask) * WMRT_INDEX_WAYS;
}

static inline bool wmrt_index_is(uint64_t slot, uint64_t hash, wmrt_index_match match, const void *key)
{
	return slot >> 32 == hash >> 32 && match(key, (uint32_t)slot);
}

/* The number of the key, 0 if it is not there. */
static inline __attribute__((always_inline)) uint32_t wmrt_index_find(struct wmrt_index *index, uint64_t hash,
								      wmrt_index_match match, const void *key)
{
	int table, way;

	for (table = 0; table < WMRT_INDEX_TABLES; table++) {
		_Atomic uint64_t *slots = atomic_load_explicit(&index->tables[table], memory_order_acquire);
		_Atomic uint64_t *bucket;

		if (!slots)
			return 0;
		bucket = wmrt_index_bucket(slots, table, hash);
		for (way = 0; way < WMRT_INDEX_WAYS; way++) {
			uint64_t slot = atomic_load_explicit(&bucket[way], memory_order_acquire);

			if (!slot)
				return 0;
			if (wmrt_index_is(slot, hash, match, key))
				return (uint32_t)slot;
		}
	}
	return 0;
}

/* Adds the key with `number`, whose record is whole, unless it is there: the number it has now; 0 without memory. */
uint32_t wmrt_index_add(struct wmrt_index *index, uint64_t hash, wmrt_index_match match, const void *key,
			uint32_t number);

/* Forgets all. Nobody uses it meanwhile. */
void wmrt_index_clear(struct wmrt_index *index);

/* Mixes a word into a hash (multiply and fold, as in wyhash). */
static inline uint64_t wmrt_hash(uint64_t seed, uint64_t word)
{
	unsigned __int128 product =
		(unsigned __int128)(seed ^ UINT64_C(0xa0761d6478bd642f)) * (word ^ UINT64_C(0xe7037ed1a0b428db));

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
