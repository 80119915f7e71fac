/*
 * callgraph_ranks.h - the numbers of an encoding as what they follow from: the order of the encoded calls into each function.
 *
 * Where roots set their id (callgraph_options), no range of a node has a gap behind it, and a dummy comes right behind the first edge, numbers
 * follow from kinds and ranks alone:
 *
 *        rank 0 | dummy | rank 1 | rank 2 | ...          each as long as the contexts of its caller, the dummy 1
 *
 * A call that is added to a graph changes the numbers of most functions below it, but the ranks into one. So ranks are what a dictionary by
 * difference has (docs/format.md, Epochs). Ownership and threads as in callgraph.h.
 */
#ifndef WM_CORE_CONTEXTS_CALLGRAPH_RANKS_H
#define WM_CORE_CONTEXTS_CALLGRAPH_RANKS_H

#include "core/contexts/callgraph.h"

/*
 * Numbers a graph whose edges have their kinds and, if they are encoded, their ranks as `addend`, and whose nodes have is_root and has_dummy:
 * sets addends, contexts and restarts, for callgraph_adopt to check. ERROR_FORMAT: the ranks into a function are not 0, 1, 2 ..., encoded edges
 * form a cycle, a function has no context, or a sum does not fit.
 */
struct error *callgraph_number_ranks(struct callgraph *g);

#endif
