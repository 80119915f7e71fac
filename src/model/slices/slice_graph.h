/*
 * slice_graph.h - how the lines of a backward slice hang together: for each line those that it directly depends on (depends.h).
 */
#ifndef WM_MODEL_SLICES_SLICE_GRAPH_H
#define WM_MODEL_SLICES_SLICE_GRAPH_H

#include "analyze/depends.h"
#include "model/slices/slice_lines.h"

struct slice_edge {
	uint32_t line, on;        /* in slice_lines: `line` depends on `on` */
	enum slice_reason reason; /* what `on` is to `line` */
};
VEC_DECLARE(slice_edge_vec, struct slice_edge);

struct slice_graph {
	struct slice_edge_vec edges; /* by line, each pair of lines once */
	uint32_t cut;                /* instructions of which only one reason is known: the search was too long */
};

struct error *slice_graph_make(struct depends *d, const struct slice_lines *l, struct slice_graph *ret);
void slice_graph_deinit(struct slice_graph *g);

#endif
