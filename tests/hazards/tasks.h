/*
 * tasks.h - shadow.h with tasks: a job keeps the shadow stack of who has enqueued it, and the function that begins it goes on there.
 *
 *	ENQUEUE(&job)       expression: the context of this place, and the shadow stack, in the job
 *	BEGIN(&job)         wm_task_begin; the shadow stack is that of the job, [task] and this function
 *	END()               wm_task_end, in the same function
 */
#ifndef TASKS_H
#define TASKS_H

#include <waymark.h>

#include "shadow.h"

struct job {
	struct job *next;
	void (*run)(struct job *job);
	int n;
	wm_context enqueued;
	unsigned depth;
	const char *name[128];
};

static __attribute__((noinline, unused)) void shadow_enqueue(struct job *job)
{
	job->depth = shadow.depth - shadow.base;
	EXPECT(job->depth <= sizeof job->name / sizeof *job->name);
	memcpy(job->name, shadow.name + shadow.base, job->depth * sizeof *job->name);
}

/* Behind what is there, with one free slot, as in handlers. */
static __attribute__((noinline, unused)) void shadow_begin(const struct job *job, const char *function)
{
	unsigned base = shadow.depth + 1;

	EXPECT(base + job->depth + 2 < SHADOW_MAX);
	memcpy(shadow.name + base, job->name, job->depth * sizeof *job->name);
	shadow.name[base + job->depth] = "[task]";
	shadow.name[base + job->depth + 1] = function;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&shadow.depth_and_base, (uint64_t)base << 32 | (base + job->depth + 2), __ATOMIC_RELAXED);
}

#define ENQUEUE(job) (shadow_enqueue(job), (job)->enqueued = wm_capture())
#define BEGIN(job)                                                                     \
	const uint64_t shadow_outside __attribute__((unused)) = shadow.depth_and_base; \
	wm_task_begin((job)->enqueued);                                                \
	shadow_begin(job, __func__)
#define END() (shadow.depth_and_base = shadow_outside, wm_task_end())

#endif
