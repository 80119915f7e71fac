/*
 * chunkdir.h - the chunks of one kind by their order: a two-level table that only grows.
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
};

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
