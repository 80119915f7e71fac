/*
 * task_frames.h - contexts in tasks: work that one thread has handed to another one, or to itself for later. What is outside of the function in which the
 * task has begun gives way to the context of who enqueued it (docs/format.md, "Tasks").
 *
 *      enqueued   main;serve;submit
 *      begun      [thread];pool;worker
 *      plain      [thread];pool;worker;run;parse      ->  main;serve;submit;[task];worker;run;parse
 */
#ifndef WM_MODEL_CONTEXTS_TASK_FRAMES_H
#define WM_MODEL_CONTEXTS_TASK_FRAMES_H

#include "model/base/profile.h"

/*
 * Of contexts in a tree. If no more of `begun` is on the stack than all but one of its functions, the thread has left the function and ended no task, or has
 * switched to a coroutine: then *ret is `plain`.
 */
struct error *task_frames_join(struct profile *p, uint32_t plain, uint32_t begun, uint32_t enqueued, uint32_t *ret);
/* The same of lists, outermost first: `frames` has those of who enqueued from `start` on, and gets [task] and what is on it, or becomes `plain`. */
struct error *task_frames_append(const struct frame_vec *plain, const struct frame_vec *begun, size_t start,
				 struct frame_vec *frames);
/* The frame of a function that creates threads, which a frame [thread] says already. */
bool task_frames_is_creation(const struct frame *frame);

#endif
