/*
 * path_space.h - where path counters lie: chunks of the file, and private memory for what belongs to them.
 */
#ifndef WM_RUNTIME_PATHS_PATH_SPACE_H
#define WM_RUNTIME_PATHS_PATH_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/thread.h"
#include "waymark/wmk.h"

/* The client's slot in each thread's record. Written by the owner only, with all signals blocked. A later owner goes on with it. */
struct wmrt_path_thread {
	struct wmrt_path_table *tables; /* newest first */
	char *block;                    /* free space of a PATHS chunk */
	struct wmk_path_count *counts;  /* free records of a PATH_COUNTS chunk */
	char *arena;                    /* free private memory */
	size_t arena_left_bytes;
	uint32_t block_left_bytes;
	uint32_t counts_left;
	uint32_t discard_count; /* functions that found no room */
};
extern struct wmrt_client_slot wmrt_path_slot __attribute__((visibility("hidden")));

static inline struct wmrt_path_thread *wmrt_path_thread(struct wmrt_thread *thread)
{
	return wmrt_thread_slot(thread, &wmrt_path_slot);
}

/* Space of a PATHS chunk, zeroed; len_bytes is a multiple of 16. NULL with no room. Under the lock. */
void *wmrt_path_space_claim(struct wmrt_path_thread *mine, size_t len_bytes);
/* Sees to it that counts_left is not 0; false with no room. Signals are blocked. */
bool wmrt_path_space_counts(struct wmrt_path_thread *mine);
/* There was no room for single counts, and no more is looked for. No lock. */
bool wmrt_path_space_is_full(const struct wmrt_path_thread *mine);
/* Private memory of this thread's record, zeroed, never freed; signals are blocked. NULL without memory. */
void *wmrt_path_alloc(size_t len_bytes);

/* Is there anything in a file of this process? No lock. */
bool wmrt_path_space_is_used(void);
/* The chunk that has that address; hint is where to look first, and is updated. */
uint32_t wmrt_path_space_chunk_of(const void *address, uint32_t *hint);
uint32_t wmrt_path_space_chunk_count(void);
/* In a forked child, under the lock: puts new space, all zero, in the place of the parent's: of the child's own file where
 * is_kept says so (NULL: nowhere), memory elsewhere. False: the file had no room for all that, and all is memory. */
bool wmrt_path_space_renew(const bool *is_kept, uint32_t count);

#endif
