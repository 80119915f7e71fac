/*
 * crash_branches.h - activity of branches: which of their ways were taken, and which cannot have been.
 */
#ifndef WM_MODEL_CRASH_CRASH_BRANCHES_H
#define WM_MODEL_CRASH_CRASH_BRANCHES_H

#include "model/crash/crash_lines.h"

enum crash_way {
	CRASH_WAY_TAKEN,
	CRASH_WAY_NOT_TAKEN, /* cannot have been, though the block ran that the branch is in */
	CRASH_WAY_NOT_COME,  /* cannot have been, as none of the branch's: control never came to it */
	CRASH_WAY_UNKNOWN,
};

struct crash_branch { /* one way of it */
	uint32_t file;
	uint32_t line;
	uint32_t block; /* distinguishes the branches of one line, from 0 */
	uint32_t way;   /* 0, 1, ... of this branch */
	enum crash_way state;
};
VEC_DECLARE(crash_branch_vec, struct crash_branch);

/* By file, line, block and way. Files are those of l. Copies of code count together, as for lines. */
struct error *crash_branches_find(const struct crash *c, const struct activity_result *activity, struct crash_lines *l,
				  struct crash_branch_vec *ret);

#endif
