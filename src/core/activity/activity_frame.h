/*
 * activity_frame.h - what one activation in progress can have done and must have done. Internal to src/core.
 */
#ifndef WM_CORE_ACTIVITY_ACTIVITY_FRAME_H
#define WM_CORE_ACTIVITY_ACTIVITY_FRAME_H

#include "core/activity/activity_flow.h"
#include "core/paths/dominators.h"

enum frame_call {
	FRAME_CALL_NO = 0,
	FRAME_CALL_MAYBE,    /* an activation of its callee may have been begun by it, and have ended */
	FRAME_CALL_ENTERED,  /* it entered its callee */
	FRAME_CALL_ENDED,    /* and that activation has ended */
	FRAME_CALL_RETURNED, /* by coming back */
};

/* Arrays are of the function's size; room for the largest function of a program. */
struct frame_view {
	uint32_t function;
	uint8_t *nodes;  /* enum activity_state */
	uint8_t *edges;  /* the same */
	uint8_t *passed; /* control has gone on from the node, as bool */
	uint8_t *calls;  /* enum frame_call */
	uint8_t *flags;  /* enum flow_flag; FLOW_POSITION: control may be in it */
	uint32_t *at;
	uint32_t *list;
	struct dominators dominators;
	uint64_t steps;
};

struct error *frame_view_create(const struct activity_flow *flow, struct frame_view *ret);
void frame_view_destroy(struct frame_view *v);

/* inner: the function of the frame that this one called, UINT32_MAX for none. The view is of this frame until the next
 * call. */
struct error *frame_view_make(const struct activity_flow *flow, const struct activity_frame *frame, uint32_t inner,
			      struct frame_view *v);

#endif
