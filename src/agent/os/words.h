/*
 * words.h - a hash table from 64-bit keys to 32-bit values, in the agent's memory. The agent's lock is held to change it; it is read
 * without a lock, in any thread and signal handler.
 *
 * Open addressing. A table that is half full is followed by one of twice the size; the old one stays for who still reads it, until
 * words_free_old.
 */
#ifndef WM_AGENT_WORDS_H
#define WM_AGENT_WORDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No value. */
#define WORDS_NONE UINT32_MAX

struct words_slot {
	_Atomic uint64_t key;   /* 0: free; written last */
	_Atomic uint32_t value; /* WORDS_NONE: forgotten */
};

struct words_table {
	size_t capacity, count;    /* a power of two */
	struct words_table *older; /* of those that a larger one has followed */
	struct words_slot slots[];
};

/* All zero is empty. */
struct words {
	_Atomic(struct words_table *) table;
};

static inline size_t words_first(const struct words_table *table, uint64_t key)
{
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (table->capacity - 1);
}

/* key is not 0. False: it is not there. */
static inline bool words_find(const struct words *words, uint64_t key, uint32_t *ret)
{
	const struct words_table *table = atomic_load_explicit(&words->table, memory_order_acquire);

	if (!table)
		return false;
	for (size_t i = words_first(table, key);; i = (i + 1) & (table->capacity - 1)) {
		uint64_t found = atomic_load_explicit(&table->slots[i].key, memory_order_acquire);
		uint32_t value;

		if (!found)
			return false;
		if (found != key)
			continue;
		value = atomic_load_explicit(&table->slots[i].value, memory_order_acquire);
		if (value == WORDS_NONE)
			return false;
		*ret = value;
		return true;
	}
}

/* Adds the key or replaces its value, which is not WORDS_NONE. False without memory. Under the agent's lock. */
bool words_set(struct words *words, uint64_t key, uint32_t value);
/* Tables that larger ones have followed are freed: no other thread is in one. Under the agent's lock. */
void words_free_old(void);
/* It is found no more. Under the agent's lock. */
void words_forget(struct words *words, uint64_t key);
/* The same of all keys that are in [low, high) without their bits above `bits`. */
void words_forget_range(struct words *words, uint64_t low, uint64_t high, unsigned int bits);

#endif
