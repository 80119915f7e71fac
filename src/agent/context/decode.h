/*
 * decode.h - the calls that an id and entries stand for, in the encoding in force.
 */
#ifndef WM_AGENT_DECODE_H
#define WM_AGENT_DECODE_H

#include "agent/threads/thread.h"
#include "agent/context/walk.h"

struct decoded_call {
	uint32_t site;
	uint32_t call; /* AGENT_NONE: of code that is not instrumented, or that the agent knows only by its entry */
};

/* Innermost first. Zeroed before its first use; memory is kept from one use to the next. */
struct decoded {
	struct decoded_call *calls;
	size_t count, capacity;
	uint32_t root; /* the function that it begins at; AGENT_NONE: that of foreign code is not known */
	uint32_t *edges;
	size_t edge_capacity;
};

/* entries: base first, count of them with it. False: it is not one of the encoding, or memory is short. Under the agent's lock. */
bool decode_context(uint32_t function, uint64_t id, const struct agent_entry *entries, size_t count,
		    struct decoded *ret);
/*
 * Replaces the chain's calls by those that the thread's own id and entries say, if they are the same but for tail calls, which the stack
 * does not show. False: they are not, and the chain is as it was.
 */
bool decode_take_tails(const struct agent_thread *thread, struct walk_chain *chain);

#endif
