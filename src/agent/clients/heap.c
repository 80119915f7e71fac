/*
 * heap.c - the client `heap`: the heap client under the agent (runtime/heap), with contexts of calls of the allocator.
 *
 * The allocator calls nothing back, so nothing is pushed for it; the name of the function that was called stands at the end of the context all
 * the same, as for compiled programs.
 */
#include "agent/clients/heap.h"

#include "agent/clients/allocator.h"
#include "agent/clients/client.h"
#include "agent/context/caller_context.h"
#include "agent/program/no_callback.h"
#include "recorder/task.h"
#include "waymark/abi.h"

enum {
	CALL_SHIFT = 56, /* above addresses */
};

static const char *const names[HEAP_FUNCTIONS] = {
	WM1_HEAP_FUNCTION_NAMES,    [HEAP_MALLOCX] = "mallocx",  [HEAP_RALLOCX] = "rallocx",
	[HEAP_XALLOCX] = "xallocx", [HEAP_NEW] = "operator new",
};

wm_context wmrt_heap_context(const void *return_address, enum wm1_heap_function function, bool *ret_is_settled)
{
	*ret_is_settled = false;
	if (!return_address || (uint32_t)function >= HEAP_FUNCTIONS)
		return (wm_context){.prefix = WM_PREFIX_LOST};
	return wmrt_in_task(
		caller_settled_call((uintptr_t)return_address, (uint32_t)function, names[function], ret_is_settled));
}

bool wmrt_heap_point(const void *return_address, enum wm1_heap_function function, struct wmrt_memo_key *ret)
{
	struct caller_state state;

	/* A task is part of the context, and of no state. */
	if (!return_address || wmrt_tasks.count || !caller_state(&state))
		return false;
	*ret = (struct wmrt_memo_key){{(uintptr_t)return_address | (uint64_t)function << CALL_SHIFT, state.id,
				       (uint64_t)state.epoch << 32 | state.prefix, (uint64_t)state.generation << 32}};
	return true;
}

static enum wm1_attach_result find(void)
{
	return allocator_find() ? WM1_ATTACH_DONE : WM1_ATTACH_ALLOCATOR;
}

static bool attach(void)
{
	return wmrt_heap_begin() && allocator_take();
}

static void detach(void)
{
	allocator_give_back();
	wmrt_heap_end();
}

const struct agent_client agent_client_heap = {
	.prepare = no_callback_add_heap,
	.start = allocator_take_more,
	.find = find,
	.attach = attach,
	.detach = detach,
	.pause = wmrt_heap_pause,
	.resume = wmrt_heap_resume,
};
