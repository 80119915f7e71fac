/*
 * no_callback.h - functions of the C library that call nothing of the program and capture nothing: calls of them need no code.
 */
#ifndef WM_AGENT_QUIET_H
#define WM_AGENT_QUIET_H

#include <stdbool.h>
#include <stdint.h>

struct agent_image;

/* Looks their addresses up. Once, at start, under the agent's lock. */
bool no_callback_init(void);
/* With the heap client: those that take memory capture. *ret_is_new: true if they did not before. False without memory. */
bool no_callback_add_heap(bool *ret_is_new);
/* The functions of Waymark's runtime, if the image has one. False without memory. */
bool no_callback_add_runtime(const struct agent_image *image);
bool no_callback_is_known(uintptr_t address);
/* A call of it captures: who calls it is to be instrumented, for the context to be found at once. */
bool no_callback_captures(uintptr_t address);

#endif
