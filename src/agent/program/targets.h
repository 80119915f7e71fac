/*
 * targets.h - the addresses in an image's texts that its data holds: tables of labels, pointers to functions. Scanning asks for them, and
 * then they are read. As that takes long for a large image, it can be done before, in steps. Under the agent's lock.
 */
#ifndef WM_AGENT_TARGETS_H
#define WM_AGENT_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/program/image.h"

/* Reads until all are read, or it is late; NULL: it never is. False: it was late. */
bool targets_read(struct agent_image *image, bool (*is_late)(void));
/* The lowest one in [low, high); 0: there is none. Without memory for them each address is one. */
uint64_t targets_next(struct agent_image *image, uint64_t low, uint64_t high);
void targets_release(struct agent_image *image);

#endif
