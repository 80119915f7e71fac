/*
 * callcontext.h - calling contexts with recursion: a model of instrumented code and the runtime (section 3.2 of the paper).
 *
 * A context is a node, its id, and a stack of pushes, outermost first. Equal pushes in a row are one entry with a run count:
 *
 *      A C G F . C G F . C G F . C G F .           at each '.' F calls C over a back edge; ACGF is id 3, CGF is id 2
 *      stack: (3, F->C) x 1, (2, F->C) x 3
 *
 * The model is the reference of the tests; instrumented code keeps single pushes, its readers the runs.
 * Not thread-safe.
 */
#ifndef WM_TEST_CALLCONTEXT_H
#define WM_TEST_CALLCONTEXT_H

#include "base/vec.h"
#include "core/contexts/callgraph.h"

/* One entry of a context stack, outermost first, `run` equal pushes in a row (section 3.2, last paragraph). */
struct callgraph_push {
	uint64_t id;
	uint32_t edge; /* the pushed edge */
	uint32_t run;
};

VEC_DECLARE(callcontext_stack, struct callgraph_push);

struct callcontext {
	const struct callgraph *g; /* encoded, outlives the context */
	uint32_t node;
	uint64_t id;
	struct callcontext_stack stack;
};

/* Enters node `start` as a push from outside would: ERROR_ARGUMENT when it has no dummy. */
struct error *callcontext_init(struct callcontext *c, const struct callgraph *g, uint32_t start);
void callcontext_deinit(struct callcontext *c);
/* Calls over an edge that leaves c->node, and comes back over it. ERROR_ARGUMENT when that is not possible here. */
struct error *callcontext_call(struct callcontext *c, uint32_t edge);
struct error *callcontext_return(struct callcontext *c, uint32_t edge);

/* A context as it was captured. */
struct callcontext_view {
	const struct callgraph_push *stack;
	size_t stack_len;
	uint32_t node;
	uint64_t id;
};

/*
 * Decodes a whole context (decodeStack): appends its edges to ret, outermost first, runs written out, and sets *ret_start to
 * the function where the outermost piece starts. ERROR_FORMAT when it is not a context of the graph, ERROR_OVERFLOW when it
 * has more than max_edges edges; ret is then as it was. ret takes memory from its own allocator.
 */
struct error *callcontext_decode(const struct callgraph *g, const struct callcontext_view *view, size_t max_edges,
				 struct callgraph_edges *ret, uint32_t *ret_start);

/*
 * The context, in the numbering that g now has, that is entered at `start` and called over `edges`, outermost first: what
 * callcontext_decode gave in the old epoch goes in here in the new one. ERROR_ARGUMENT when the edges are no chain from there.
 * The caller deinits *ret.
 */
struct error *callcontext_translate(const struct callgraph *g, uint32_t start, const uint32_t *edges, size_t count,
				    struct callcontext *ret);

#endif
