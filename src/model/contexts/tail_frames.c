/*
 * tail_frames.c - makes the graph of tail calls from a call's callee on, as far as debug information knows it, and keeps what was found for each
 * pair of a call and a function.
 */
#include "model/contexts/tail_frames.h"

#include <stdlib.h>

#include "base/hashmap.h"
#include "core/contexts/tail_chain.h"
#include "model/contexts/recorded_graph.h"
#include "object/demangle.h"

enum {
	NODES_MAX = 1000, /* of more nothing is said */
};

const struct frame tail_frames_elided = {.name = "[tail calls]", .link_name = "[tail calls]", .flags = FRAME_ELIDED};

/* What stands between a call and a function. */
struct between {
	const struct frame *frames;
	uint32_t count;
};
VEC_DECLARE(between_vec, struct between);

/* Code by its file, and the address less that of the ELF header. */
struct code_place {
	const struct recorded_file *file;
	uint64_t address;
};
VEC_DECLARE(code_place_vec, struct code_place);
VEC_DECLARE(tail_edge_vec, struct tail_edge);
VEC_DECLARE(open_vec, bool);

struct tail_frames {
	struct image *image;
	struct hashmap map; /* {call, function of the callee} -> known */
	struct between_vec known;
};

/* The functions that tail calls may lead to. */
struct search {
	struct tail_frames *x;
	struct hashmap map;           /* place where a function begins -> nodes */
	struct code_place_vec nodes;  /* where they begin */
	struct open_vec is_open;      /* of each node */
	struct tail_edge_vec edges;   /* the tail calls */
	struct code_place_vec places; /* of each edge: where it is */
};

static void search_deinit(struct search *s)
{
	hashmap_deinit(&s->map);
	code_place_vec_deinit(&s->nodes);
	open_vec_deinit(&s->is_open);
	tail_edge_vec_deinit(&s->edges);
	code_place_vec_deinit(&s->places);
}

/* ---- the graph ---- */

static struct error *add_node(struct search *s, const struct code_place *place, uint32_t *ret)
{
	struct key key = {{(uintptr_t)place->file, place->address, 0}};
	struct error *err = hashmap_add(&s->map, &key, ret);

	if (err || *ret < s->nodes.count)
		return err;
	return code_place_vec_append(&s->nodes, *place) ?: open_vec_append(&s->is_open, false);
}

/* The one image but `except` that defines the name. */
static struct error *find_elsewhere(const struct image *image, const char *name, const struct recorded_file *except,
				    struct code_place *ret)
{
	const struct recorded_file *file;
	bool is_left = true;
	uint64_t address;
	struct error *err = NULL;

	ret->file = NULL;
	for (uint32_t i = 0; is_left && !err; i++) {
		err = recorded_file_at(image, i, &file, &is_left);
		if (err || !file || file == except || !file->symbols || file == ret->file ||
		    !symbols_find(file->symbols, name, &address))
			continue;
		if (ret->file) {
			ret->file = NULL;
			return NULL;
		}
		*ret = (struct code_place){file, address};
	}
	return err;
}

/* ret->file is NULL if it is not known. */
static struct error *find_callee(const struct image *image, const struct call_site *site,
				 const struct recorded_file *file, struct code_place *ret)
{
	*ret = (struct code_place){file, site->callee - symbols_base(file->symbols)};
	if (site->callee)
		return NULL;
	if (site->callee_name && symbols_find(file->symbols, site->callee_name, &ret->address))
		return NULL;
	ret->file = NULL;
	return site->callee_name ? find_elsewhere(image, site->callee_name, file, ret) : NULL;
}

static struct error *add_tail_call(struct search *s, uint32_t node, const struct call_site *site)
{
	const struct recorded_file *file = s->nodes.items[node].file;
	struct code_place callee;
	uint32_t to;
	struct error *err = find_callee(s->x->image, site, file, &callee);

	if (err || !callee.file) {
		s->is_open.items[node] = true;
		return err;
	}
	err = add_node(s, &callee, &to);
	if (!err)
		err = tail_edge_vec_append(&s->edges, (struct tail_edge){node, to});
	if (!err)
		err = code_place_vec_append(&s->places,
					    (struct code_place){file, site->address - symbols_base(file->symbols)});
	return err;
}

static struct error *add_tail_calls(struct search *s, uint32_t node)
{
	const struct code_place place = s->nodes.items[node];
	const struct call_sites *calls = NULL;
	struct error *err = place.file->symbols ? symbols_calls(place.file->symbols, place.address, &calls) : NULL;

	if (err)
		return err;
	s->is_open.items[node] = !calls || !calls->has_all_tail_calls ||
				 calls->entry != place.address + symbols_base(place.file->symbols);
	for (uint32_t i = 0; calls && !err && i < calls->count; i++)
		if (calls->sites[i].is_tail)
			err = add_tail_call(s, node, &calls->sites[i]);
	return err;
}

/* What the call calls; ret->file is NULL if it is not known. */
static struct error *find_called(const struct image *image, const struct code_place *call, struct code_place *ret)
{
	const struct call_sites *calls;
	struct error *err = symbols_calls(call->file->symbols, call->address, &calls);

	ret->file = NULL;
	for (uint32_t i = 0; !err && calls && i < calls->count; i++)
		if (!calls->sites[i].is_tail &&
		    calls->sites[i].address == call->address + symbols_base(call->file->symbols))
			return find_callee(image, &calls->sites[i], call->file, ret);
	return err;
}

/* Where the function begins: a part of it may be elsewhere. */
static struct error *find_entry(const struct code_place *at, uint64_t function, struct code_place *ret)
{
	const struct call_sites *calls = NULL;
	struct error *err = at->file->symbols ? symbols_calls(at->file->symbols, at->address, &calls) : NULL;

	*ret = (struct code_place){at->file, calls ? calls->entry - symbols_base(at->file->symbols) : function};
	return err;
}

/* ---- frames ---- */

/* Of a function that made a tail call: what is known of its place. Outermost first. */
static struct error *append_frames(const struct search *s, const struct tail_step *step, struct frame_vec *ret)
{
	const struct code_place *node = &s->nodes.items[step->node];
	struct arena *arena = &s->x->image->meta.arena;
	const struct debug_line *lines = NULL;
	uint64_t at = step->edge == UINT32_MAX ? node->address : s->places.items[step->edge].address;
	uint32_t count = 0;
	struct error *err = symbols_lines(node->file->symbols, at, &lines, &count);

	for (uint32_t i = count; i-- > 0 && !err;) {
		bool is_function = i + 1 == count, has_line = step->edge != UINT32_MAX;
		const char *name = is_function ? symbols_function(node->file->symbols, node->address) : NULL;
		struct frame frame = {.link_name = name ?: lines[i].function ?: "[inlined]"};

		if (!is_function && !has_line)
			break;
		frame.name = demangle(arena, frame.link_name);
		frame.file = lines[i].file;
		frame.image = node->file->path;
		frame.line = has_line ? lines[i].line : 0;
		frame.column = has_line ? lines[i].column : 0;
		frame.flags = FRAME_TAIL | (is_function ? 0 : FRAME_INLINED);
		err = frame.name ? frame_vec_append(ret, frame) : &error_no_memory;
	}
	return err;
}

static struct error *append_chain(const struct search *s, const struct tail_chain *chain, struct frame_vec *ret)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < chain->count && !err; i++) {
		err = append_frames(s, &chain->steps[i], ret);
		if (!err && i + 1 == chain->first_count && !chain->is_whole)
			err = frame_vec_append(ret, tail_frames_elided);
	}
	return err;
}

static struct error *find_chain(struct search *s, const struct code_place *from, const struct code_place *to,
				struct frame_vec *ret)
{
	struct tail_chain chain = {0};
	struct arena arena;
	uint32_t first, last;
	struct error *err = add_node(s, from, &first) ?: add_node(s, to, &last);

	for (uint32_t i = 0; i < s->nodes.count && !err && first != last; i++)
		if (i != last && s->nodes.count <= NODES_MAX)
			err = add_tail_calls(s, i);
	if (err || first == last || s->nodes.count > NODES_MAX)
		return err;
	arena_init(&arena);
	err = tail_chain_find(&(struct tail_graph){(uint32_t)s->nodes.count, (uint32_t)s->edges.count, s->edges.items,
						   s->is_open.items},
			      first, last, &arena, &chain);
	if (!err)
		err = append_chain(s, &chain, ret);
	arena_deinit(&arena);
	return err;
}

static struct error *find_between(struct tail_frames *x, uint32_t call, uint32_t callee, struct frame_vec *ret)
{
	struct search s = {.x = x};
	struct recorded_place calls = recorded_place_of(x->image, call), found = recorded_place_of(x->image, callee);
	struct code_place from, to;
	struct error *err;

	if (!calls.file || !calls.file->symbols || !found.file)
		return NULL;
	err = find_called(x->image, &(struct code_place){calls.file, calls.address}, &from);
	if (!err && from.file)
		err = find_entry(&(struct code_place){found.file, found.address}, found.function, &to);
	if (!err && from.file)
		err = find_chain(&s, &from, &to, ret);
	search_deinit(&s);
	return err;
}

static struct error *add_known(struct tail_frames *x, uint32_t call, uint32_t callee, uint32_t number)
{
	struct frame_vec frames = {0};
	struct between between = {0};
	struct error *err = between_vec_append(&x->known, between);

	if (!err)
		err = find_between(x, call, callee, &frames);
	if (!err && frames.count) {
		between.frames = arena_copy(&x->image->meta.arena, frames.items, frames.count, sizeof *frames.items);
		between.count = (uint32_t)frames.count;
		err = between.frames ? NULL : &error_no_memory;
	}
	if (!err)
		x->known.items[number] = between;
	frame_vec_deinit(&frames);
	return err;
}

struct error *tail_frames_append(struct tail_frames *x, uint32_t call, uint32_t callee, struct frame_vec *frames)
{
	struct key key = {{call, x->image->meta.sites[callee].caller, 0}};
	uint32_t number;
	struct error *err = hashmap_add(&x->map, &key, &number);

	if (!err && number == x->known.count)
		err = add_known(x, call, callee, number);
	for (uint32_t i = 0; !err && i < x->known.items[number].count; i++)
		err = frame_vec_append(frames, x->known.items[number].frames[i]);
	return err;
}

struct error *tail_frames_create(struct image *recorded, struct tail_frames **ret)
{
	struct tail_frames *x = calloc(1, sizeof *x);

	if (!x)
		return &error_no_memory;
	x->image = recorded;
	*ret = x;
	return NULL;
}

void tail_frames_destroy(struct tail_frames *x)
{
	if (!x)
		return;
	hashmap_deinit(&x->map);
	between_vec_deinit(&x->known);
	free(x);
}
