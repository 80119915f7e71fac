/*
 * reach.h - what is done to a function when a call of it is first seen.
 *
 * The caller holds the agent's lock.
 */
#ifndef WM_AGENT_REACH_H
#define WM_AGENT_REACH_H

#include <stdint.h>

/* Scans the function, and instruments it when it may call back and can be. Its state is then not SEEN, unless code cannot be written now. */
void reach_function(uint32_t function);

#endif
