/*
 * chunkdir.h - the chunks of one kind by their order: a two-level table that only grows.
 *
 *      order of a chunk     0   1   2   3   4   5   ...
 *      units of 4096 bytes  1   2   4   8  16  16   ...
 *
 * Most processes need little of each kind: the first chunks are small, so that a short process leaves a small file.
 *
 * What the process has to know of a chunk stands here, in private memory: the chunk's own header is for readers of the file, and others
 * may be able to write into that.
 *
 * Readers take no lock; a writer holds the runtime's lock (process.h). Pages of the second level are never freed.
 */
#ifndef WM_RECORDER_CHUNKDIR_H
#define WM_RECORDER_CHUNKDIR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/sys.h"
#include "waymark/wmk.h"

enum {
	WMRT_CHUNKDIR_TOP = 2112, /* times a page of 1024 chunks: more than 2^32 records of 32 bytes */
	WMRT_CHUNKDIR_PAGE = 1024,
	WMRT_SMALL_ORDERS = 4,
	WMRT_UNITS_MAX = 1 << WMRT_SMALL_ORDERS,
};
_Static_assert(WMRT_UNITS_MAX *WMK_UNIT_BYTES == WMK_CHUNK_BYTES, "a large chunk");

static inline __attribute__((always_inline)) uint32_t wmrt_chunk_units(uint32_t order)
{
	return order < WMRT_SMALL_ORDERS ? UINT32_C(1) << order : (uint32_t)WMRT_UNITS_MAX;
}

static inline __attribute__((always_inline)) uint32_t wmrt_body_bytes(uint32_t units)
{
	return units * WMK_UNIT_BYTES - WMK_CHUNK_HEADER_BYTES;
}

/* How many records of that size the chunk of that order has room for. */
static inline __attribute__((always_inline)) uint32_t wmrt_chunk_capacity(uint32_t order, uint32_t record_bytes)
{
	return wmrt_body_bytes(wmrt_chunk_units(order)) / record_bytes;
}

/* How many records the chunks before it have room for. */
static inline __attribute__((always_inline)) uint64_t wmrt_chunk_start(uint32_t order, uint32_t record_bytes)
{
	uint64_t start = 0;

	for (uint32_t i = 0; i < WMRT_SMALL_ORDERS && i < order; i++)
		start += wmrt_chunk_capacity(i, record_bytes);
	if (order > WMRT_SMALL_ORDERS)
		start += (uint64_t)(order - WMRT_SMALL_ORDERS) * wmrt_chunk_capacity(WMRT_SMALL_ORDERS, record_bytes);
	return start;
}

/* Where record `number` of a kind is. */
struct wmrt_place {
	uint32_t order; /* of its chunk */
	uint32_t i;     /* in the chunk */
};

static inline __attribute__((always_inline)) struct wmrt_place wmrt_place_of(uint64_t number, uint32_t record_bytes)
{
	/* Constants, where record_bytes is one. */
	const uint64_t start_1 = wmrt_chunk_capacity(0, record_bytes);
	const uint64_t start_2 = start_1 + wmrt_chunk_capacity(1, record_bytes);
	const uint64_t start_3 = start_2 + wmrt_chunk_capacity(2, record_bytes);
	const uint64_t large = start_3 + wmrt_chunk_capacity(3, record_bytes);
	const uint32_t per_chunk = wmrt_chunk_capacity(WMRT_SMALL_ORDERS, record_bytes);

	_Static_assert(WMRT_SMALL_ORDERS == 4, "small orders");
	if (number >= large)
		return (struct wmrt_place){WMRT_SMALL_ORDERS + (uint32_t)((number - large) / per_chunk),
					   (uint32_t)((number - large) % per_chunk)};
	if (number < start_1)
		return (struct wmrt_place){0, (uint32_t)number};
	if (number < start_2)
		return (struct wmrt_place){1, (uint32_t)(number - start_1)};
	if (number < start_3)
		return (struct wmrt_place){2, (uint32_t)(number - start_2)};
	return (struct wmrt_place){3, (uint32_t)(number - start_3)};
}

/* All but `header` are the writer's own, and set by who uses them. */
struct wmrt_chunk {
	_Atomic(struct wmk_chunk_header *) header; /* where it is mapped; NULL: there is none */
	uint64_t first;
	uint32_t used_bytes;
	uint32_t span;
	enum wmk_kind kind;
};

/* Aligned as large objects are: the linker puts small variables together, behind those (src/sampler/meson.build). */
struct wmrt_chunkdir {
	_Alignas(64) _Atomic(struct wmrt_chunk *) pages[WMRT_CHUNKDIR_TOP];
};

/* NULL if there never was such a chunk. */
static inline struct wmrt_chunk *wmrt_chunkdir_at(struct wmrt_chunkdir *dir, uint32_t i)
{
	struct wmrt_chunk *page = atomic_load_explicit(&dir->pages[i / WMRT_CHUNKDIR_PAGE], memory_order_acquire);

	return page ? &page[i % WMRT_CHUNKDIR_PAGE] : NULL;
}

/* NULL if there is no such chunk. */
static inline struct wmk_chunk_header *wmrt_chunkdir_get(struct wmrt_chunkdir *dir, uint32_t i)
{
	struct wmrt_chunk *chunk = wmrt_chunkdir_at(dir, i);

	return chunk ? atomic_load_explicit(&chunk->header, memory_order_acquire) : NULL;
}

/* Under the lock. NULL without memory. */
static inline struct wmrt_chunk *wmrt_chunkdir_set(struct wmrt_chunkdir *dir, uint32_t i,
						   struct wmk_chunk_header *header)
{
	struct wmrt_chunk *page = atomic_load(&dir->pages[i / WMRT_CHUNKDIR_PAGE]);

	if (!page) {
		page = wmrt_map_memory(WMRT_CHUNKDIR_PAGE * sizeof *page);
		if (!page)
			return NULL;
		atomic_store_explicit(&dir->pages[i / WMRT_CHUNKDIR_PAGE], page, memory_order_release);
	}
	atomic_store_explicit(&page[i % WMRT_CHUNKDIR_PAGE].header, header, memory_order_release);
	return &page[i % WMRT_CHUNKDIR_PAGE];
}

#endif
