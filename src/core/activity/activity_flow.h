/*
 * activity_flow.h - how far control can have come in functions: what the parts of the analysis of activity.h share.
 * Internal to src/core.
 */
#ifndef WM_CORE_ACTIVITY_ACTIVITY_FLOW_H
#define WM_CORE_ACTIVITY_ACTIVITY_FLOW_H

#include "core/activity/activity.h"

enum flow_flag {
	FLOW_ENTERED = 1 << 0,  /* control can have come to the node */
	FLOW_PASSED = 1 << 1,   /* and gone on from it to its successors, or returned */
	FLOW_LEFT = 1 << 2,     /* a call in it may have ended the activation otherwise than by returning */
	FLOW_ENDS = 1 << 3,     /* an activation may have ended in it, in any way */
	FLOW_RETAINED = 1 << 4, /* and come from it to where an activation ends */
	FLOW_POSITION = 1 << 5, /* a frame's control may be in it: its point may not be reached yet */
	FLOW_THROUGH = 1 << 6,  /* of a frame: it went on from here to where it is now */
	FLOW_RETURNS = 1 << 6,  /* of what has ended: an exit that it returned from */
	FLOW_TWICE = 1 << 7,    /* of what has ended: the node is behind a call that returns twice */
};

/*
 * Nodes, edges and calls of all functions are numbered through: those of function f begin at node_base[f] and so on.
 * flags and at are those of activations that have ended.
 */
struct activity_flow {
	const struct activity_program *p;
	uint32_t *node_base, *edge_base, *call_base; /* [function_count + 1] */
	uint32_t *first_in;                          /* [nodes + 1] where the in-edges of a node begin in `in` */
	uint32_t *in;                                /* [edges], each as numbered in its function */
	uint32_t *first_call;                        /* [nodes + 1] */
	uint32_t *function_of;                       /* [nodes] */
	uint32_t *node_of;                           /* [calls] */
	uint32_t *first_caller; /* [function_count + 2]: the last row is of calls that may call any taken */
	uint32_t *callers;      /* calls, by the function they call */
	uint8_t *flags;         /* [nodes] */
	uint32_t *at;           /* [nodes]: the call, numbered through, that control cannot have passed */
	bool *is_entered;       /* [function_count]: not known never to have been */
	bool *returns;          /* [function_count]: an activation may have come back; */
	bool *leaves;           /* or ended otherwise */
	bool *repeats;          /* [function_count] tail calls may lead from the function to itself */
	bool any_leaves;        /* some function that is taken */
	bool ends_anywhere;     /* activations may have ended at any instruction */
	uint32_t most_nodes, most_edges, most_calls; /* of one function */
	uint64_t steps;
};

struct error *activity_flow_make(const struct activity_program *p, struct arena *arena, struct activity_flow *flow);

/* A walk in one function: of all activations that have ended, or of a frame. */
struct flow_walk {
	const struct activity_flow *flow;
	uint32_t function;
	const struct activity_frame *facts; /* NULL: only those of the whole run */
	uint8_t *flags;                     /* [node_count] */
	uint32_t *at;                       /* [node_count] */
};

/* The node's point is known not to have been reached. */
bool flow_node_unused(const struct flow_walk *w, uint32_t node);
/* The call, numbered through, can have been done; come back; ended the activation that does it. */
bool flow_call_runs(const struct flow_walk *w, uint32_t call);
bool flow_call_returns(const struct activity_flow *flow, uint32_t call);
bool flow_call_leaves(const struct activity_flow *flow, uint32_t call);
/* Can be a tail call: what does it has ended then. */
bool flow_call_is_tail(const struct activity_flow *flow, uint32_t call);
/* Has control in `node`, which it has come to, pass what calls it can. */
void flow_step(const struct flow_walk *w, uint32_t node);

static inline const struct activity_call *flow_call(const struct activity_flow *flow, uint32_t call)
{
	uint32_t f = flow->function_of[flow->node_of[call]];

	return &flow->p->functions[f].calls[call - flow->call_base[f]];
}

#endif
