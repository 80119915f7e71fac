/*
 * forward.h - a forward slice: the instructions that a change of the criterion can reach, in what they compute, or in whether they run.
 *
 * The engine of slice.h turned round. Each function has, at the beginning of each of its blocks, the set of memory regions whose contents there
 * can be others; an instruction that reads one of them joins the slice, and what it changes can be other, too; what an instruction outside of the
 * slice surely overwrites is as it was. Two phases again: from the criterion up to callers, by what functions return and leave in memory, and
 * down into functions that are given something, which lead back to those calls only that gave it.
 *
 * Whether a call may end the process goes along as a region: where that can be other, all that follows is in the slice.
 */
#ifndef WM_ANALYZE_FORWARD_H
#define WM_ANALYZE_FORWARD_H

#include "analyze/slice.h"

/* Of the request: regions, runs and criteria. Why an instruction is in: because of one that came before it. The owner deinits by slice_deinit. */
struct error *slice_forward(const struct slice_request *request, struct slice *ret);

#endif
