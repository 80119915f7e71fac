/*
 * slice_order.h - the lines of a crash's slice in the order in which to read them. They are taken in turn from two lists:
 *
 *      the nearest   by distance, which is how many lines a chain of dependences of any kind enters from the criterion. Of lines at the same distance
 *                    those come first that fewer lines depend on: what much else needs, such as an allocation or a loop over all input, says
 *                    less of one criterion
 *      the latest    of what the last paths of the calls on the stack went through, by distance, too; at the same distance what ran last
 */
#ifndef WM_MODEL_SLICES_SLICE_ORDER_H
#define WM_MODEL_SLICES_SLICE_ORDER_H

#include "model/slices/crash_code.h"
#include "model/slices/slice_graph.h"

struct slice_order {
	uint32_t *lines;  /* [place] in slice_lines; those of the slice */
	uint32_t *places; /* [line] its place, from 1; 0: not in the slice */
	uint32_t count;
};

struct slice_order_request {
	const struct slice_graph *graph;
	const struct slice_lines *lines;
	const struct crash_code *code;
	uint32_t thread, frame; /* the frame and those further out tell what ran last; frame UINT32_MAX: none does */
};

struct error *slice_order_make(const struct slice_order_request *request, struct slice_order *ret);
void slice_order_deinit(struct slice_order *o);

#endif
