/*
 * omissions.h - branches that ran and decided that something did not run which could have changed what a slice reads: potential dependences
 * (Agrawal, Horgan, Krauser and London, Incremental Regression Testing, ICSM 1993; Gyimothy, Beszedes and Forgacs, An Efficient Relevant Slicing
 * Method for Debugging, ESEC/FSE 1999).
 *
 * A slice of what ran has no store that did not run, and not what decided against it. Such a branch is found here where
 *
 *      B ran and took another way than that to X, which did not run (in the same activation, of those on the stack);
 *      X is between B and where its ways meet, reached from B by what did not run, and control could have gone on behind it;
 *      X can change a region that a read of the slice wants where B ends.
 *
 * What a read wants is what it read in this run, as far as the code that ran tells. What X can change is what the analysis of all code says, with
 * all that it calls. The branch alone is told, not what decided its condition; what could have kept the process from going on is left out.
 *
 * An omission is vague if it is one only since calls of functions that are not known may read anything, or by memory of libraries, which is not
 * told apart: each function that sets errno could have changed it.
 */
#ifndef WM_ANALYZE_OMISSIONS_H
#define WM_ANALYZE_OMISSIONS_H

#include "analyze/slice.h"

/* What could have been changed. */
enum omission_by {
	OMISSION_VARIABLE,  /* a variable */
	OMISSION_BY_CALL,   /* a variable, by what is called there */
	OMISSION_ALLOCATED, /* what an allocation made, which stands for all that it made */
	OMISSION_VAGUE,
};

struct omission {
	uint32_t branch;  /* instruction that ended a block */
	uint32_t went;    /* block that it went to; CODE_NONE: to more than one */
	uint32_t omitted; /* instruction that did not run */
	uint32_t reader;  /* instruction of the slice that reads what it could have changed: the nearest one */
	enum omission_by by;
};
VEC_DECLARE(omission_vec, struct omission);

struct omissions_request {
	const struct slice_request *slice_request; /* of the slice of what ran; `runs` and `comes` are not NULL */
	const struct slice *slice;
	const struct regions *all; /* of all code; what those of the slice are of is its code, too */
	const uint32_t *distances; /* [instruction] from the criterion; the nearest reader is told */
};

/* Each pair of a branch and a block that did not run has one, and perhaps a vague one. */
struct error *omissions_find(const struct omissions_request *request, struct omission_vec *ret);

#endif
