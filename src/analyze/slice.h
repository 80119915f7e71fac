/*
 * slice.h - a backward slice: the instructions that can have made the criterion what it was.
 *
 * No dependence graph is made. Each function has, at the end of each of its blocks, the set of memory regions whose contents there matter
 * (Weiser, IEEE TSE 1984); a store that changes one of them joins the slice, and what it surely overwrites matters no more above it. Calls are
 * followed in two phases (Horwitz, Reps and Binkley, TOPLAS 1990): from the criterion up to callers, and down into functions whose effects
 * matter, which lead back to those calls only that asked. Registers, control (control.h) and arguments go along.
 *
 * Nothing that can matter is left out, by the answers of memory.h. That a call came back matters, too: what decides whether a function that may
 * end the process did so is in the slice.
 */
#ifndef WM_ANALYZE_SLICE_H
#define WM_ANALYZE_SLICE_H

#include "analyze/control.h"
#include "analyze/regions.h"

enum slice_reason {
	SLICE_OUT = 0,
	SLICE_CRITERION,
	SLICE_VALUE,      /* its value is used */
	SLICE_MEMORY,     /* what it stores is read, or can be */
	SLICE_CONTROL,    /* it decides whether something runs */
	SLICE_CALL,       /* the call that something runs in */
	SLICE_ARGUMENT,   /* its value is an argument that is used */
	SLICE_RETURN,     /* its value is returned and used */
	SLICE_COMES_BACK, /* it may not return */
};

/* Why an instruction is in: because of another one. */
struct slice_why {
	enum slice_reason reason;
	uint32_t of; /* instruction; CODE_NONE for a criterion */
};

struct slice {
	struct slice_why *why; /* [instruction], the first reason that was found */
	uint32_t count;        /* of instructions that are in */
	uint64_t steps;        /* blocks that were gone through */
};

struct slice_request {
	const struct regions *regions;
	const bool *runs; /* as in memory_analyse: nothing else is in a slice */
	const uint32_t *criteria;
	uint32_t criterion_count;
};

struct error *slice_backward(const struct slice_request *request, struct slice *ret);
void slice_deinit(struct slice *s);

#endif
