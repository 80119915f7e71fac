/*
 * pause.c - counts pauses of each thread.
 *
 * A stack overflow may take the call away that would resume. So a pause ends with the frame that has made it, and the next question finds
 * that it is over: what that frame calls is further down than the pause's own frame, but for the size of a frame or two.
 */
#include "jvm/c/base/pause.h"

enum {
	FRAMES_BYTES = 512,
};

/* Both are read and written by their thread alone. */
static _Thread_local uint32_t pauses __attribute__((tls_model("initial-exec")));
/* The frame of the outermost pause. */
static _Thread_local uintptr_t paused_at __attribute__((tls_model("initial-exec")));

static bool is_paused(uintptr_t frame)
{
	if (pauses && frame > paused_at + FRAMES_BYTES)
		pauses = 0;
	return pauses;
}

__attribute__((noinline)) bool jvm_is_paused(void)
{
	return is_paused((uintptr_t)__builtin_frame_address(0));
}

__attribute__((noinline)) void jvm_pause(void)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if (!is_paused(frame))
		paused_at = frame;
	pauses++;
}

void jvm_resume(void)
{
	if (pauses)
		pauses--;
}

uint32_t jvm_pauses(void)
{
	return pauses;
}

void jvm_set_pauses(uint32_t count)
{
	pauses = count;
}
