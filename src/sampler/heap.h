/* heap.h - sampled allocations, in contexts of walks. */
#ifndef WM_SAMPLER_HEAP_H
#define WM_SAMPLER_HEAP_H

#include <stdbool.h>

#include "waymark/wmk.h"

/* WAYMARK_HEAP asks for them. */
bool heap_is_asked(void);
/* Once, when walks are possible (sample_init). */
enum wmk_agent heap_start(void);

#endif
