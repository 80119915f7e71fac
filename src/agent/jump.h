/* jump.h - what stands in front of the functions that leave frames: longjmp and its kin, and what unwinders land with. */
#ifndef WM_AGENT_JUMP_H
#define WM_AGENT_JUMP_H

/* Look up what is stood in front of. Once, at start. */
void jump_start(void);
void exception_start(void);

#endif
