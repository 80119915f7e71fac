/* jump.h - what interposes the functions that leave frames: longjmp and its kin, and what unwinders land with. */
#ifndef WM_AGENT_JUMP_H
#define WM_AGENT_JUMP_H

#include <stdbool.h>
#include <stdint.h>

/* Look up what is stood in front of. Once, at start. */
void jump_start(void);
void exception_start(void);
/*
 * A C++ exception of the thread with that %fs, which is stopped, is on its way: the unwinder walks the stack twice and must find it as it
 * was. Known of programs whose libstdc++ is a library that was there when the agent was attached.
 */
bool exception_is_thrown(uintptr_t fs);
void cancel_start(void);
/* Cleanups of the stopped thread are where the program has them. */
struct agent_thread;
void cancel_give_back(struct agent_thread *thread, uintptr_t sp);

#endif
