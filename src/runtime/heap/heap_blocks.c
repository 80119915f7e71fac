/* heap_blocks.c - tables that are added, and what looks at all of them. See heap_blocks.h. */
#include "runtime/heap/heap_blocks.h"

#include <stdatomic.h>
#include <stddef.h>

#include "recorder/process.h"
#include "recorder/sys.h"

_Atomic(uintptr_t *) wmrt_blocks_tables[BLOCKS_TABLES];

static size_t table_bytes(int table)
{
	return blocks_place_count(table) * (sizeof(uintptr_t) + sizeof(struct wm1_heap_block));
}

/* The table, made if need be; NULL without memory. */
static uintptr_t *table_at(int table)
{
	uintptr_t *base = atomic_load_explicit(&wmrt_blocks_tables[table], memory_order_acquire);
	size_t len_bytes = table_bytes(table);
	uintptr_t *made;

	if (base)
		return base;
	made = wmrt_map_memory(len_bytes);
	if (!made)
		return NULL;
	if (atomic_compare_exchange_strong(&wmrt_blocks_tables[table], &base, made))
		return made;
	wmrt_unmap(made, len_bytes);
	return base;
}

bool wmrt_blocks_add_further(bool is_alone, uintptr_t address, struct wm1_heap_block block)
{
	for (int table = 0; table < BLOCKS_TABLES; table++) {
		uintptr_t *base = table_at(table);

		if (!base)
			return false;
		if (blocks_add_to(is_alone, base, table, address, block))
			return true;
	}
	return false;
}

struct wm1_heap_block wmrt_blocks_take_further(uintptr_t address)
{
	struct wm1_heap_block block = {0, 0, 0};

	for (int table = 1; table < BLOCKS_TABLES; table++) {
		uintptr_t *base = atomic_load_explicit(&wmrt_blocks_tables[table], memory_order_acquire);

		if (!base || blocks_take_from(base, table, address, &block))
			break;
	}
	return block;
}

void wmrt_blocks_clear(void)
{
	int table;

	for (table = 0; table < BLOCKS_TABLES; table++) {
		uintptr_t *base = atomic_exchange(&wmrt_blocks_tables[table], NULL);

		if (base)
			wmrt_unmap(base, table_bytes(table));
	}
}

void wmrt_blocks_each(uint32_t (*visit)(struct wm1_heap_block block))
{
	int table;
	size_t i;

	for (table = 0; table < BLOCKS_TABLES; table++) {
		uintptr_t *base = atomic_load_explicit(&wmrt_blocks_tables[table], memory_order_acquire);

		for (i = 0; base && i < blocks_place_count(table); i++) {
			struct blocks_place place = blocks_place_at(base, table, i);

			uint32_t record;

			if (__atomic_load_n(place.address, __ATOMIC_ACQUIRE) <= BLOCKS_BEING_WRITTEN)
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
	for (int table = 0; table < BLOCKS_TABLES; table++) {
		uintptr_t *base = atomic_load_explicit(&wmrt_blocks_tables[table], memory_order_acquire);

		for (size_t i = 0; base && i < blocks_place_count(table); i++) {
			struct blocks_place place = blocks_place_at(base, table, i);
			uintptr_t address = __atomic_load_n(place.address, __ATOMIC_ACQUIRE);

			if (address > BLOCKS_BEING_WRITTEN)
				visit(address, *place.block, data);
		}
	}
}
