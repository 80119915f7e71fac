/*
 * record.h - the program as it was discovered, in the recording: functions, sites, and the dictionary of each epoch
 * (recorder/code.h). The caller holds the agent's lock.
 */
#ifndef WM_AGENT_RECORD_H
#define WM_AGENT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/program/program.h"

/* Gives the image its number, which takes what is in its memory: before it can be unloaded. */
void record_image(struct agent_image *image);
/* Forgets the points at these addresses: the code there was unloaded. */
void record_forget(uintptr_t low, uintptr_t high);
/* Gives the call's site its number, and the call its place in the present dictionary. */
bool record_call(struct agent_call *call);
/* The number of a point of a function: a call in progress that the graph does not have, or where a capture was made. 0: no room. */
uint32_t record_point(uint32_t function, uintptr_t address, bool is_call);
/* The same for a call, with its callee in the present dictionary. */
uint32_t record_point_call(uint32_t function, uintptr_t address, uint32_t callee);
/* A new number of a call at that address of what is not instrumented. 0: no room, or no function. */
uint32_t record_foreign_call(uint32_t function, uintptr_t address, const char *name);
/* What stands on `prefix` and is called by the function at that address, which nothing that is instrumented has called: where that function
 * is not instrumented either, it is a frame in brackets. WM_PREFIX_LOST stays. */
uint32_t record_root(uint32_t prefix, uintptr_t entry);
/*
 * The dictionary of the epoch that the encoder has just begun: what differs from the one before, and all of it once the records since the last
 * whole one are twice as many as it has. So a reader of an epoch needs about as many records as two whole ones have at most.
 */
void record_epoch(void);
/* That of the first epoch, which has nothing yet. False: no room. */
bool record_first_epoch(void);

#endif
