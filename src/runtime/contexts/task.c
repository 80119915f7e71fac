/* task.c - wm_task_begin and wm_task_end of programs that `waymark cc` built. */
#include "recorder/task.h"

#include "recorder/agent.h"
#include "runtime/clients.h"
#include "waymark/runtime.h"

/*
 * The agent's function, NULL: it is older than tasks. By the global offset table: lld makes a weak reference of what is not there 0 for good in a program that is
 * not position-independent.
 */
#define AGENT(function, name) __asm__ volatile(".weak " name "\n\tmovq\t" name "@GOTPCREL(%%rip), %0" : "=r"(function))

void wm1_task_begin(const wm_context *enqueued, const wm_context *here)
{
	void (*begin)(const wm_context *, const wm_context *) = wmrt_task_begin;

	if (wmrt_agent())
		AGENT(begin, "wm1_agent_task_begin");
	if (begin)
		begin(enqueued, here);
}

void wm1_task_end(void)
{
	void (*end)(void) = wmrt_task_end;

	if (wmrt_agent())
		AGENT(end, "wm1_agent_task_end");
	if (end)
		end();
}

static wm_context in_task(wm_context context)
{
	return wmrt_in_task(context);
}

const struct wm1_tasks *wm1_tasks(void)
{
	static const struct wm1_tasks tasks = {wmrt_task_begin, wmrt_task_end, in_task};

	return &tasks;
}
