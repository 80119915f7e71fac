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
WM1_EXPORT void wm1_agent_task_begin(const wm_context *enqueued, const wm_context *here);
WM1_EXPORT void wm1_agent_task_end(void);

wm_context wm1_agent_capture(void)
{
	wm_context context = {.epoch = WM_EPOCH_NONE};

	return sample_here(&context) ? host_in_task(context) : context;
}

int wm1_agent_token(wm_context c, char *buf, size_t size)
{
	return host->token(c, buf, size);
}

void wm1_agent_event(const char *name, uint64_t value)
{
	wm_context context;

	if (sample_here(&context))
		host->event(host_in_task(context), name, value);
}

void wm1_agent_task_begin(const wm_context *enqueued, const wm_context *here)
{
	if (host_tasks())
		host_tasks()->begin(enqueued, here);
}

void wm1_agent_task_end(void)
{
	if (host_tasks())
		host_tasks()->end();
}
