/* attach_handlers.h - signal handlers that run when the agent is attached. */
#ifndef WM_AGENT_ATTACH_HANDLERS_H
#define WM_AGENT_ATTACH_HANDLERS_H

#include "agent/context/walk.h"

/*
 * Begins a segment for each handler on the stopped thread's stack, outermost first, as signal.c does for those that it calls: what it does stands
 * on [signal]. What was interrupted is found anew when the handler has returned (segment_leave_gone). Under the agent's lock.
 */
void attach_handlers(const struct walk *w, struct agent_thread *thread);

#endif
