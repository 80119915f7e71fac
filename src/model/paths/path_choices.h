/*
 * path_choices.h - what paths do not distinguish: choices that the code makes without a branch, and branches of the source that the
 * optimizer took away before the final stage counted.
 *
 * Selects, minima, masked accesses and tables of switches are in the code, so they are counted. What the optimizer merged or
 * dropped is not, and no number of it exists: where a function was counted at the final stage, nobody knows whether two source
 * paths are one path.
 */
#ifndef WM_MODEL_PATHS_PATH_CHOICES_H
#define WM_MODEL_PATHS_PATH_CHOICES_H

#include <stdio.h>

#include "model/paths/path_profile.h"

struct path_choices {
	uint64_t functions;         /* looked at */
	uint64_t final_functions;   /* counted at the final stage */
	uint64_t unknown_functions; /* without metadata */
	uint64_t selects;
	uint64_t switch_tables;
};

void path_choices_add(struct path_choices *c, const struct path_profile *p, const struct path_function *f);

/* Different paths of the source may be one path. */
static inline bool path_choices_hide(const struct path_choices *c)
{
	return c->final_functions || c->unknown_functions || c->selects || c->switch_tables;
}

/* "3 selects, 1 switch table"; "no select" with neither. */
void path_choices_print_counts(uint64_t selects, uint64_t switch_tables, FILE *out);

/* A sentence without its end: what is not distinguished, and why. between: a blank, or what begins a new line. */
void path_choices_print(const struct path_choices *c, const char *between, FILE *out);

#endif
