/*
 * skipped.h - functions that metadata leaves out.
 */
#ifndef WM_FORMAT_SKIPPED_H
#define WM_FORMAT_SKIPPED_H

#include "base/vec.h"

/* A function that is not counted, or not traced as asked, and why: one line for people. */
struct skipped_function {
	const char *name;
	const char *reason;
	uint32_t unit;
};

VEC_DECLARE(skipped_vec, struct skipped_function);

#endif
