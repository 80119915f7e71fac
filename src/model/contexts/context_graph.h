/*
 * context_graph.h - one image made ready for decoding: its metadata, its encoded call graph, its names demangled when first
 * needed. Not thread-safe (names are cached).
 *
 * An instrumented image has one encoding. Recorded code (recorded_graph.h) is an image with one encoding for each epoch.
 */
#ifndef WM_MODEL_CONTEXTS_CONTEXT_GRAPH_H
#define WM_MODEL_CONTEXTS_CONTEXT_GRAPH_H

#include "core/contexts/callgraph.h"
#include "core/contexts/hybrid.h"
#include "format/meta.h"
#include "object/object.h"
#include "model/base/context_frame.h"

struct encoding {
	struct callgraph graph;
	uint32_t *edges; /* scratch of decoding */
	/* of an image with hybrid encoding */
	struct hybrid hybrid;
	uint32_t *offsets; /* by edge */
	bool *is_placed;   /* by node */
};

/* A call of a function by itself that is in the history (META_SITE_SELF_CALL). */
struct image_self_call {
	uint32_t function;
	uint32_t code;
	uint32_t bits;
	uint32_t edge; /* of the graph */
};

struct image {
	struct meta meta;
	struct build_id build_id; /* len_bytes 0 when not known */
	const char *path;         /* where it was loaded, of meta.arena; NULL when not known, and for recorded code */
	struct encoding encoding; /* of an instrumented image: the one of all epochs */
	struct image_self_call *self_calls; /* by function and code */
	uint32_t self_call_count;
	struct recorded *recorded;   /* NULL unless it is recorded code */
	const char **function_names; /* demangled, NULL until needed */
	const char **location_names;
	const char **foreign_names; /* by site, in brackets */
};

/* Takes over *meta (leaves it initialised and empty) also on failure. ERROR_FORMAT when the encoding contradicts itself. */
struct error *image_create(struct meta *meta, struct image **ret);
void image_destroy(struct image *image);
/* Makes room for so many names. */
struct error *image_alloc_names(struct image *image, size_t functions, size_t locations, size_t sites);

/* Checks an encoding whose graph has nodes and edges with their results, and makes it ready. */
struct error *encoding_adopt(struct encoding *e);
void encoding_deinit(struct encoding *e);

/* Appends the frames of a call (or capture) site, outermost first: its function, then what is inlined there. */
struct error *image_append_site(struct image *image, uint32_t site, struct frame_vec *frames);
/* The bracketed frame of what a FOREIGN, BOUND, INDIRECT or ASM site calls. */
struct error *image_foreign_frame(struct image *image, uint32_t site, struct frame *ret);
/* Demangled. NULL when memory is short. */
const char *image_function_name(struct image *image, uint32_t function);

/* What calls of functions by themselves have left (waymark/abi.h): where a piece begins, and at its end. */
struct context_history {
	uint32_t began;
	uint32_t now;
};
enum {
	CONTEXT_SELF_CALLS_MAX = 32, /* in a piece: each takes a bit */
};

/*
 * One piece: the calls that are in the number, from the function where the last push started, with those of functions by themselves.
 * Good until the next piece is decoded.
 */
struct context_piece {
	const struct callgraph *graph;
	const uint32_t *edges; /* of the graph, outermost first */
	uint32_t edge_count;
	uint32_t start; /* a function */
	bool starts_at_root;
};
/* Down to a node of a graph; *ret_start is the node where it starts, ret->start is left to the caller, who knows its function. */
struct error *encoding_decode(struct encoding *e, uint32_t node, uint64_t id, struct context_piece *ret,
			      uint32_t *ret_start);
/* Down to `function`, whose id is one of that epoch. site: the call or capture in it at which the id was recorded, 0 if none was: what the
 * ids of a hybrid encoding need. */
struct error *image_decode_piece(struct image *image, uint32_t epoch, uint32_t function, uint32_t site, uint64_t id,
				 struct context_history history, struct context_piece *ret);
/* Index in meta.sites of a call of a piece. */
static inline uint32_t context_piece_site(const struct context_piece *piece, uint32_t i)
{
	return piece->graph->edges[piece->edges[i]].site;
}

/* *ret: in that epoch the site pushes, and the function is known as a callee. is_elided: the push is marked with WM1_SITE_ELIDED, for
 * which recorded code may push where its call is encoded. */
struct error *image_is_pushed_to(struct image *image, uint32_t epoch, uint32_t site, uint32_t function, bool is_elided,
				 bool *ret);
/* The site's number, for messages: in the image, of recorded code in the process. */
uint32_t image_site_number(const struct image *image, uint32_t site);

#endif
