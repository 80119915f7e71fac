/* host.c - asks the dynamic linker whether the program has a runtime. */
#include "sampler/host.h"

#include <stddef.h>

#include "recorder/task.h"
#include "runtime/heap/heap.h"

const struct wm1_recorder *host = &wmrt_recorder;

void host_find(void)
{
	if (wm1_recorder)
		host = wm1_recorder();
}

bool host_is_program(void)
{
	return host != &wmrt_recorder;
}

bool host_has_code(uintptr_t address)
{
	return host_is_program() && address >= (uintptr_t)wm1_runtime.text_low &&
	       address < (uintptr_t)wm1_runtime.text_high;
}

static wm_context in_own_task(wm_context context)
{
	return wmrt_in_task(context);
}

const struct wm1_tasks *host_tasks(void)
{
	static const struct wm1_tasks own = {wmrt_task_begin, wmrt_task_end, in_own_task};

	if (!host_is_program())
		return &own;
	return wm1_tasks ? wm1_tasks() : NULL;
}

wm_context host_in_task(wm_context context)
{
	const struct wm1_tasks *tasks = host_tasks();

	return tasks ? tasks->in_task(context) : context;
}

const struct wm1_heap_records *host_heap(void)
{
	if (!host_is_program())
		return &wmrt_heap_records;
	return wm1_heap_records ? wm1_heap_records() : NULL;
}
