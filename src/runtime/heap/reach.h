/*
 * reach.h - to which blocks there is no pointer: a conservative look through the memory of the process, as LeakSanitizer and valgrind have it.
 *
 * A word is a pointer to a block if it is an address in it, of any byte. Roots are the words of all memory that can be written (variables, stacks,
 * thread-local storage, maps) but for the blocks themselves, what lies between them where the allocator keeps its memory, and the stack below the caller.
 * Blocks that are found are looked through in turn. Words that only look like pointers hide a loss; a pointer that is stored in another form
 * (compressed, in a file) is not seen.
 *
 * Memory is read through /proc/self/mem, since another thread may unmap it meanwhile; pages that were never touched are passed over
 * (/proc/self/pagemap). Signal-safe; no malloc.
 */
#ifndef WM_RUNTIME_HEAP_REACH_H
#define WM_RUNTIME_HEAP_REACH_H

#include <stddef.h>
#include <stdint.h>

#include "waymark/wmk.h"

struct reach_block {
	uintptr_t address;
	uint64_t size_bytes;
	uint32_t record; /* what the caller knows it by */
	uint32_t next;   /* reach.c: 0 until a pointer to it was found */
};

/* Room for so many blocks and what the look needs beside them; NULL: there is no memory. */
struct reach_block *wmrt_reach_blocks_create(size_t count);
void wmrt_reach_blocks_destroy(struct reach_block *blocks, size_t count);

/*
 * Sorts the blocks by address and marks those that can be reached from the memory of the process: their `next` is not 0 then. stack: of the
 * running thread, what is below is no root. Blocks of size 0 count as one byte. WMK_REACH_TOLD, _THREADS, _NO_MEMORY or _NO_READING.
 */
enum wmk_reach wmrt_reach_mark(struct reach_block *blocks, size_t count, uintptr_t stack);

#endif
