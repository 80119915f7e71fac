/*
 * calls.h - what is known of the calls of a site: by target, by callee, by the number that the recording has for it, and what the
 * present encoding makes them do.
 *
 * The caller holds the agent's lock.
 */
#ifndef WM_AGENT_CALLS_H
#define WM_AGENT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/program/program.h"
#include "agent/threads/thread.h"

/* The edge of the call. NULL: the callee is not instrumented. */
static inline struct callgraph_edge *agent_call_edge(const struct agent_call *call)
{
	return call->edge == AGENT_NONE ? NULL : &agent_program.encoder.graph.edges[call->edge];
}

/* It pushes an entry, or would if it were written: it has no number, or leads to what is not instrumented. */
static inline bool agent_call_pushes(const struct agent_call *call)
{
	const struct callgraph_edge *edge = agent_call_edge(call);

	return edge ? edge->kind != EDGE_ENCODED : !call->never_calls_back;
}

/* The site of that entry. */
static inline uint32_t agent_call_pushed_site(const struct agent_call *call)
{
	return call->edge == AGENT_NONE ? call->foreign : agent_site(call->site)->record;
}

/* The addend of the site (epoch/addends.h) in the present epoch; 0: none. */
static inline uint64_t agent_site_addend(const struct agent_site *site)
{
	return site->added_call == AGENT_NONE ? 0 : agent_call_edge(agent_call(site->added_call))->addend;
}

/* Puts a call that is new into the list of its site, and of its callee. */
void agent_call_list(uint32_t number);
/* Takes it out of the list of its site, if it is there. */
void agent_call_unlist(uint32_t number);
/* Moves it there behind those that are not gone. */
void agent_call_list_gone(uint32_t number);
/* More functions capture than before: those that were found to call nothing back, and calls of them, are looked at anew. Before all sites are written. */
void agent_program_invalidate_no_callback(void);
/* The call of the site with that target. NULL: none is known, or it is gone. */
struct agent_call *agent_call_find(uint32_t site, uintptr_t target);
/* The call of the site to that instrumented function, whatever its target. NULL: none. */
struct agent_call *agent_call_to(uint32_t site, uint32_t callee);
/* The tail call to that function of the site with that record. NULL: none. */
struct agent_call *agent_call_tail(uint32_t site_record, uint32_t callee);
/* The site with that record, of a call or of a foreign call, marked or not (WM1_SITE_ELIDED); AGENT_NONE: none. */
uint32_t agent_site_of_record(uint32_t record);
/* From now on the site has that record, too; record 0: there is none. False without memory. */
bool agent_site_note_record(uint32_t record, uint32_t site);
/* The id that the thread had when the entry was pushed. */
uint64_t agent_entry_id(const struct agent_entry *entry);
/* The function's hook sets the id when foreign code enters it that comes back to that address, and there it is put back. */
bool agent_function_knows_caller(uint32_t function, uintptr_t return_address);

#endif
