/*
 * crash_stack.h - a stack of a stopped program as frames and criterion of a slice (analyze/slice.h).
 *
 * The criterion is where control stands: in the innermost frame the instruction that the signal is about, in others the call in progress. Frames
 * follow outwards as long as it is certain that each called the one before: calls by name, calls through pointers to what can be called there,
 * and code outside that was given the function. Where it is not certain (frames of unknown functions, tail calls, more than
 * CRASH_STACK_MAX frames) the stack ends, and any call that ran can have led to its last frame.
 *
 * By itself a frame tells only which blocks lead to where control is; with `ran` it tells what ran in this activation.
 */
#ifndef WM_MODEL_SLICES_CRASH_STACK_H
#define WM_MODEL_SLICES_CRASH_STACK_H

#include "analyze/slice.h"
#include "model/slices/crash_code.h"

enum {
	CRASH_STACK_MAX = 64,
};

struct crash_stack {
	struct arena arena;
	struct slice_frame *frames;
	uint32_t frame_count;
	bool is_whole;      /* the last frame is the thread's first */
	uint32_t *criteria; /* instructions */
	uint32_t criterion_count;
	uint32_t *calls; /* those of all frames */
	uint32_t call_count;
	uint32_t frame; /* of the thread that the criterion is in: that asked for, or one further out, if that is of no code of the program */
};

struct crash_stack_request {
	const struct crash_code *code;
	const struct activity_result *ran; /* NULL: only the stack counts */
	const struct memory *memory;
	uint32_t thread, frame;
};

/* ERROR_NOT_FOUND: from there on outwards the thread is in no function that has bitcode. */
struct error *crash_stack_create(const struct crash_stack_request *request, struct crash_stack *ret);
void crash_stack_deinit(struct crash_stack *s);

#endif
