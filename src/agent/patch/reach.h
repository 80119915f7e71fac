/*
 * reach.h - what is done to a function when a call of it is first seen.
 *
 * The caller holds the agent's lock.
 */
#ifndef WM_AGENT_REACH_H
#define WM_AGENT_REACH_H

#include <stdbool.h>
#include <stdint.h>

/* Scans the function, and instruments it when it may call back and can be. Its state is then not SEEN, unless code cannot be written now. */
void reach_function(uint32_t function);
/*
 * An eventless function is instrumented from now on, and those that call it are asked anew. Other threads are stopped where their states
 * are those of their frames. The state of one that has such a frame is then to be computed again (context/promote.h). False: its callers
 * could not be written; all is as it was.
 */
bool reach_promote(uint32_t function);

#endif
