/*
 * branch_coverage.h - the ways of the source's branches, in each copy of their code.
 */
#ifndef WM_MODEL_PATHS_BRANCH_COVERAGE_H
#define WM_MODEL_PATHS_BRANCH_COVERAGE_H

#include "format/pathmeta.h"

struct branch_way {
	uint32_t file; /* the collector's number of it */
	uint32_t line;
	uint64_t group, cfg_key; /* the same in copies of one function */
	uint32_t node;
	uint32_t index; /* of the node's out-edges */
};

/* By place, then branches of it; 0: the same one, maybe in another copy. */
int branch_compare(const struct branch_way *x, const struct branch_way *y);
/* Also by ways of one branch. */
int branch_way_compare(const struct branch_way *x, const struct branch_way *y);

/* The line of the branch that the block ends with: what it tests; NULL when there is none, or it is not known. */
const struct pathmeta_line *branch_line(const struct pathmeta_function *m, uint32_t node);
/* The edge is a way of a branch of the source, and not one that a call or an indirect goto leaves by. */
bool branch_has_way(const struct pathmeta_function *m, uint32_t edge);
/* A key that functions of one place in the source share. */
uint64_t branch_group(const struct pathmeta_function *m);

#endif
