/*
 * activity_run.h - random programs, run by a small interpreter that knows everything: what each activation did, what
 * tracing would have left in memory, and which parts of that the analysis of core/activity/activity.h is told.
 *
 * Calls come back, throw to an unwinding edge, jump back behind a setjmp, end the thread, exit, are tail calls, call
 * back from foreign code; handlers interrupt anything, and may jump out; threads begin and end; the outside calls
 * what it may.
 */
#ifndef WM_TESTS_CORE_ACTIVITY_RUN_H
#define WM_TESTS_CORE_ACTIVITY_RUN_H

#include "cfgs.h"
#include "core/activity/activity.h"

enum {
	RUN_FUNCTIONS = 10,
	RUN_NODES = 60,
	RUN_EDGES = 200,
	RUN_CALLS = 200,
	RUN_DEPTH = 40,
	RUN_THREADS = 3,
	RUN_STEPS = 600,
};

/* What an activation did, or all those of a function. */
struct run_truth {
	bool nodes[RUN_NODES];
	bool edges[RUN_EDGES];
};

struct run_frame {
	uint32_t function;
	uint32_t node;
	uint32_t next; /* the call that comes next, or that it is in */
	enum {
		RUN_ENTERS = 0, /* at the node's first instruction, its point not reached */
		RUN_READY,
		RUN_POINTED, /* behind the point of `next` */
		RUN_CALLS_OUT,
	} state;
	uint32_t entered_by;
	bool interrupts; /* a handler: what is below was interrupted */
	bool exits;      /* in a call that the process ends in, or that found nowhere to jump to */
	struct run_truth truth;
	uint8_t calls_used[RUN_CALLS];
	uint8_t nodes_used[RUN_NODES];
	/* the nodes that it came through, without paths that a jump gave up */
	uint32_t path[RUN_STEPS + 1];
	uint32_t path_edges[RUN_STEPS + 1]; /* [i]: to path[i] */
	uint32_t path_count;
	uint32_t path_start; /* where its current path begins */
	uint32_t ended_by;   /* the edge that the path before it ended on */
};

struct run_thread {
	struct run_frame frames[RUN_DEPTH]; /* outermost first */
	uint32_t depth;
};

struct run {
	struct arena arena;
	struct rng rng;
	struct activity_program program;
	struct cfg cfgs[RUN_FUNCTIONS];
	struct activity_function functions[RUN_FUNCTIONS];
	struct activity_call *calls[RUN_FUNCTIONS];
	bool never_returns[RUN_FUNCTIONS];
	/* the run */
	struct run_thread threads[RUN_THREADS];
	struct run_truth truth[RUN_FUNCTIONS];
	bool entered[RUN_FUNCTIONS];
	uint8_t calls_used[RUN_FUNCTIONS][RUN_CALLS];
	uint8_t nodes_used[RUN_FUNCTIONS][RUN_NODES];
	/* which frame a frame of the program is */
	const struct run_frame *told[RUN_THREADS][RUN_DEPTH];
};

/* Makes a program, runs it for a while and fills r->program. Running out of memory ends the test. */
void run_random(struct run *r, uint64_t seed);
void run_deinit(struct run *r);

#endif
