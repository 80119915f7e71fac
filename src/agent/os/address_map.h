/*
 * address_map.h - a hash table from 64-bit keys to 32-bit values, in the agent's memory. The agent's lock is held to change it; it is read
 * without a lock, in any thread and signal handler.
 *
 * Open addressing. A table that is half full is followed by one of twice the size; the old one stays for who still reads it, until
 * address_map_free_old.
 */
#ifndef WM_AGENT_WORDS_H
#define WM_AGENT_WORDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No value. */
#define ADDRESS_MAP_NONE UINT32_MAX

struct address_map_slot {
	_Atomic uint64_t key;   /* 0: free; written last */
	_Atomic uint32_t value; /* ADDRESS_MAP_NONE: forgotten */
};

struct address_map_table {
	size_t capacity, count;          /* a power of two */
	struct address_map_table *older; /* of those that a larger one has followed */
	struct address_map_slot slots[];
};

/* All zero is empty. */
struct address_map {
	_Atomic(struct address_map_table *) table;
};

static inline size_t address_map_first(const struct address_map_table *table, uint64_t key)
{
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (table->capacity - 1);
}

/* key is not 0. False: it is not there. */
static inline bool address_map_find(const struct address_map *words, uint64_t key, uint32_t *ret)
{
	const struct address_map_table *table = atomic_load_explicit(&words->table, memory_order_acquire);

	if (!table)
		return false;
	for (size_t i = address_map_first(table, key);; i = (i + 1) & (table->capacity - 1)) {
		uint64_t found = atomic_load_explicit(&table->slots[i].key, memory_order_acquire);
		uint32_t value;

		if (!found)
			return false;
		if (found != key)
			continue;
		value = atomic_load_explicit(&table->slots[i].value, memory_order_acquire);
		if (value == ADDRESS_MAP_NONE)
			return false;
		*ret = value;
		return true;
	}
}

/* Adds the key or replaces its value, which is not ADDRESS_MAP_NONE. False without memory. Under the agent's lock. */
bool address_map_set(struct address_map *words, uint64_t key, uint32_t value);
/* Tables that larger ones have followed are freed: no other thread is in one. Under the agent's lock. */
void address_map_free_old(void);
/* It is found no more. Under the agent's lock. */
void address_map_forget(struct address_map *words, uint64_t key);
/* The same of all keys that are in [low, high) without their bits above `bits`. */
void address_map_forget_range(struct address_map *words, uint64_t low, uint64_t high, unsigned int bits);

#endif
