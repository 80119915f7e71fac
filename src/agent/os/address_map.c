/* address_map.c - adds keys, and makes room for them. */
#include "agent/os/address_map.h"

#include "agent/os/memory.h"

enum {
	LEAST = 256,
};

static struct address_map_table *old_tables; /* under the agent's lock */

static struct address_map_slot *slot_of(struct address_map_table *table, uint64_t key)
{
	size_t i = address_map_first(table, key);
	uint64_t found;

	while ((found = atomic_load_explicit(&table->slots[i].key, memory_order_relaxed)) != 0 && found != key)
		i = (i + 1) & (table->capacity - 1);
	return &table->slots[i];
}

static void put(struct address_map_table *table, uint64_t key, uint32_t value)
{
	struct address_map_slot *slot = slot_of(table, key);

	table->count += !slot->key;
	atomic_store_explicit(&slot->value, value, memory_order_release);
	atomic_store_explicit(&slot->key, key, memory_order_release);
}

static struct address_map_table *renewed(const struct address_map_table *old)
{
	size_t capacity = LEAST, count = 0;
	struct address_map_table *table;

	for (size_t i = 0; old && i < old->capacity; i++)
		count += old->slots[i].key && old->slots[i].value != ADDRESS_MAP_NONE;
	while (capacity < 4 * count)
		capacity *= 2;
	table = agent_alloc(sizeof *table + capacity * sizeof *table->slots);
	if (!table)
		return NULL;
	table->capacity = capacity;
	for (size_t i = 0; old && i < old->capacity; i++)
		if (old->slots[i].key && old->slots[i].value != ADDRESS_MAP_NONE)
			put(table, old->slots[i].key, old->slots[i].value);
	return table;
}

bool address_map_set(struct address_map *words, uint64_t key, uint32_t value)
{
	struct address_map_table *table = atomic_load_explicit(&words->table, memory_order_relaxed);

	if (!table || table->count * 2 >= table->capacity) {
		struct address_map_table *old = table;

		table = renewed(old);
		if (!table)
			return false;
		atomic_store_explicit(&words->table, table, memory_order_release);
		if (old) {
			old->older = old_tables;
			old_tables = old;
		}
	}
	put(table, key, value);
	return true;
}

void address_map_free_old(void)
{
	while (old_tables) {
		struct address_map_table *table = old_tables;

		old_tables = table->older;
		agent_free(table);
	}
}

void address_map_forget(struct address_map *words, uint64_t key)
{
	struct address_map_table *table = atomic_load_explicit(&words->table, memory_order_relaxed);
	struct address_map_slot *slot = table ? slot_of(table, key) : NULL;

	if (slot && slot->key)
		atomic_store_explicit(&slot->value, ADDRESS_MAP_NONE, memory_order_release);
}

void address_map_forget_range(struct address_map *words, uint64_t low, uint64_t high, unsigned int bits)
{
	struct address_map_table *table = atomic_load_explicit(&words->table, memory_order_relaxed);
	uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;

	for (size_t i = 0; table && i < table->capacity; i++) {
		uint64_t key = table->slots[i].key & mask;

		if (key >= low && key < high)
			atomic_store_explicit(&table->slots[i].value, ADDRESS_MAP_NONE, memory_order_release);
	}
}
