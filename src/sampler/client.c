/*
 * client.c - waymark.h of files that other compilers built: what their weak references find when the sampler is in the process. A context is
 * found by a walk from the call.
 */
#include <stdint.h>

#include "sampler/host.h"
#include "sampler/sample.h"
#include "waymark/runtime.h"

WM1_EXPORT wm_context wm1_agent_capture(void);
WM1_EXPORT int wm1_agent_token(wm_context c, char *buf, size_t size);
WM1_EXPORT void wm1_agent_event(const char *name, uint64_t value);

wm_context wm1_agent_capture(void)
{
	wm_context context = {.epoch = WM_EPOCH_NONE};

	sample_here(&context);
	return context;
}

int wm1_agent_token(wm_context c, char *buf, size_t size)
{
	return host->token(c, buf, size);
}

void wm1_agent_event(const char *name, uint64_t value)
{
	wm_context context;

	if (sample_here(&context))
		host->event(context, name, value);
}
