/*
 * crash_paths.c - reads what one activation of an instrumented function left in memory: the ring of its last paths, the
 * register of the one in progress. include/waymark/trace.h has the layout.
 *
 * Several points can be the last one where ways come together without code of ours: those that no path fits with the
 * register are left out; nearly always one remains.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/crash/crash_build.h"

enum {
	REG_RSP = 7,
};

struct activation {
	struct crash *c;
	const struct crash_level *level;
	struct crash_frame *frame;
	const struct crash_image *image;
	const struct tracemeta_variant *variant;
	const struct path_numbering *numbering;
	uint64_t record; /* address of the frame record */
	uint64_t reg;
	bool has_reg; /* it could be read, or there is none */
};

/* Numbers of the function's paths. */
static struct error *crash_numbering(struct crash *c, uint32_t image, uint32_t function,
				     const struct path_numbering **ret)
{
	struct crash_image *i = &c->images[image];
	struct path_numbering *n = &i->numberings[function];

	if (!n->starts) {
		struct error *err = path_number(&i->trace.flows[function]->cfg, &c->arena, n);

		if (err)
			return err;
	}
	*ret = n;
	return NULL;
}

static void set_lost(struct crash_frame *frame, const char *why)
{
	frame->trace = CRASH_TRACE_LOST;
	frame->why = why;
}

/* ---- where the record is ---- */

static bool record_address(const struct activation *a, const struct tracepoint *p, uint64_t *ret)
{
	const struct snapshot_frame *m = a->frame->machine;
	int64_t off;
	int reg;

	if (p->dwarf_register >= SNAPSHOT_REGISTERS || !(m->known & 1u << p->dwarf_register))
		return false;
	*ret = m->registers[p->dwarf_register] + (uint64_t)(int64_t)p->displacement;
	/* rsp may be another one by now (arguments that are pushed): what the record's own address says of the CFA holds. */
	if (p->dwarf_register == REG_RSP && m->has_cfa &&
	    snapshot_cfa_rule(a->c->stopped, a->frame->image, p->address, &reg, &off) && reg == REG_RSP)
		*ret = m->cfa - (uint64_t)off + (uint64_t)(int64_t)p->displacement;
	return true;
}

/* false: none is known, or they do not agree. */
static bool find_record(struct activation *a)
{
	const struct crash_position *position = a->level->position;
	bool is_found = false;

	for (uint32_t i = 0; i < position->record_count; i++) {
		const struct tracepoint *p = &a->image->trace.points.points[position->records[i]];
		uint64_t address;

		if (p->scheme != a->variant->scheme || !record_address(a, p, &address))
			continue;
		if (is_found && address != a->record)
			return false;
		a->record = address;
		is_found = true;
	}
	return is_found;
}

static bool read_number(const struct activation *a, uint32_t off, unsigned int len_bytes, uint64_t *ret)
{
	uint8_t bytes[8] = {0};

	if (!snapshot_read(a->c->stopped, a->record + off, bytes, len_bytes))
		return false;
	*ret = 0;
	for (unsigned int i = 0; i < len_bytes; i++)
		*ret |= (uint64_t)bytes[i] << (8 * i);
	return true;
}

/* ---- the path in progress ---- */

struct candidate {
	uint32_t node;
	enum wm1_point kind;
	struct path path;
};

/* A path from a start of the function that is at its first node. */
static bool start_path(const struct path_numbering *n, uint32_t node, struct path *ret)
{
	for (uint32_t i = 0; i < n->start_count; i++) {
		if (n->starts[i] == node) {
			*ret = (struct path){.start = i, .edges = ret->edges, .end_node = node, .end_edge = NO_EDGE};
			return true;
		}
	}
	return false;
}

/* Room for the edges of any path of the function. */
static struct error *scratch_edges(const struct activation *a, uint32_t **ret)
{
	struct crash_number_vec *scratch = &crash_builder(a->c)->scratch;
	struct error *err = crash_number_vec_reserve(scratch, (size_t)a->frame->flow->cfg.node_count + 1);

	if (!err)
		*ret = scratch->items;
	return err;
}

/* Puts the path's edges, which are in scratch, where they stay. */
static struct error *keep_edges(const struct activation *a, struct path *path)
{
	path->edges = arena_copy(&a->c->arena, path->edges, path->edge_count, sizeof *path->edges);
	return path->edges ? NULL : &error_no_memory;
}

static struct error *make_partial(const struct activation *a, uint32_t node, struct crash_partial *ret)
{
	struct crash_partial partial = {0};
	struct error *err = scratch_edges(a, &partial.path.edges);

	if (err)
		return err;
	err = path_regenerate_partial(&a->frame->flow->cfg, a->numbering, &a->frame->meta->states[node], node, a->reg,
				      a->variant->sum_bytes ? a->variant->sum_bytes * 8u : 64, &partial.path);
	if (err && err->code == ERROR_NO_MEMORY)
		return err;
	partial.fits = !err;
	error_destroy(err);
	*ret = partial;
	return partial.fits ? keep_edges(a, &ret->path) : NULL;
}

/* The path to a node with the activation's register. */
static struct error *find_partial(const struct activation *a, uint32_t node, struct crash_partial *ret)
{
	struct crash_builder *b = crash_builder(a->c);
	uint64_t reg = a->frame->meta->states[node].has_register ? a->reg : 0;
	struct key key = {
		{(uint64_t)a->frame->image << 32 | a->level->index, (uint64_t)node << 8 | a->variant->sum_bytes, reg}};
	uint32_t index;
	struct error *err = hashmap_add(&b->partials, &key, &index);

	if (err)
		return err;
	if (index < b->known_partials.count) {
		*ret = b->known_partials.items[index];
		return NULL;
	}
	err = make_partial(a, node, ret);
	return err ? err : crash_partial_vec_append(&b->known_partials, *ret);
}

/* *ret_fits: a path fits. */
static struct error *make_candidate(const struct activation *a, uint32_t node, enum wm1_point kind, bool *ret_fits,
				    struct candidate *ret)
{
	struct candidate c = {.node = node, .kind = kind};
	struct crash_partial partial = {0};
	struct error *err = NULL;

	if (kind == WM1_POINT_END) {
		partial.fits = true;
		partial.path.end_node = node;
	} else if (kind == WM1_POINT_NODE || kind == WM1_POINT_PUSH) {
		if (a->frame->meta->states && (!a->frame->meta->states[node].has_register || a->has_reg))
			err = find_partial(a, node, &partial);
	} else {
		partial.fits = start_path(a->numbering, node, &partial.path);
	}
	c.path = partial.path;
	*ret_fits = partial.fits;
	if (!err && partial.fits)
		*ret = c;
	return err;
}

static bool is_same_candidate(const struct candidate *x, const struct candidate *y)
{
	return x->node == y->node && (x->kind == WM1_POINT_END) == (y->kind == WM1_POINT_END) &&
	       (x->kind == WM1_POINT_END ||
		(x->path.start == y->path.start && x->path.edge_count == y->path.edge_count &&
		 (!x->path.edge_count ||
		  memcmp(x->path.edges, y->path.edges, x->path.edge_count * sizeof *x->path.edges) == 0)));
}

/* Those that fit, each once; candidates[] has room for all points and one more. */
static struct error *find_candidates(const struct activation *a, struct candidate *candidates, uint32_t *ret)
{
	const struct crash_position *position = a->level->position;
	struct error *err = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < position->point_count + position->is_before && !err; i++) {
		uint32_t node = 0;
		enum wm1_point kind = WM1_POINT_ENTRY;
		bool fits, is_known = false;

		if (i < position->point_count) {
			const struct tracepoint *p = &a->image->trace.points.points[position->points[i]];

			if (p->scheme != a->variant->scheme)
				continue;
			node = p->node;
			kind = p->kind;
		}
		err = make_candidate(a, node, kind, &fits, &candidates[count]);
		for (uint32_t j = 0; j < count && fits && !is_known; j++)
			is_known = is_same_candidate(&candidates[j], &candidates[count]);
		count += !err && fits && !is_known;
	}
	*ret = count;
	return err;
}

/* The nodes that the points name, without regard to the register: those of a variant without paths, and of lost records. */
static struct error *take_point_nodes(const struct activation *a)
{
	const struct crash_position *position = a->level->position;
	uint32_t *nodes = arena_calloc(&a->c->arena, (size_t)position->point_count + 1, sizeof *nodes);
	uint32_t count = 0;

	if (!nodes)
		return &error_no_memory;
	for (uint32_t i = 0; i < position->point_count + position->is_before; i++) {
		uint32_t node = i < position->point_count ? a->image->trace.points.points[position->points[i]].node : 0;
		bool is_known = false;

		for (uint32_t j = 0; j < count && !is_known; j++)
			is_known = nodes[j] == node;
		if (!is_known)
			nodes[count++] = node;
	}
	a->frame->nodes = nodes;
	a->frame->node_count = count;
	a->frame->position = count ? CRASH_POSITION_POINTS : CRASH_POSITION_NONE;
	return NULL;
}

/* ---- the ring ---- */

static struct error *make_path(const struct activation *a, uint64_t number, struct crash_path *ret)
{
	struct error *err;

	*ret = (struct crash_path){.number = number, .is_complete = true};
	err = scratch_edges(a, &ret->path.edges);
	if (err)
		return err;
	path_regenerate(&a->frame->flow->cfg, a->numbering, number, &ret->path);
	return keep_edges(a, &ret->path);
}

/* The way round of the loop, which a path that begins behind it implies. */
static struct error *make_iterations(const struct activation *a, uint32_t edge, struct crash_path *ret)
{
	const struct cfg *g = &a->frame->flow->cfg;
	struct path *path = &ret->path;
	struct error *err;

	*ret = (struct crash_path){.path = {.end_node = g->edges[edge].from, .end_edge = edge}};
	ret->is_complete = ret->is_iterations = true;
	err = scratch_edges(a, &path->edges);
	if (!err)
		err = cfg_round_edges(g, edge, path->edges, &path->edge_count);
	if (err)
		return err;
	while (a->numbering->starts[path->start] != g->edges[edge].to)
		path->start++;
	err = path_number_of(g, a->numbering, path, &ret->number);
	return err ? err : keep_edges(a, path);
}

/* The path of a number, or the rounds of an edge: each is made once. */
static struct error *known_path(const struct activation *a, uint64_t what, bool is_iterations, struct crash_path *ret)
{
	struct crash_builder *b = crash_builder(a->c);
	struct key key = {{(uint64_t)a->frame->image << 32 | a->level->index, what, is_iterations}};
	uint32_t index;
	struct error *err = hashmap_add(&b->paths, &key, &index);

	if (err)
		return err;
	if (index < b->known_paths.count) {
		*ret = b->known_paths.items[index];
		return NULL;
	}
	err = is_iterations ? make_iterations(a, (uint32_t)what, ret) : make_path(a, what, ret);
	return err ? err : crash_known_path_vec_append(&b->known_paths, *ret);
}

/* Whether the next path can begin at `start` after this one. */
static bool leads_to(const struct cfg *g, const struct path *path, uint32_t start)
{
	if (path->end_edge != NO_EDGE)
		return g->edges[path->end_edge].to == start;
	for (uint32_t e = g->first_edge[path->end_node]; e < g->first_edge[path->end_node + 1]; e++)
		if (g->edges[e].to == start)
			return true;
	return false;
}

/*
 * Each path begins where the one before ends, the first one of all at the entry; or, without one before in the ring, where setjmp
 * returned once more. *ret_why: what does not fit.
 */
static void check_chain(const struct activation *a, struct crash_path *paths, uint32_t count, bool is_whole,
			const char **ret_why)
{
	const struct cfg *g = &a->frame->flow->cfg;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t start = a->numbering->starts[paths[i].path.start];

		if (i == 0 ? !is_whole || start == 0 : leads_to(g, &paths[i - 1].path, start))
			continue;
		if (!(cfg_cuts_to(g, start) & 1u << CFG_CUT_TWICE)) {
			*ret_why = "its last paths do not follow one another: its memory was overwritten";
			return;
		}
		paths[i].follows_gap = i > 0;
	}
}

/* Between writing a number to the ring and counting it: the oldest one is gone. */
static bool can_be_pushing(const struct activation *a)
{
	const struct crash_position *position = a->level->position;

	for (uint32_t i = 0; i < position->point_count; i++)
		if (a->image->trace.points.points[position->points[i]].kind == WM1_POINT_PUSH)
			return true;
	return false;
}

/* The completed paths, with room for one more. false: lost, frame->why says why. */
static struct error *read_ring(const struct activation *a, bool *ret)
{
	const struct tracemeta_variant *v = a->variant;
	struct crash_path *paths;
	uint64_t count = 0;
	uint32_t kept = 0;
	struct error *err = NULL;

	*ret = !v->ring_slots || read_number(a, v->count_off, 4, &count);
	if (v->ring_slots)
		kept = count < v->ring_slots ? (uint32_t)count : v->ring_slots - can_be_pushing(a);
	paths = arena_calloc(&a->c->arena, (size_t)kept + 1, sizeof *paths);
	if (!paths)
		return &error_no_memory;
	for (uint32_t i = 0; i < kept && !err && *ret; i++) {
		uint64_t slot = (count - kept + i) & (v->ring_slots - 1), number;

		*ret = read_number(a, v->ring_off + (uint32_t)slot * v->sum_bytes, v->sum_bytes, &number);
		if (*ret && number >= a->numbering->path_count) {
			*ret = false;
			set_lost(a->frame, "its last paths are no paths: its memory was overwritten");
			return NULL;
		}
		if (*ret)
			err = known_path(a, number, false, &paths[i]);
		paths[i].ordinal = count - kept + i + 1;
	}
	if (!*ret)
		set_lost(a->frame, "its stack is not in the core");
	a->frame->ended = count;
	a->frame->paths = paths;
	a->frame->path_count = kept;
	return err;
}

/* Puts rounds in front of the paths that begin behind some. */
static struct error *add_iterations(const struct activation *a)
{
	struct crash_frame *f = a->frame;
	struct crash_path *paths;
	uint32_t count = 0;
	struct error *err = NULL;

	for (uint32_t i = 0; i < f->path_count; i++)
		count += a->numbering->start_iterations[f->paths[i].path.start] != NO_EDGE;
	if (!count)
		return NULL;
	paths = arena_calloc(&a->c->arena, (size_t)f->path_count + count, sizeof *paths);
	if (!paths)
		return &error_no_memory;
	count = 0;
	for (uint32_t i = 0; i < f->path_count && !err; i++) {
		uint32_t edge = a->numbering->start_iterations[f->paths[i].path.start];

		if (edge != NO_EDGE)
			err = known_path(a, edge, true, &paths[count++]);
		paths[count++] = f->paths[i];
	}
	f->paths = paths;
	f->path_count = count;
	return err;
}

/* Several paths fit: control is at the node of one of them. */
static struct error *take_candidates(const struct activation *a, const struct candidate *candidates, uint32_t count)
{
	uint32_t *nodes = arena_calloc(&a->c->arena, count, sizeof *nodes);
	struct crash_frame *f = a->frame;

	if (!nodes)
		return &error_no_memory;
	f->node_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		bool is_known = false;

		for (uint32_t j = 0; j < f->node_count && !is_known; j++)
			is_known = nodes[j] == candidates[i].node;
		if (!is_known)
			nodes[f->node_count++] = candidates[i].node;
	}
	f->nodes = nodes;
	f->position = CRASH_POSITION_POINTS;
	return NULL;
}

/* The one path that fits. *why: what is wrong with it; else untouched. */
static void take_current(struct crash_frame *f, const struct candidate *candidate, const char **why)
{
	if (candidate->kind != WM1_POINT_END)
		f->paths[f->path_count++] = (struct crash_path){.path = candidate->path, .is_current = true};
	else if (f->path_count && f->paths[f->path_count - 1].path.end_node == candidate->node)
		f->paths[f->path_count - 1].is_current = true;
	else
		*why = "its last path does not end at its position: its memory was overwritten";
}

/* Adds what is in progress to the completed paths and decides what is certain. */
static struct error *finish_paths(const struct activation *a, struct candidate *candidates, uint32_t count)
{
	struct crash_frame *f = a->frame;
	bool is_whole = f->path_count == f->ended;
	const char *why = NULL;
	struct error *err;

	if (count == 0) {
		set_lost(f, a->has_reg ? "no path to its position fits the recorded values: its memory was overwritten"
				       : "its stack is not in the core");
		return take_point_nodes(a);
	}
	err = take_candidates(a, candidates, count);
	if (err)
		return err;
	if (count > 1) {
		set_lost(f, "several paths fit the recorded values");
		return NULL;
	}
	take_current(f, candidates, &why);
	check_chain(a, f->paths, f->path_count, is_whole, &why);
	if (why) {
		set_lost(f, why);
		return NULL;
	}
	f->trace = is_whole ? CRASH_TRACE_WHOLE : CRASH_TRACE_LAST;
	return add_iterations(a);
}

/* Control may be where the record is set up already. */
static bool can_be_entered(const struct activation *a)
{
	const struct crash_position *position = a->level->position;

	for (uint32_t i = 0; i < position->point_count; i++)
		if (a->image->trace.points.points[position->points[i]].kind != WM1_POINT_ENTRY)
			return true;
	return false;
}

static struct error *read_record(struct activation *a, bool has_record, bool *ret)
{
	struct error *err;

	if (!has_record) {
		set_lost(a->frame, "the place of its paths is not known here");
		*ret = false;
		return NULL;
	}
	err = read_ring(a, ret);
	if (!err && *ret && a->variant->sum_bytes && a->variant->sum_off != TRACE_NO_OFFSET)
		a->has_reg = read_number(a, a->variant->sum_off, a->variant->sum_bytes, &a->reg);
	return err;
}

static struct error *read_paths(struct activation *a, bool has_record)
{
	const struct crash_position *position = a->level->position;
	CLEANUP(arena_deinit) struct arena scratch = {0};
	struct candidate *candidates = arena_calloc(&scratch, (size_t)position->point_count + 2, sizeof *candidates);
	bool is_read = true;
	uint32_t count = 0;
	struct error *err = NULL;

	a->has_reg = true;
	a->frame->paths = arena_calloc(&a->c->arena, 1, sizeof *a->frame->paths);
	if (!candidates || !a->frame->paths)
		return &error_no_memory;
	if (a->variant->frame_bytes && can_be_entered(a))
		err = read_record(a, has_record, &is_read);
	if (err)
		return err;
	if (!is_read)
		return take_point_nodes(a);
	err = find_candidates(a, candidates, &count);
	if (err)
		return err;
	if (count == 1 && candidates[0].kind == WM1_POINT_ENTRY) {
		a->frame->ended = 0; /* what is in the record is another activation's */
		a->frame->path_count = 0;
	}
	return finish_paths(a, candidates, count);
}

static const struct tracemeta_variant *find_variant(const struct crash_image *image, const struct crash_level *level)
{
	const struct tracemeta_function *meta = &image->trace.meta.functions[level->index];

	for (uint32_t i = 0; i < meta->variant_count; i++)
		if (meta->variants[i].scheme == level->position->scheme)
			return &meta->variants[i];
	return NULL;
}

/* The record may not be set up yet: what it has may be of another activation. */
static bool is_at_entry(const struct activation *a)
{
	const struct crash_position *position = a->level->position;

	if (position->is_before_record || !(a->variant->scheme & WM1_SCHEME_PATHS))
		return position->is_before_record;
	for (uint32_t i = 0; i < position->point_count; i++)
		if (a->image->trace.points.points[position->points[i]].kind == WM1_POINT_ENTRY)
			return true;
	return position->is_before;
}

struct error *crash_read_frame(struct crash *c, const struct crash_level *level, struct crash_frame *frame)
{
	struct activation a = {.c = c, .level = level, .frame = frame, .image = &c->images[frame->image]};
	bool has_record;
	struct error *err;

	a.variant = find_variant(a.image, level);
	frame->variant = a.variant;
	if (!a.variant)
		return NULL;
	has_record = find_record(&a);
	err = crash_read_own_coverage(c, level, has_record && !is_at_entry(&a) ? &a.record : NULL, frame);
	if (err || !(a.variant->scheme & WM1_SCHEME_PATHS))
		return err; /* its points give no nodes: the line does */
	err = crash_numbering(c, frame->image, level->index, &a.numbering);
	return err ? err : read_paths(&a, has_record);
}

struct error *crash_take_only_node(struct crash *c, const struct crash_level *level, struct crash_frame *frame)
{
	static const uint32_t first_node;
	const struct path_numbering *numbering;
	struct path path = {0};
	struct error *err;

	frame->nodes = &first_node;
	frame->node_count = 1;
	frame->position = CRASH_POSITION_POINTS;
	if (frame->meta->variant_count != 1 || !(frame->meta->variants[0].scheme & WM1_SCHEME_PATHS))
		return NULL; /* whether its paths are wanted is not known here */
	frame->variant = &frame->meta->variants[0];
	err = crash_numbering(c, frame->image, level->index, &numbering);
	if (err)
		return err;
	frame->paths = arena_calloc(&c->arena, 1, sizeof *frame->paths);
	path.edges = arena_calloc(&c->arena, 1, sizeof *path.edges);
	if (!frame->paths || !path.edges)
		return &error_no_memory;
	if (start_path(numbering, 0, &path)) {
		frame->paths[0] = (struct crash_path){.path = path, .is_current = true};
		frame->path_count = 1;
		frame->trace = CRASH_TRACE_WHOLE;
	}
	return NULL;
}

uint32_t crash_path_nodes(const struct crash *c, const struct crash_frame *f, const struct crash_path *path,
			  uint32_t *nodes)
{
	const struct crash_image *image = &c->images[f->image];
	const struct path_numbering *n = &image->numberings[f->meta - image->trace.meta.functions];

	return path_nodes(&f->flow->cfg, n, &path->path, nodes);
}
