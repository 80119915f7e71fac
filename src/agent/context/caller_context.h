/*
 * caller_context.h - the context of a call that the program has made into the agent: wm_capture, wm_event, and malloc with the heap client.
 *
 * Such calls push nothing (no_callback.c), so the thread's state is that of the caller's frame, and its site is found by the return
 * address: where both are known a capture takes no lock and walks nothing. Else the registers of the caller are found by unwinding
 * the agent's own frames, and captures go on as for a sample (capture.h).
 */
#ifndef WM_AGENT_HERE_H
#define WM_AGENT_HERE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop

/* Of the point behind which the caller goes on. Any thread, signal handlers too. */
wm_context caller_capture(uintptr_t return_address);
/* Of the function of that name, which is not instrumented and was called there; kind: below 128, one for each name. */
wm_context caller_call(uintptr_t return_address, uint32_t kind, const char *name);
/* The same; *ret_is_settled: whenever caller_state and the return address are the same, so is the context. */
wm_context caller_settled_call(uintptr_t return_address, uint32_t kind, const char *name, bool *ret_is_settled);

/* The context of this thread's calls as a number. */
struct caller_state {
	uint64_t id;
	uint32_t prefix;
	uint32_t epoch;
	uint32_t generation; /* of what is known by addresses: they may be another image's later */
};
/* False: it is not known. */
bool caller_state(struct caller_state *ret);

#endif
