/* crash_hidden.h - what may have run unseen (hidden.h) in a stopped program. */
#ifndef WM_MODEL_CRASH_CRASH_HIDDEN_H
#define WM_MODEL_CRASH_CRASH_HIDDEN_H

#include "model/crash/crash.h"
#include "model/paths/hidden.h"

/* Finds what functions that may have run hide: states[function], enum activity_state, numbered as in struct crash. */
struct error *crash_hidden_find(const struct crash *c, const uint8_t *states, struct hidden *ret);

/* A line of a function that has a body, may have run in it, and is not there: it was folded. function: its name. */
bool crash_hidden_line(const struct crash *c, const uint8_t *states, uint32_t image, const char *function,
		       const struct pathmeta_line *line);

#endif
