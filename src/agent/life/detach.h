/*
 * detach.h - the program's own bytes, everywhere at once: put back when the agent leaves, replaced again when it comes back.
 *
 * The caller holds the agent's lock, and has every thread stopped outside of the bytes (detach_is_inside).
 */
#ifndef WM_AGENT_DETACH_H
#define WM_AGENT_DETACH_H

#include <stdbool.h>
#include <stdint.h>

/* A thread that goes on at pc would be amidst bytes that are, or may be, written together. Looks at functions that were not reached, too. */
bool detach_is_inside(uintptr_t pc);
/* The code of all images is as in their files. Stubs stay, for returns into them. False: some bytes could not be written. */
bool detach_code(void);
/* Undoes detach_code. is_all: sites are written anew, for more of their calls capture than before. */
bool detach_undo(bool is_all);

#endif
