/*
 * reuse.h - takes away the stubs that nothing leads to any more, so that others go where they were.
 */
#ifndef WM_AGENT_REUSE_H
#define WM_AGENT_REUSE_H

/*
 * All threads are stopped, none is in a stub or comes back to one, and no code is still to be written. Without memory all stubs stay. Under
 * the agent's lock.
 */
void reuse_stubs(void);

#endif
