/*
 * points.h - what is known by return addresses: where contexts were captured, and which calls the recording has a number for. Code that
 * is unloaded, or whose call leads elsewhere from now on, is forgotten here. context/caller_context.c fills it in.
 *
 * Written under the agent's lock; found by any thread without it (address_map.h).
 */
#ifndef WM_AGENT_POINTS_H
#define WM_AGENT_POINTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "agent/os/address_map.h"

enum {
	POINTS_KIND_SHIFT = 56, /* addresses are smaller */
};

/* return address -> capture point, of instrumented code */
extern struct address_map points_captures __attribute__((visibility("hidden")));
/* kind << POINTS_KIND_SHIFT | return address -> call of foreign code; of any code */
extern struct address_map points_calls __attribute__((visibility("hidden")));
/* Counts changes of what calls lead to: contexts that were found in an earlier one may not be so any more. Relaxed. */
extern _Atomic uint32_t points_generation __attribute__((visibility("hidden")));

/* The site has a call more that may call back. */
void points_forget_site(uint32_t site);
/* The code there was unloaded. */
void points_forget_range(uintptr_t low, uintptr_t high);

#endif
