/*
 * crash_hidden.h - functions that may have run in code of others and left no block there (format/tracemeta.h: hidden): what their
 * own blocks say is not all, so none of them, and no line of them, cannot have run.
 */
#ifndef WM_REPORT_CRASH_HIDDEN_H
#define WM_REPORT_CRASH_HIDDEN_H

#include "report/crash.h"

struct crash_hidden {
	struct keymap names;
};

/* Those of functions that may have run: states[function], enum activity_state, numbered as in struct crash. */
struct error *crash_hidden_find(const struct crash *c, const uint8_t *states, struct crash_hidden *ret);
void crash_hidden_deinit(struct crash_hidden *h);

/* A function by its name in lines and flows. */
bool crash_hidden_has(const struct crash_hidden *h, const char *name);
/* A line of a function that has a body, may have run in it, and is not there: it was folded. function: its name. */
bool crash_hidden_line(const struct crash *c, const uint8_t *states, uint32_t image, const char *function,
		       const struct pathmeta_line *line);

#endif
