/* heap_memo.c - a direct-mapped table; later calls take the place of earlier ones. */
#include "runtime/heap/heap_memo.h"

#include <stdatomic.h>
#include <string.h>

#include "recorder/index.h"

enum {
	ENTRIES = 2048, /* a power of two */
};

/* One cache line. All zero has no record. */
static struct entry {
	_Atomic uint32_t version;
	_Atomic uint32_t record; /* plus 1 */
	struct heap_point point;
} __attribute__((aligned(64))) entries[ENTRIES];

static struct entry *entry_of(const struct heap_point *p)
{
	return &entries[wmrt_hash(p->call ^ (uint64_t)p->prefix << 32 ^ (uint64_t)p->size_class << 26, p->id) % ENTRIES];
}

static bool is_same(const struct heap_point *a, const struct heap_point *b)
{
	return a->call == b->call && a->id == b->id && a->prefix == b->prefix && a->epoch == b->epoch &&
	       a->generation == b->generation && a->size_class == b->size_class;
}

bool heap_memo_find(const struct heap_point *point, uint32_t *ret)
{
	struct entry *e = entry_of(point);
	uint32_t version = atomic_load_explicit(&e->version, memory_order_acquire);
	uint32_t record = atomic_load_explicit(&e->record, memory_order_relaxed);
	bool is_it = record && is_same(&e->point, point);

	atomic_thread_fence(memory_order_acquire);
	*ret = record - 1;
	return is_it && !(version & 1) && atomic_load_explicit(&e->version, memory_order_relaxed) == version;
}

void heap_memo_set(const struct heap_point *point, uint32_t record)
{
	struct entry *e = entry_of(point);
	uint32_t version = atomic_load_explicit(&e->version, memory_order_relaxed);

	if (version & 1 || !atomic_compare_exchange_strong(&e->version, &version, version + 1))
		return;
	atomic_thread_fence(memory_order_release);
	e->point = *point;
	atomic_store_explicit(&e->record, record + 1, memory_order_relaxed);
	atomic_store_explicit(&e->version, version + 2, memory_order_release);
}

void heap_memo_clear(void)
{
	memset(entries, 0, sizeof entries);
}
