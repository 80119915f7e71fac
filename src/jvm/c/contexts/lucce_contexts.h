/*
 * lucce_contexts.h - contexts by the encoder of the Lucce paper (core/contexts/lucce.h): the process's versioned call graph, its log, and
 * contexts decoded from it.
 *
 * A function is a method (methods.h), an edge is a site and the method that it has entered. The log is kept for the life of the process
 * as a history, from which contexts are decoded when they are captured. Its limit is a number of versions: entries behind it that need
 * another one are lost, and so are their contexts; the agent says at the end how many were.
 *
 * Any thread: one lock. Not for signal handlers.
 */
#ifndef WM_JVM_LUCCE_CONTEXTS_H
#define WM_JVM_LUCCE_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/contexts/lucce.h"
#include "recorder/event.h"

/* The values that a method stores before a call at a site. site: JVM_NONE before the first call of a thread; all else is 0 then. */
struct jvm_lucce_call {
	int32_t site;
	struct lucce_id from;
};

/* False without memory. Once, before the others. */
bool jvm_lucce_init(void);
/* The method is entered by the call, whatever is between the two. A step that is LUCCE_LOST on any failure. */
struct lucce_step jvm_lucce_enter(struct jvm_lucce_call call, int32_t method);
/*
 * The sites of the context of a call, outermost first, its own the last one. malloc'd, for the caller to free; NULL: it is lost, or there is
 * no memory.
 */
int32_t *jvm_lucce_sites(struct jvm_lucce_call call, size_t *count);
/* The context of a call above a root; lost where the sites are. */
wm_context jvm_lucce_context(uint32_t root, struct jvm_lucce_call call);
/* The call that has entered the method of a call's site. Lost on any failure. */
struct jvm_lucce_call jvm_lucce_without_last(struct jvm_lucce_call call);
/* Entries whose context is not known, but for those whose caller's is not. */
uint64_t jvm_lucce_lost(void);

#endif
