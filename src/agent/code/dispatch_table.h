/*
 * dispatch_table.h - where an indirect call with many targets goes: a table that its stub looks the target up in. The caller holds the agent's
 * lock.
 */
#ifndef WM_AGENT_CHOICE_H
#define WM_AGENT_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/code/emit.h"

struct dispatch_case {
	uint64_t target, to;
};

/* Pairs of a target and where to go, open addressing; at most half of it is in use. It stays: old stubs read it. */
struct dispatch_table {
	uint64_t *slots; /* target, to; a target of 0: free */
	uint32_t bits;
	uint32_t count; /* slots in use */
};

/*
 * A table of the site with room for these targets: its present one, which stubs may be reading, or a larger one, the present one from now
 * on. NULL without memory. What is returned is good until the next call.
 */
const struct dispatch_table *dispatch_table_for(uint32_t site, const struct dispatch_case *cases, uint32_t count);
/* The present table of the site has these cases from then on. */
void dispatch_table_put(uint32_t site, const struct dispatch_case *cases, uint32_t count);
/* Code that goes where the table says for the target in %r11, or on behind it. */
void dispatch_table_emit(struct emit *e, const struct dispatch_table *t);
/* Calls visit for where each target of that table goes; nothing, if none has its slots there. */
void dispatch_table_visit(uint64_t slots, void (*visit)(uintptr_t to));
/* In all tables: targets of which is_gone says so are found no more. */
void dispatch_table_forget(bool (*is_gone)(uintptr_t target));

#endif
