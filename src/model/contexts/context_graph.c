/* context_graph.c - metadata to a decodable call graph: functions are nodes, direct calls are edges with the stored result. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/demangle.h"
#include "model/contexts/context_graph.h"
#include "model/contexts/recorded_graph.h"
#include "waymark/abi.h"

static enum edge_kind edge_kind_of(enum meta_site_kind kind)
{
	if (kind == META_SITE_BACK || kind == META_SITE_SELF_CALL)
		return EDGE_BACK;
	return kind == META_SITE_CUT ? EDGE_CUT : EDGE_ENCODED;
}

static struct error *add_functions(struct image *image)
{
	const struct meta *m = &image->meta;
	struct callgraph *g = &image->encoding.graph;
	struct error *err = NULL;

	for (uint32_t i = 0; i < m->function_count && !err; i++) {
		const struct meta_function *f = &m->functions[i];
		uint32_t node;

		err = callgraph_add_node(g, f->flags & META_FUNCTION_ROOT, &node);
		if (err)
			break;
		g->nodes[node].has_dummy = f->flags & META_FUNCTION_HAS_DUMMY;
		g->nodes[node].restart = f->restart;
		g->nodes[node].contexts = f->contexts;
	}
	return err;
}

static struct error *add_sites(struct image *image)
{
	const struct meta *m = &image->meta;
	struct callgraph *g = &image->encoding.graph;
	struct error *err = NULL;

	for (uint32_t i = 1; i < m->site_count && !err; i++) {
		const struct meta_site *s = &m->sites[i];
		uint32_t edge;

		if (s->kind != META_SITE_CALL && s->kind != META_SITE_BACK && s->kind != META_SITE_CUT &&
		    s->kind != META_SITE_SELF_CALL)
			continue;
		err = callgraph_add_edge(g, s->caller, s->callee, i, 0, &edge);
		if (err)
			break;
		g->edges[edge].kind = edge_kind_of(s->kind);
		g->edges[edge].addend = s->addend;
		image->self_call_count += s->kind == META_SITE_SELF_CALL;
	}
	return err;
}

static int by_code(const void *a, const void *b)
{
	const struct image_self_call *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->code > y->code) - (x->code < y->code);
}

static struct error *list_self_calls(struct image *image)
{
	const struct callgraph *g = &image->encoding.graph;
	struct image_self_call *calls = calloc((size_t)image->self_call_count + 1, sizeof *calls);
	uint32_t count = 0;

	if (!calls)
		return &error_no_memory;
	image->self_calls = calls;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct meta_site *s = &image->meta.sites[g->edges[e].site];

		if (s->kind == META_SITE_SELF_CALL)
			calls[count++] = (struct image_self_call){s->caller, s->code, s->bits, e};
	}
	if (count)
		qsort(calls, count, sizeof *calls, by_code);
	for (uint32_t i = 1; i < count; i++)
		if (calls[i].function == calls[i - 1].function &&
		    (calls[i].code == calls[i - 1].code || calls[i].bits != calls[i - 1].bits))
			return error_create(ERROR_FORMAT, "damaged: two calls of %s by itself have one code",
					    image->meta.functions[calls[i].function].link_name);
	return NULL;
}

struct error *image_alloc_names(struct image *image, size_t functions, size_t locations, size_t sites)
{
	image->function_names = calloc(functions + 1, sizeof *image->function_names);
	image->location_names = calloc(locations + 1, sizeof *image->location_names);
	image->foreign_names = calloc(sites + 1, sizeof *image->foreign_names);
	return image->function_names && image->location_names && image->foreign_names ? NULL : &error_no_memory;
}

/* What callgraph_decode needs, and behind it what a piece with calls of functions by themselves does. */
static size_t encoding_scratch(const struct callgraph *g)
{
	return 2 * ((size_t)g->node_count + 1) + CONTEXT_SELF_CALLS_MAX;
}

struct error *encoding_adopt(struct encoding *e)
{
	e->edges = calloc(encoding_scratch(&e->graph), sizeof *e->edges);
	return e->edges ? callgraph_adopt(&e->graph) : &error_no_memory;
}

/* Functions and sites have become nodes and edges. */
static struct error *adopt_hybrid(struct encoding *e, const struct meta *m)
{
	const struct callgraph *g = &e->graph;

	e->edges = calloc(encoding_scratch(g), sizeof *e->edges);
	e->offsets = calloc((size_t)g->edge_count + 1, sizeof *e->offsets);
	e->is_placed = calloc((size_t)g->node_count + 1, sizeof *e->is_placed);
	if (!e->edges || !e->offsets || !e->is_placed)
		return &error_no_memory;
	for (uint32_t n = 0; n < g->node_count; n++)
		e->is_placed[n] = m->functions[n].flags & META_FUNCTION_PLACED;
	for (uint32_t i = 0; i < g->edge_count; i++) {
		const struct meta_site *s = &m->sites[g->edges[i].site];

		e->offsets[i] = s->flags & META_SITE_JUMP ? 0 : m->functions[s->caller].frame_bytes;
	}
	return hybrid_adopt(g, &(struct hybrid_frames){e->offsets, e->is_placed, NULL}, &e->hybrid);
}

void encoding_deinit(struct encoding *e)
{
	hybrid_deinit(&e->hybrid);
	free(e->offsets);
	free(e->is_placed);
	callgraph_deinit(&e->graph);
	free(e->edges);
}

struct error *image_create(struct meta *meta, struct image **ret)
{
	struct image *image = calloc(1, sizeof *image);
	struct error *err;

	if (!image) {
		meta_deinit(meta);
		meta_init(meta);
		return &error_no_memory;
	}
	image->meta = *meta;
	meta_init(meta);
	callgraph_init(&image->encoding.graph, NULL);
	err = add_functions(image) ?:
	      add_sites(image) ?:
	      list_self_calls(image) ?:
	      (image->meta.is_hybrid ? adopt_hybrid(&image->encoding, &image->meta) : encoding_adopt(&image->encoding)) ?:
	      image_alloc_names(image, image->meta.function_count, image->meta.location_count, image->meta.site_count);
	if (err) {
		err = error_context(err, "%s", image->meta.unit);
		image_destroy(image);
		return err;
	}
	*ret = image;
	return NULL;
}

void image_destroy(struct image *image)
{
	if (!image)
		return;
	encoding_deinit(&image->encoding);
	recorded_destroy(image->recorded);
	meta_deinit(&image->meta);
	free(image->self_calls);
	free(image->function_names);
	free(image->location_names);
	free(image->foreign_names);
	free(image);
}

const char *image_function_name(struct image *image, uint32_t function)
{
	const char **cached = &image->function_names[function];

	if (!*cached)
		*cached = demangle(&image->meta.arena, image->meta.functions[function].name);
	return *cached;
}

/* Flags of frames of the caller, and of those in brackets that it calls. */
static uint32_t caller_flags(const struct image *image, const struct meta_site *s)
{
	return image->meta.functions[s->caller].flags & META_FUNCTION_METHOD ? FRAME_METHOD : 0;
}

/* Without a position the function alone is known: no line, since the line of its head is not that of the call. */
static struct error *append_plain(struct image *image, const struct meta_site *s, struct frame_vec *frames)
{
	const struct meta_function *f = &image->meta.functions[s->caller];
	const char *name = image_function_name(image, s->caller);
	uint32_t flags = caller_flags(image, s) | (s->flags & META_SITE_TAIL ? FRAME_TAIL : 0);

	if (!name)
		return &error_no_memory;
	return frame_vec_append(
		frames, (struct frame){.name = name, .link_name = f->link_name, .file = f->file, .flags = flags});
}

static struct error *location_frame(struct image *image, const struct meta_site *s, uint32_t location,
				    struct frame *ret)
{
	const struct meta_location *l = &image->meta.locations[location - 1];
	const struct meta_function *f = &image->meta.functions[s->caller];
	const char **cached = &image->location_names[location - 1];
	const char *link_name = l->function ? l->function : f->link_name;

	if (!*cached)
		*cached =
			l->function ? demangle(&image->meta.arena, l->function) : image_function_name(image, s->caller);
	if (!*cached)
		return &error_no_memory;
	*ret = (struct frame){.name = *cached,
			      .link_name = link_name,
			      .file = l->file,
			      .line = l->line,
			      .column = l->column,
			      .flags = caller_flags(image, s)};
	if (l->inlined_at)
		ret->flags |= FRAME_INLINED;
	else
		ret->link_name = f->link_name;
	return NULL;
}

/* Code that waymark cc has put on the way into a function, which an agent has recorded: no function of the program. */
static bool is_way_in(const struct image *image, const struct meta_site *s)
{
	const char *name = image->meta.functions[s->caller].name;

	return image->recorded && (strncmp(name, WM1_CALL, strlen(WM1_CALL)) == 0 || strcmp(name, WM1_CALL_BOUND) == 0);
}

static struct error *append_site(struct image *image, uint32_t site, struct frame_vec *frames)
{
	const struct meta_site *s = &image->meta.sites[site];
	size_t first = frames->count;
	struct error *err = NULL;

	if (is_way_in(image, s))
		return NULL;
	if (!s->location && image->recorded) {
		bool is_known;

		err = recorded_append_lines(image, site, frames, &is_known);
		if (err || is_known)
			return err;
	}
	if (!s->location)
		return append_plain(image, s, frames);
	for (uint32_t l = s->location; l && !err; l = image->meta.locations[l - 1].inlined_at) {
		struct frame frame;

		err = location_frame(image, s, l, &frame);
		if (!err)
			err = frame_vec_append(frames, frame);
	}
	if (err)
		return err;
	if (s->flags & META_SITE_TAIL)
		frames->items[first].flags |= FRAME_TAIL;
	for (size_t i = first, j = frames->count - 1; i < j; i++, j--) { /* innermost first so far */
		struct frame swap = frames->items[i];

		frames->items[i] = frames->items[j];
		frames->items[j] = swap;
	}
	return NULL;
}

struct error *image_append_site(struct image *image, uint32_t site, struct frame_vec *frames)
{
	size_t first = frames->count;
	struct error *err = append_site(image, site, frames);
	const char *name = image->recorded ? recorded_image_name(image, image->meta.sites[site].caller) : image->path;

	for (size_t i = first; i < frames->count; i++)
		frames->items[i].image = name;
	return err;
}

struct error *image_foreign_frame(struct image *image, uint32_t site, struct frame *ret)
{
	const struct meta_site *s = &image->meta.sites[site];
	const char **cached = &image->foreign_names[site];

	if (s->kind == META_SITE_INDIRECT)
		*ret = (struct frame){.name = "[indirect]", .link_name = "[indirect]", .flags = FRAME_FOREIGN};
	else if (s->kind == META_SITE_ASM)
		*ret = (struct frame){.name = "[asm]", .link_name = "[asm]", .flags = FRAME_FOREIGN};
	if (!s->foreign)
		return NULL;
	if (!*cached) {
		const char *name = demangle(&image->meta.arena, s->foreign);

		*cached = name ? arena_printf(&image->meta.arena, "[%s%s]",
					      s->kind == META_SITE_INDIRECT ? "indirect:" : "", name)
			       : NULL;
	}
	if (!*cached)
		return &error_no_memory;
	*ret = (struct frame){
		.name = *cached, .link_name = s->foreign, .flags = FRAME_FOREIGN | caller_flags(image, s)};
	return NULL;
}

struct error *encoding_decode(struct encoding *e, uint32_t node, uint64_t id, struct context_piece *ret,
			      uint32_t *ret_start)
{
	struct context_piece piece = {.graph = &e->graph, .edges = e->edges};
	struct error *err = callgraph_decode(&e->graph, node, id, e->edges, &piece.edge_count, ret_start);

	if (err)
		return err;
	piece.starts_at_root = e->graph.nodes[*ret_start].is_root;
	*ret = piece;
	return NULL;
}

/* Before a tail call that pushes, the frame is the callee's already. */
static bool has_own_frame(const struct meta_site *s)
{
	return s->kind == META_SITE_CAPTURE || !(s->flags & META_SITE_TAIL);
}

/* waymark/abi.h has the bits. The stack pointer at the site is so far below the function's own frame as the frame is large. */
static struct error *decode_hybrid(struct image *image, uint32_t function, uint32_t site, uint64_t id,
				   struct context_piece *ret, uint32_t *ret_start)
{
	const struct meta_site *s = &image->meta.sites[site];
	const uint32_t frame_bytes = has_own_frame(s) ? image->meta.functions[function].frame_bytes : 0;
	const uint64_t number = (id & ((UINT64_C(1) << WM1_HYBRID_OFFSET_SHIFT) - 1)) >> 1;
	const uint64_t bytes = (id >> WM1_HYBRID_OFFSET_SHIFT) * WM1_HYBRID_OFFSET_UNIT;
	const bool is_placed = id & WM1_HYBRID_PLACED;
	struct encoding *e = &image->encoding;
	struct context_piece piece = {.graph = &e->graph, .edges = e->edges};
	struct error *err;

	if (!site || (is_placed ? bytes >= WM1_HYBRID_OFFSET_END || bytes < frame_bytes : bytes != 0))
		return error_create(ERROR_FORMAT, "function %u has no context %" PRIu64, function, id);
	err = hybrid_decode(&e->hybrid, function, number, is_placed ? (uint32_t)bytes - frame_bytes : HYBRID_NO_OFFSET,
			    e->edges, &piece.edge_count, ret_start);
	if (err)
		return err;
	piece.starts_at_root = e->graph.nodes[*ret_start].is_root;
	*ret = piece;
	return NULL;
}

/* The call whose code is the last one of the history, if it is one of the function by itself; else NULL. */
static const struct image_self_call *find_self_call(const struct image *image, uint32_t function, uint32_t history)
{
	size_t low = 0, high = image->self_call_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct image_self_call *call = &image->self_calls[middle];
		const struct image_self_call wanted = {.function = function,
						       .code = history & ((1u << call->bits) - 1)};
		int order = by_code(call, &wanted);

		if (!order)
			return call;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/*
 * Adds the calls of functions by themselves to a piece: where the last code is one of the function's, it was called by itself; else the
 * number has its caller. Codes differ in all functions that a piece may have.
 */
static struct error *add_self_calls(struct image *image, uint32_t function, struct context_history history,
				    struct context_piece *piece)
{
	const struct encoding *e = &image->encoding;
	uint32_t now = history.now;
	uint32_t *end = e->edges + encoding_scratch(&e->graph), *first = end;
	uint32_t left = piece->edge_count, at = function;
	const struct image_self_call *call;

	for (;;) {
		while (now > history.began && (call = find_self_call(image, at, now))) {
			*--first = call->edge;
			now >>= call->bits;
		}
		if (!left)
			break;
		*--first = piece->edges[--left];
		at = e->graph.edges[*first].caller;
	}
	if (now != history.began)
		return error_create(ERROR_FORMAT, "damaged: history %" PRIu32 " of %s does not begin with %" PRIu32,
				    history.now, image->meta.functions[function].link_name, history.began);
	piece->edges = first;
	piece->edge_count = (uint32_t)(end - first);
	return NULL;
}

struct error *image_decode_piece(struct image *image, uint32_t epoch, uint32_t function, uint32_t site, uint64_t id,
				 struct context_history history, struct context_piece *ret)
{
	uint32_t start;
	struct error *err;

	if (image->recorded)
		return recorded_decode(image, epoch, function, id, ret);
	err = image->meta.is_hybrid ? decode_hybrid(image, function, site, id, ret, &start)
				    : encoding_decode(&image->encoding, function, id, ret, &start);
	if (!err && history.now != history.began)
		err = add_self_calls(image, function, history, ret);
	if (!err)
		ret->start = start;
	return err;
}

struct error *image_is_pushed_to(struct image *image, uint32_t epoch, uint32_t site, uint32_t function, bool is_elided,
				 bool *ret)
{
	const struct meta_site *s = &image->meta.sites[site];

	switch (s->kind) {
	case META_SITE_BACK:
	case META_SITE_CUT:
	case META_SITE_SELF_CALL:
		*ret = s->callee == function;
		return NULL;
	case META_SITE_ENTRY:
		*ret = s->caller == function;
		return NULL;
	default:
		break;
	}
	*ret = false;
	return image->recorded ? recorded_is_pushed_call(image, epoch, site, function, is_elided, ret) : NULL;
}

uint32_t image_site_number(const struct image *image, uint32_t site)
{
	return image->recorded ? recorded_site_number(image->recorded, site) : site;
}
