/*
 * client.c - waymark.h of files that other compilers built: what their weak references find when the agent is in the process.
 */
#include "agent/here.h"
#include "agent/program.h"
#include "recorder/event.h"
#include "recorder/token.h"
#include "waymark/runtime.h"

WM1_EXPORT wm_context wm1_agent_capture(void);
WM1_EXPORT int wm1_agent_token(wm_context c, char *buf, size_t size);
WM1_EXPORT void wm1_agent_event(const char *name, uint64_t value);

wm_context wm1_agent_capture(void)
{
	if (!agent_is_on)
		return (wm_context){.epoch = WM_EPOCH_NONE};
	return here_capture((uintptr_t)__builtin_return_address(0));
}

int wm1_agent_token(wm_context c, char *buf, size_t size)
{
	if (agent_has_left) /* called by who has looked up before where it is */
		c = (wm_context){.epoch = WM_EPOCH_NONE};
	return wmrt_token(c, buf, size);
}

void wm1_agent_event(const char *name, uint64_t value)
{
	if (agent_has_left)
		return;
	wmrt_event(here_capture((uintptr_t)__builtin_return_address(0)), name, value);
}
