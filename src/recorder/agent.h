/*
 * agent.h - the agent (src/agent) as copies of the recorder see it that are not its own: they hand over to it.
 */
#ifndef WM_RECORDER_AGENT_H
#define WM_RECORDER_AGENT_H

#include <stddef.h>

#include "waymark/runtime.h"

/* Not the preemptible name: what wm1_register is in this copy. */
extern __typeof(wm1_register) wmrt_own_register __attribute__((visibility("hidden")));

/* The agent to which this copy hands over; NULL: there is none, or this copy is it. Constant for the life of the process. */
static inline const struct wm1_agent *wmrt_agent(void)
{
	return &wm1_agent && wm1_agent.register_image != wmrt_own_register ? &wm1_agent : NULL;
}

#endif
