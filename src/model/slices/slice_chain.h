/*
 * slice_chain.h - the shortest chain of lines from a slice's criterion back to one that no other line explains: where a value that matters is a
 * constant, or comes from outside.
 *
 * The links are flows of values: registers, memory, arguments, what is returned. Which memory is meant (the values of pointers) counts for the
 * criterion alone, and addresses of variables are no beginnings. Where no value of the criterion begins in another line, branches and calls are
 * links, too. Breadth-first over depends.h: a chain has as few lines as can be.
 */
#ifndef WM_MODEL_SLICES_SLICE_CHAIN_H
#define WM_MODEL_SLICES_SLICE_CHAIN_H

#include "analyze/depends.h"
#include "model/slices/slice_lines.h"

struct slice_link {
	uint32_t line;            /* in slice_lines */
	enum slice_reason reason; /* what it is to the link before it; SLICE_CRITERION: the first */
};
VEC_DECLARE(slice_link_vec, struct slice_link);

struct slice_chain {
	struct slice_link_vec links; /* none: there is no other line that the criterion depends on, or none was found */
	bool is_cut;                 /* the search was given up */
};

/* d, l: of the slice that was asked for. */
struct error *slice_chain_find(struct depends *d, const struct slice_lines *l, const struct slice_request *request,
			       struct slice_chain *ret);
void slice_chain_deinit(struct slice_chain *c);

#endif
