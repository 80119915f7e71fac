/*
 * context_graph.h - one instrumented image made ready for decoding: its metadata, its encoded call graph, its names demangled
 * when first needed. Not thread-safe (names are cached).
 */
#ifndef WM_MODEL_CONTEXTS_CONTEXT_GRAPH_H
#define WM_MODEL_CONTEXTS_CONTEXT_GRAPH_H

#include "core/contexts/callgraph.h"
#include "format/meta.h"
#include "object/object.h"
#include "model/contexts/context_frame.h"

struct image {
	struct meta meta;
	struct build_id build_id; /* len_bytes 0 when not known */
	struct callgraph graph;
	uint32_t *edges;             /* scratch of callgraph_decode, as many as functions */
	const char **function_names; /* demangled, NULL until needed */
	const char **location_names;
	const char **foreign_names; /* by site, in brackets */
};

/* Takes over *meta (leaves it initialised and empty) also on failure. ERROR_FORMAT when the encoding contradicts itself. */
struct error *image_create(struct meta *meta, struct image **ret);
void image_destroy(struct image *image);

/* Appends the frames of a call (or capture) site, outermost first: its function, then what is inlined there. */
struct error *image_append_site(struct image *image, uint32_t site, struct frame_vec *frames);
/* The bracketed frame of what a FOREIGN, BOUND, INDIRECT or ASM site calls. */
struct error *image_foreign_frame(struct image *image, uint32_t site, struct frame *ret);
/* Demangled. NULL when memory is short. */
const char *image_function_name(struct image *image, uint32_t function);

/*
 * Decodes one acyclic piece: the encoded call sites from the function where the last push started (*ret_start) down to
 * `function`, outermost first. They are image->graph.edges[image->edges[0 .. *ret_count - 1]].site, until the next call.
 */
struct error *image_decode_piece(struct image *image, uint32_t function, uint64_t id, uint32_t *ret_count,
				 uint32_t *ret_start);

#endif
