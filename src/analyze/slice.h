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
 *
 * Of one run, `runs` leaves out what is proven not to have run in it. A dependence is dropped only if its source, its target, or every way
 * between them did not run: what an instruction used was made by one that ran, came through memory by calls and blocks that ran, and whether it
 * ran was decided by a branch that ran. Which branches decide is asked of all code: a branch that went one way only has decided, too. A store
 * that did not run reached nothing, so that what decided against it is no reason: omissions.h finds that. Of activations on the stack (`frames`) more is known: each
 * is a context of its own, in which only what ran in this activation counts, and which the call in progress of the next one led to. Functions
 * that have returned have any activation's blocks.
 *
 * A slice that needs more work than it may have is made once more, coarsely: what matters somewhere of memory matters everywhere, and a function
 * that is in it leads back to all that call it. Each instruction is then looked at a few times, and nothing that can matter is left out.
 */
#ifndef WM_ANALYZE_SLICE_H
#define WM_ANALYZE_SLICE_H

#include "analyze/async.h"
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
	uint64_t steps;        /* words of sets that were gone through */
	bool is_forward;       /* made by forward.h */
	bool is_coarse;        /* the finer one needs more steps than the request's limit */
};

/* An activation on the stack. */
struct slice_frame {
	uint32_t function;
	const bool *runs; /* [block of the function] ran in this activation, or can have; NULL: all can */
	const bool *
		comes; /* [predecessor of those blocks, as in code.predecessors] control can have come from it; NULL: as before */
	const uint32_t *calls; /* one of these is in progress; of frame 0 none */
	uint32_t call_count;
};

/*
 * What mattered at the ends of blocks when a slice was done, for questions about what could have changed it (omissions.h). [0] is of all code, of
 * activations that are not frames; behind it, of each frame's function.
 */
struct slice_demand {
	struct id_set **
		at_end; /* [0 or frame + 1][block, of frames less the function's first] regions; of blocks that branch */
	uint32_t *block_counts; /* [0 or frame + 1] */
	uint32_t count;
	/* Of functions that may run at any time, by handlers and threads: what matters somewhere matters at any of their instructions. */
	struct async async;
	struct id_set ever;       /* to stores of those functions */
	struct id_set ever_async; /* to stores of the others */
};

struct slice_request {
	const struct regions *regions;
	const bool *runs; /* as in memory_analyse: nothing else is in a slice */
	const bool *
		comes; /* [index in code.predecessors] control can have come to the block from this one; NULL: all can */
	const uint32_t *criteria;
	uint32_t criterion_count;
	bool criteria_stand; /* control is in them and has not come behind: what they would read or return does not matter */
	const uint32_t
		*calls; /* in progress, where the frames that they are in are not told: they are in the slice, too */
	uint32_t call_count;
	/* Frame 0 has the criteria. Without frames the criteria are of all activations. */
	const struct slice_frame *frames; /* innermost first: frame 0 was called by frame 1, and so on */
	uint32_t frame_count;
	bool frames_are_whole;       /* nothing of the program called the last one; else any call of it can have */
	const struct slice *within;  /* nothing else is in the slice; NULL: all can be */
	struct slice_demand *demand; /* to be filled, unless the slice is coarse; NULL: not wanted */
	uint64_t limit_steps;        /* 0: none */
	bool is_coarse;              /* it is to be coarse from the beginning */
};

struct error *slice_backward(const struct slice_request *request, struct slice *ret);
void slice_deinit(struct slice *s);
void slice_demand_deinit(struct slice_demand *d);

#endif
