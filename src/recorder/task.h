/*
 * task.h - the tasks that the running thread is in: work that a thread has handed to another one, or to itself for later. A context that is captured in a task
 * continues that of who enqueued it.
 *
 * A context in a task is a node of the prefix table whose parent is the context as it is without the task (also a node), whose site is WM_SITE_TASK and whose
 * id has two nodes more: in its low half who enqueued the task, in its high half where it began. Readers put the first in the place of what is outside of the
 * function in which it began (docs/format.md, "Tasks").
 *
 *      enqueued      main;serve;submit
 *      begun         [thread];worker                       -> main;serve;submit;[task];worker;parse
 *      the context   [thread];worker;parse
 *
 * Any thread and signal handlers; errno is left alone.
 */
#ifndef WM_RECORDER_TASK_H
#define WM_RECORDER_TASK_H

#include <stdint.h>

#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop
#include "recorder/client.h"
#include "recorder/process.h"

struct wmrt_task_memory;

/* Private thread-local state; written by its own thread and by handlers on it. */
struct wmrt_tasks {
	struct wmrt_task_memory *memory; /* NULL: the thread was in none yet */
	uint32_t count;                  /* that have begun and not ended */
};
extern _Thread_local struct wmrt_tasks wmrt_tasks __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * A task begins that was enqueued in the first context, at the second one, which may be in another task. Tasks are nested: an inner one alone is in contexts.
 * If the first one is WM_EPOCH_NONE nobody knows who enqueued it, and contexts are as without tasks.
 */
void wmrt_task_begin(const wm_context *enqueued, const wm_context *here);
/* The innermost task ends; without one nothing happens. */
void wmrt_task_end(void);

/* Where a task is: the context as a node. */
wm_context wmrt_task_wrap(wm_context c);
/* The context of the running thread as others are to see it; c: that of its calls. A load and a branch where there is no task. */
static inline wm_context wmrt_in_task(wm_context c)
{
	return WMRT_LIKELY(!wmrt_tasks.count) ? c : wmrt_task_wrap(c);
}

extern const struct wmrt_client wmrt_task_client;

#endif
