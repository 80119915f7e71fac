/* index.c - adding to an index. See index.h. */
#include "recorder/index.h"

#include "recorder/sys.h"

static size_t table_bytes(int table)
{
	return ((size_t)WMRT_INDEX_WAYS * sizeof(uint64_t)) << (WMRT_INDEX_FIRST_BITS + 3 * table);
}

void wmrt_index_clear(struct wmrt_index *index)
{
	int table;

	for (table = 0; table < WMRT_INDEX_TABLES; table++) {
		_Atomic uint64_t *slots = atomic_exchange(&index->tables[table], NULL);

		if (slots)
			wmrt_unmap((void *)slots, table_bytes(table));
	}
}

/* Adds the table; the one that is there, NULL without memory. */
static _Atomic uint64_t *wmrt_index_grow(struct wmrt_index *index, int table)
{
	_Atomic uint64_t *slots = atomic_load_explicit(&index->tables[table], memory_order_acquire);
	size_t len_bytes = table_bytes(table);
	_Atomic uint64_t *made;

	if (slots)
		return slots;
	made = wmrt_map_memory(len_bytes);
	if (!made)
		return NULL;
	if (atomic_compare_exchange_strong(&index->tables[table], &slots, made))
		return made;
	wmrt_unmap(made, len_bytes);
	return slots;
}

uint32_t wmrt_index_add(struct wmrt_index *index, uint64_t hash, wmrt_index_match match, const void *key,
			uint32_t number)
{
	uint64_t entry = (hash >> 32 << 32) | number;
	int table, way;

	for (table = 0; table < WMRT_INDEX_TABLES; table++) {
		_Atomic uint64_t *slots = wmrt_index_grow(index, table);
		_Atomic uint64_t *bucket;

		if (!slots)
			return 0;
		bucket = wmrt_index_bucket(slots, table, hash);
		for (way = 0; way < WMRT_INDEX_WAYS; way++) {
			uint64_t slot = atomic_load_explicit(&bucket[way], memory_order_acquire);

			if (!slot && atomic_compare_exchange_strong_explicit(
					     &bucket[way], &slot, entry, memory_order_acq_rel, memory_order_acquire))
				return number;
			/* Either it was taken before or someone was faster: it may be this very key. */
			if (wmrt_index_is(slot, hash, match, key))
				return (uint32_t)slot;
		}
	}
	return 0;
}
