/*
 * heap_blocks.h - the live blocks of the heap client: address -> (size, record).
 *
 * Lock-free: a block's address belongs to one thread from the moment malloc returns it until it is given to free, so
 * no two threads ever work on the same key; only places are fought over, by compare-and-swap.
 */
#ifndef WM_RUNTIME_HEAP_HEAP_BLOCKS_H
#define WM_RUNTIME_HEAP_HEAP_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct wm1_heap_block;

/* The block is new. False without memory: it will not be found. */
bool wmrt_blocks_add(uintptr_t address, struct wm1_heap_block block);
/* Brings the place where it mostly is nearer, for one of the two others. */
void wmrt_blocks_prefetch(uintptr_t address);
/* Takes the block out; record 0 if it is not there. */
struct wm1_heap_block wmrt_blocks_take(uintptr_t address);
/* Forgets all. Nobody uses it meanwhile. */
void wmrt_blocks_clear(void);
/* Visits every block; its record becomes what is returned. For a forked child, before it allocates. */
void wmrt_blocks_each(uint32_t (*visit)(struct wm1_heap_block block));
/* Visits blocks, also while others add and take some, which it may miss. */
void wmrt_blocks_look(void (*visit)(uintptr_t address, struct wm1_heap_block block, void *data), void *data);

#endif
