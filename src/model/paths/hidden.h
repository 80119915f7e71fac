/*
 * hidden.h - functions that may have run in code of others and left no block there (format/pathmeta.h: hidden): what their own
 * blocks say is not all, so none of them, and no line of them, can be said not to have run.
 */
#ifndef WM_MODEL_PATHS_HIDDEN_H
#define WM_MODEL_PATHS_HIDDEN_H

#include "format/pathmeta.h"
#include "base/hashmap.h"

/* All zero: none. */
struct hidden {
	struct hashmap names;
};

void hidden_deinit(struct hidden *h);

/* Adds what a function hides: if it may have run, or anyway. */
struct error *hidden_add(struct hidden *h, const struct pathmeta_function *f, bool may_have_run);
/* A function by its name in lines and flows. */
bool hidden_has(const struct hidden *h, const char *name);

/* The function has code on the line. */
bool hidden_has_line(const struct pathmeta_function *f, const struct pathmeta_line *line);
/* Bodies of one function of the source: if two, one was specialized. */
bool hidden_are_twins(const struct pathmeta_function *f, const struct pathmeta_function *g);

#endif
