/*
 * frequency.h - how often each call of a call graph runs, from how often it runs per execution of its caller.
 */
#ifndef WM_CORE_CONTEXTS_FREQUENCY_H
#define WM_CORE_CONTEXTS_FREQUENCY_H

#include "core/contexts/callgraph.h"

/*
 * Sets the weight of every edge: relative[e] (calls over e per entry of its caller) times the entries of the caller, which
 * are base[n] (entries from outside the graph) plus all calls to n. In cycles what a function calls within the cycle counts
 * as at most 0.9 calls an entry, so that the sums are finite. What is negative or not a number counts as 0.
 *
 * ret_entries gets the entries of each node, unless it is NULL.
 *
 * Weights are fixed-point: 1024 is one execution, unless the largest would pass 2^62; then all are scaled down to that. What
 * is above 0 stays at least 1. Deterministic, not recursive, linear but for cycles. Keeps an encoding of the graph.
 */
struct error *frequency_propagate(struct callgraph *g, const double *relative, const double *base, double *ret_entries);

#endif
