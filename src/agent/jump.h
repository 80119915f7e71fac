/* jump.h - what stands in front of the functions that leave frames: longjmp and its kin, and what unwinders land with. */
#ifndef WM_AGENT_JUMP_H
#define WM_AGENT_JUMP_H

#include <stdbool.h>

/* Look up what is stood in front of. Once, at start. */
void jump_start(void);
void exception_start(void);
/*
 * A C++ exception of this thread is on its way: the unwinder walks the stack twice and must find it as it was. Known of programs whose
 * libstdc++ is a library that was there at the start or when the agent was attached. Signal-safe.
 */
bool exception_is_thrown(void);
void cancel_start(void);

#endif
