/*
 * promote.h - lazy encoding: functions that have led to no event yet, and when that changes.
 *
 * A function is eventless until it calls what captures (an allocation, an event), may call back (code that is not instrumented), or is
 * instrumented. Until then its callers have no code for it, and it has none but where a call of its own was not made yet. The thread's id
 * and entries are those of the innermost frame that is instrumented. A call that ends this enters the agent, since it is the site's first:
 * then all eventless functions on the stack are instrumented, and the thread's state becomes that of its stack (discover_repair).
 *
 *      before    main -> f -> h -> k       h, k eventless: the state is that of f
 *      k calls malloc                      the agent instruments h and k, adds the calls f -> h and h -> k, and repairs the state
 *
 * So no frame of an instrumented function is ever inside of an eventless one. What makes a tail call that is not of a no-callback function
 * is instrumented, and so is what it leads to: the stack would not show them.
 *
 * Under the agent's lock. What the running segment has interrupted is known (segment_find_interrupted): its state may change.
 */
#ifndef WM_AGENT_PROMOTE_H
#define WM_AGENT_PROMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/context/walk.h"

/* The eventless functions of the running segment's frames. False: they could not be instrumented, and the state cannot become that of the
 * stack. */
bool promote_frames(const struct walk *w);
/* One of which the thread itself has no frame in the running segment; true of what is instrumented already. */
bool promote_function(uint32_t function);
/* A call of the eventless site's function that ends its being so. The target's function is reached. */
bool promote_is_due(uint32_t site, uintptr_t target);

#endif
