/*
 * capture.h - the context of a point of this thread as a wm_context. The caller holds the agent's lock.
 */
#ifndef WM_AGENT_CAPTURE_H
#define WM_AGENT_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/threads/thread.h"
#include "native/unwind/unwind.h"
#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop

/* Where a thread is in instrumented code, and its context there. */
struct capture_point {
	uint32_t function;
	uintptr_t address;
	uint64_t id;
	bool is_in_call; /* a call from there, of code that is not instrumented, is in progress, and the frame is on the stack */
	bool is_behind_gap;          /* tail calls are left out in front of the piece that ends with id */
	struct agent_entry *entries; /* base first; the thread's own or a walk_state's */
	size_t count;
};

enum capture_result {
	CAPTURE_OK,
	CAPTURE_FOREIGN, /* pc is not in instrumented code: the stack is to be walked to where it is */
	CAPTURE_UNKNOWN,
};

/* The thread is in no stub and nothing is still to be undone: its state is that of its frames. */
bool capture_is_between(const struct unwind_regs *regs);
/* Anywhere: walks to the nearest instrumented frame, or, where the thread's id says that it is not known, to the end. *ret_walk: the
 * frames inside of the point's, innermost first, ret_inner of them. */
bool capture_at(const struct unwind_regs *regs, wm_context *ret, struct capture_point *ret_point);

/* The same of what a handler of this thread has interrupted, whose state is in force meanwhile: the thread's entries stay as they are. */
bool capture_interrupted(const struct unwind_regs *regs, wm_context *ret);

/* The prefix of entries[0 .. count). 0: one was pushed where the way was not known, or what the handler has interrupted was not needed yet.
 * No lock needed for the thread's own. */
uint32_t capture_prefix(struct agent_entry *entries, size_t count);

/* Whether what returns behind a site was called there, or may be a tail call of what was. */
enum capture_calls {
	CAPTURE_CALLS_NO_CALLBACK, /* called there: nothing else is, that needs code */
	CAPTURE_CALLS_LOUD,        /* a tail call */
	CAPTURE_CALLS_MIXED,
};
enum capture_calls capture_site_calls(uint32_t site);
/* Of the caller of a function that is not instrumented and returns behind the site, with that sp then. Where that was a tail call
 * it is the context of the call that is gone. False: the thread's state is not known. */
bool capture_caller(uint32_t site, uint64_t sp, wm_context *ret);

#endif
