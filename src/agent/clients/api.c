/*
 * api.c - waymark.h of files that other compilers built: what their weak references find when the agent is in the process.
 */
#include "agent/os/state.h"
#include "agent/follow/coroutine.h"
#include "agent/context/caller_context.h"
#include "native/unfit_here.h"
#include "recorder/agent.h"
#include "recorder/event.h"
#include "recorder/process.h"
#include "recorder/task.h"
#include "recorder/token.h"
#include "runtime/heap/heap.h"
#include "runtime/paths/paths.h"
#include "waymark/runtime.h"

WM1_EXPORT wm_context wm1_agent_capture(void);
WM1_EXPORT int wm1_agent_token(wm_context c, char *buf, size_t size);
WM1_EXPORT void wm1_agent_event(const char *name, uint64_t value);
WM1_EXPORT void wm1_agent_task_begin(const wm_context *enqueued, const wm_context *here);
WM1_EXPORT void wm1_agent_task_end(void);

static wm_context capture(const void *return_address)
{
	return wmrt_in_task(caller_capture((uintptr_t)return_address));
}

static void event(const void *return_address, const char *name, uint64_t value)
{
	wmrt_event(capture(return_address), name, value);
}

static int token(const wm_context *c, char *buf, size_t size)
{
	return wmrt_token(*c, buf, size);
}

wm_context wmrt_path_context(const void *return_address, uint32_t site)
{
	(void)site;
	return capture(return_address);
}

const struct wm1_agent wm1_agent = {
	.register_image = wmrt_own_register,
	.capture = capture,
	.event = event,
	.token = token,
	.make_context = coroutine_make,
	.path_enter = wmrt_path_enter,
	.path_miss = wmrt_path_miss,
	.path_residual = wmrt_path_residual,
	.heap = {wmrt_own_heap_start, wmrt_own_heap_alloc, wmrt_own_heap_take, wmrt_own_heap_put_back,
		 wmrt_own_heap_freed},
	.heap_alloc_from = wmrt_own_heap_alloc_from,
	.unfit = unfit_here,
};

wm_context wm1_agent_capture(void)
{
	if (!agent_is_on)
		return (wm_context){.epoch = WM_EPOCH_NONE};
	return capture(__builtin_return_address(0));
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
	wmrt_event(capture(__builtin_return_address(0)), name, value);
}

void wm1_agent_task_begin(const wm_context *enqueued, const wm_context *here)
{
	if (!agent_has_left)
		wmrt_task_begin(enqueued, here);
}

void wm1_agent_task_end(void)
{
	wmrt_task_end();
}
