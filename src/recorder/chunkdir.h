/*
 * chunkdir.h - the chunks of one kind by their order: a two-level table that only grows.
 *
 * Readers take no lock; a writer holds the runtime's lock (process.h). Pages of the second level are never freed.
 */
#ifndef WM_RECORDER_CHUNKDIR_H
#define WM_RECORDER_CHUNKDIR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "recorder/sys.h"
#include "waymark/wmk.h"

enum {
	WMRT_CHUNKDIR_TOP = 2112, /* times a page of 1024 chunks: more than 2^32 records of 32 bytes */
	WMRT_CHUNKDIR_PAGE = 1024,
};

struct wmrt_chunkdir {
	_Atomic(_Atomic(struct wmk_chunk_header *) *) pages[WMRT_CHUNKDIR_TOP];
};

/* NULL if there is no such chunk. */
static inline struct wmk_chunk_header *wmrt_chunkdir_get(struct wmrt_chunkdir *dir, uint32_t i)
{
	_Atomic(struct wmk_chunk_header *) *page =
		atomic_load_explicit(&dir->pages[i / WMRT_CHUNKDIR_PAGE], memory_order_acquire);

	return page ? atomic_load_explicit(&page[i % WMRT_CHUNKDIR_PAGE], memory_order_acquire) : NULL;
}

/* Under the lock. False without memory. */
static inline bool wmrt_chunkdir_set(struct wmrt_chunkdir *dir, uint32_t i, struct wmk_chunk_header *chunk)
{
	_Atomic(struct wmk_chunk_header *) *page = atomic_load(&dir->pages[i / WMRT_CHUNKDIR_PAGE]);

	if (!page) {
		page = wmrt_map_memory(WMRT_CHUNKDIR_PAGE * sizeof *page);
		if (!page)
			return false;
		atomic_store_explicit(&dir->pages[i / WMRT_CHUNKDIR_PAGE], page, memory_order_release);
	}
	atomic_store_explicit(&page[i % WMRT_CHUNKDIR_PAGE], chunk, memory_order_release);
	return true;
}

#endif
