/*
 * allocator.h - allocations of a process that the sampler has come to while it runs (`waymark attach --heap`): jumps at the entries of the
 * allocator's functions (native/entry_jump.h) lead here, wherever they are, and each allocation is told with the context of a walk.
 */
#ifndef WM_SAMPLER_ALLOCATOR_H
#define WM_SAMPLER_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

struct wm1_heap_walked; /* waymark/runtime.h */

/* Other threads stand still, none of them in the allocator or in the loader. */

/* Looks the functions up. False: they are the program's own, or have no room for a jump. */
bool allocator_find(void);
/* A thread that goes on there is amidst what allocator_take writes. */
bool allocator_covers(uintptr_t pc);
/* From now on each call is told. False: code cannot be written; then all of it is as it was. */
bool allocator_take(const struct wm1_heap_walked *told);
/* The functions are as they were. What is called meanwhile ends as it would have. */
void allocator_give_back(void);
/* The thread with that %fs is telling of a call. */
bool allocator_is_told(uintptr_t fs);
/* Where the program is when a thread is at pc in a stub; 0: that is in none. Signal-safe. */
uintptr_t allocator_place(uintptr_t pc);

#endif
