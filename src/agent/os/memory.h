/*
 * memory.h - the agent's memory: from mmap, for its tables and for what src/core needs.
 *
 * Blocks up to 32 KiB are of powers of two and come back to a list of their size; larger ones are mappings of their own. The caller
 * holds the agent's lock. Nothing here calls the program's malloc.
 */
#ifndef WM_AGENT_MEMORY_H
#define WM_AGENT_MEMORY_H

#include <stddef.h>

#include "base/allocator.h"

extern const struct allocator agent_allocator;

/* All that was taken from the system, but for what of its last piece was never used. */
size_t agent_memory_bytes(void);
/* Zeroed; NULL without memory. */
void *agent_alloc(size_t size_bytes);
void agent_free(void *block);
/* Grows *items, of *capacity items of item_bytes, to at least `count`; new room is zeroed. false without memory: nothing changed. */
int agent_reserve(void **items, size_t *capacity, size_t count, size_t item_bytes);

#endif
