/*
 * resume.h - jumps over frames land in the agent first, which computes the context of the frame from the stack.
 *
 *      longjmp, the unwinder, setcontext -----> agent_land, with every register as the frame is to have it
 *                                                  context = that of the frame's stack
 *      frame  <----------------------------------- goes on
 *
 * So what foreign code does on the way (cleanups, restoring a mask and the handlers that then run) has no part in it.
 */
#ifndef WM_AGENT_LAND_H
#define WM_AGENT_LAND_H

#include <stdint.h>

/* What to jump to instead of pc. is_return: pc follows a call. The thread's next landing is there. Signal-safe. */
uintptr_t resume_at(uintptr_t pc, int is_return);

/*
 * setjmp's buffer, where it returns to, and the stack pointer then: the thread's context is noted. resume_at_buffer: a jump by that buffer
 * lands behind the call, with the context that was noted if nothing says otherwise. Signal-safe.
 */
void resume_note(const void *buffer, uintptr_t pc, uintptr_t sp);
uintptr_t resume_at_buffer(uintptr_t pc, const void *buffer);

/* In a stub's saved registers: the program goes on there, behind a call. Its context is computed. */
struct agent_saved;
void resume(struct agent_saved *saved, uintptr_t pc, int is_return);

extern const char agent_land[] __attribute__((visibility("hidden")));

#endif
