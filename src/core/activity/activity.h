/*
 * activity.h - which code can have run before a program stopped: from its stacks, the paths of their frames and
 * coverage.
 *
 * Active nodes and edges, intra- and interprocedural: Ohmann and Liblit, ASE journal 2017, section 5.1, figures 8 to
 * 10. Safe: what may have run is never called inactive, whatever ran; also when calls throw, jump away (longjmp) or
 * end a thread. Almost linear (dominators: times a logarithm) in nodes, edges and calls of the program, plus frames
 * times the size of their functions.
 *
 * Further than the paper: what must have run (covered points, nodes of paths, what dominates them), function coverage
 * in the intraprocedural part, several threads, frames whose position is known only as one of several nodes.
 *
 * Every activation of a function is one of two kinds, and what may have run is what any of them may have run:
 *
 *      in progress   it is a frame of a stack. Its walk began at the entry and has come to where control is, by way
 *                    of its last path. It passed no point that it did not reach, neither in this activation nor in
 *                    the whole run, and no call whose callee cannot have come back.
 *      ended         there may be any number of them, of functions that something called. Their walks began at the
 *                    entry and came to an exit, or to a call that may have left them: one that throws, jumps or ends
 *                    the thread, or whose callee may have been left in such a way, which is followed from callees to
 *                    callers. They passed no point that the run did not reach. The call at the end of an exit node
 *                    may be a tail call: then they ended there whether its callee came back or not.
 *
 * In a call that the process ends in (exit) an activation is in progress for good; so an ended one has not been
 * there. Where a function has a call that returns twice (setjmp), a walk may have gone on behind it from any call
 * that may leave.
 *
 * A node has run when control has come to its first instruction. The code between that and its point, and between a
 * point before a call and the call, is taken to run at once, but where a frame's control is.
 */
#ifndef WM_CORE_ACTIVITY_ACTIVITY_H
#define WM_CORE_ACTIVITY_ACTIVITY_H

#include "base/arena.h"
#include "core/paths/cfg.h"

enum activity_state {
	ACTIVITY_NO = 0, /* cannot have run */
	ACTIVITY_MAYBE,
	ACTIVITY_YES, /* ran */
};

#define ACTIVITY_ANY UINT32_MAX /* a callee: any function whose address is taken or that other images can call */
#define ACTIVITY_FOREIGN (UINT32_MAX - 1) /* code outside: may call back what ACTIVITY_ANY may call */
#define ACTIVITY_PURE (UINT32_MAX - 2)    /* code outside that calls nothing back and always returns (strlen) */

/* The state of a coverage point over the whole run, or over one activation. */
enum activity_point {
	POINT_UNKNOWN = 0, /* not traced */
	POINT_UNUSED,      /* never reached */
	POINT_USED,
};

/* In the order of execution within a node, nodes rising. Only the last call of a node may lead on by an unwinding edge.
 * */
struct activity_call {
	uint32_t node;
	uint32_t callee; /* index of a function, or one of the above */
	/* The instruction itself may end the activation otherwise than by its callee's doing (which is followed
	 * anyway): foreign code that throws, jumps, ends or switches the thread. */
	bool may_leave;
	/* may_leave: to where no unwinding edge leads, as longjmp, setcontext, the end of a thread. From a handler it may
	 * leave whatever was interrupted. */
	bool jumps;
	/* It never comes back to the code behind it (noreturn), and is no tail call. With ACTIVITY_FOREIGN and without
	 * may_leave: the process ends in it (exit, abort). */
	bool no_return;
};

struct activity_function {
	const struct cfg *cfg;
	const struct activity_call *calls;
	uint32_t call_count;
	bool is_root; /* something outside calls it: main, constructors, handlers, thread starts, exported, address taken */
	bool is_once;    /* is_root: but not more than once (main) */
	bool is_handler; /* may interrupt any code: signal handlers; if it can jump, activations may end anywhere */
	bool is_address_taken;       /* what ACTIVITY_ANY may call */
	enum activity_point entered; /* function coverage over the whole run */
	const uint8_t *calls_used;   /* [call_count] enum activity_point over the whole run; NULL: all unknown */
	const uint8_t *nodes_used;   /* [node_count], the same for blocks */
};

struct activity_frame {
	uint32_t function;
	/* Where control is: `path`, oldest node first, edges between them; at least its last node is known, if
	 * position_count is 0. */
	const uint32_t *path;
	const uint32_t
		*path_edges; /* [path_count - 1]; UINT32_MAX where the link between two nodes is no edge (not known) */
	uint32_t path_count;
	bool path_is_whole;        /* it begins with the activation: nothing came before */
	const uint32_t *positions; /* path_count 0: control is in one of these nodes */
	uint32_t position_count;   /* 0 too: anywhere in the function */
	const uint8_t *calls_used; /* of this activation, as above; NULL: unknown */
	const uint8_t *nodes_used;
	uint32_t call; /* the call in progress, index in the function's calls; UINT32_MAX: none (innermost), or not known */
	bool call_is_known;
};

struct activity_stack { /* one thread, innermost first; frames of foreign code are left out */
	const struct activity_frame *frames;
	uint32_t frame_count;
};

struct activity_program {
	const struct activity_function *functions;
	uint32_t function_count;
	const struct activity_stack *stacks;
	uint32_t stack_count;
	/* Activations may be in progress that are in no stack here, or have ended anywhere: threads or frames that
	 * could not be read, a fork of one of several threads, asynchronous cancellation. */
	bool is_partial;
};

struct activity_flow;

struct activity_result { /* [function_count] of enum activity_state; a function's own is YES when it was entered */
	uint8_t *functions;
	uint8_t **nodes; /* [function][node_count] */
	uint8_t **edges; /* [function][edge_count] */
	const struct activity_program *program;
	const struct activity_flow *flow; /* for activity_of_frame */
	uint64_t steps;                   /* what it took */
};

/* Over the whole program. Memory is the arena's. ERROR_ARGUMENT: an index is not one of its graph. */
struct error *activity_analyse(const struct activity_program *p, struct arena *arena, struct activity_result *ret);

/* The activity of one activation alone: nodes[node_count], edges[edge_count] are the caller's. p is the one analysed, and still
 * there. */
struct error *activity_of_frame(const struct activity_result *r, const struct activity_frame *frame, uint8_t *nodes,
				uint8_t *edges);

#endif
