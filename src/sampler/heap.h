/* heap.h - allocations in contexts of walks: each, or samples of them. */
#ifndef WM_SAMPLER_HEAP_H
#define WM_SAMPLER_HEAP_H

#include <stdbool.h>

#include "waymark/wmk.h"

/* WAYMARK_HEAP asks for them. */
bool heap_is_asked(void);
/* Once, when walks are possible (sample_init). */
enum wmk_agent heap_start(void);

/*
 * Of a process that the sampler has come to while it runs (allocator.h): each allocation is recorded from now on. is_compared: WAYMARK_HEAP=every-check.
 * False: that cannot be. Other threads stand still.
 */
bool heap_attach(bool is_compared);
void heap_detach(void);

/* Around what this library does at start: its allocations are none of the program's. Before there is another thread. */
void heap_pause(bool on);

#endif
