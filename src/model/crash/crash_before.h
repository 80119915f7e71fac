/*
 * crash_before.h - what had run and was over when a program stopped: calls that frames have made and that have come back, newest
 * first, as far as the kept paths prove it; and of each function which of its calls every run of it makes.
 *
 *      frame 0:  its calls that returned, newest first     all of these are newer
 *      frame 1:  its calls that returned                   than any of these: the call of frame 0 was made behind them
 */
#ifndef WM_MODEL_CRASH_CRASH_BEFORE_H
#define WM_MODEL_CRASH_CRASH_BEFORE_H

#include "model/crash/crash.h"

struct crash_before_call {
	uint32_t call;   /* index in f->meta->calls */
	bool is_round;   /* of a round of a loop, which went once or more: so did this */
	bool has_thrown; /* it did not return, but threw what the frame caught or cleaned up behind */
};

struct crash_before {
	struct crash_before_call *calls; /* newest first */
	uint32_t count;
	bool is_whole; /* all since the activation began; else older ones are not known */
	/* Calls in the block that control is in, of which it is not known whether they were made this time: newer than those above. */
	uint32_t *unsure;
	uint32_t unsure_count;
};

/* The calls before a frame with paths; none for other frames. Memory is the arena's. */
struct error *crash_before_of(const struct crash *c, const struct crash_frame *f, struct arena *arena,
			      struct crash_before *ret);

/* Calls that each activation of a function makes that returns: of those that the control flow has on all ways that can have been
 * gone in this run. is_made: [call_count], the caller's. function: as crash.h numbers them. */
struct error *crash_before_each_time(const struct activity_result *activity, uint32_t function, uint8_t *is_made);

/* The function that a call is one of; UINT32_MAX: not known, or foreign. */
uint32_t crash_before_callee(const struct activity_result *activity, uint32_t function, uint32_t call);

#endif
