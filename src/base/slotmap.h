/*
 * slotmap.h - a hash map to numbers 0, 1, 2 ... whose keys the caller has in an array by number: four bytes of memory an entry and
 * nothing besides, for tables of millions. Open addressing, linear probing, at most three quarters full. All zero is an empty map.
 *
 *      slots:  | 0 | 3 | 0 | 1 | 2 | 0 | ...        number + 1 of an entry, 0: free
 *
 * Hashes and comparisons are inline functions of the caller's, so a look-up is one loop.
 */
#ifndef WM_BASE_SLOTMAP_H
#define WM_BASE_SLOTMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"

struct slotmap {
	uint32_t *slots;
	size_t slot_count; /* 0 or a power of two */
	uint32_t count;
};

static inline uint64_t slotmap_hash(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b >> 32 ^ b << 32) * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 32 ^ b) * UINT64_C(0xd6e8feb86659fd93);
	return h ^ h >> 32;
}

static inline void slotmap_deinit(struct slotmap *map)
{
	free(map->slots);
	*map = (struct slotmap){0};
}

/* hash_of(keys, number): of an entry that is in the map. */
static inline __attribute__((always_inline)) struct error *
slotmap_reserve(struct slotmap *map, uint64_t (*hash_of)(const void *keys, uint32_t number), const void *keys)
{
	size_t slot_count = map->slot_count ? map->slot_count * 2 : 64;
	uint32_t *slots;

	if (map->count < map->slot_count / 4 * 3)
		return NULL;
	slots = map->count < UINT32_MAX - 1 ? calloc(slot_count, sizeof *slots) : NULL;
	if (!slots)
		return &error_no_memory;
	free(map->slots);
	map->slots = slots;
	map->slot_count = slot_count;
	for (uint32_t i = 0; i < map->count; i++) {
		size_t at = hash_of(keys, i) & (slot_count - 1);

		while (slots[at])
			at = (at + 1) & (slot_count - 1);
		slots[at] = i + 1;
	}
	return NULL;
}

/*
 * The slot of the entry with that hash for which is_same(keys, number, key) holds, else a free one. To add the entry, the caller stores
 * ++map->count in it. There must be room: slotmap_reserve.
 */
static inline __attribute__((always_inline)) uint32_t *
slotmap_find(struct slotmap *map, uint64_t hash, bool (*is_same)(const void *keys, uint32_t number, const void *key),
	     const void *keys, const void *key)
{
	size_t at = hash & (map->slot_count - 1);

	while (map->slots[at] && !is_same(keys, map->slots[at] - 1, key))
		at = (at + 1) & (map->slot_count - 1);
	return &map->slots[at];
}

#endif
