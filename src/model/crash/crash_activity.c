/*
 * crash_activity.c - a stopped program as core/activity/activity.h wants it: one call graph over all images, stacks, paths, coverage.
 *
 * Whatever is not certain is reported as unknown:
 *      - a call by name is one of a function only where nothing can come in between: in the function's own unit or in the
 *        program, not between shared libraries. Elsewhere it may go anywhere, and come back or not.
 *      - copies of a function in several units (inline functions) are one when they are equal. Else each is called from
 *        outside.
 *      - a position by the line of an instruction is believed of calls, and of the instruction that got the signal: others
 *        may have been moved away from where the source has them.
 *      - what was read from an overwritten frame is not believed at all.
 *      - source stage: which functions are inlined at an address is not believed where the optimizer may have joined or
 *        moved code.
 *      - stacks that end too early, functions that have no name, and what forks or is cancelled anywhere mean that
 *        activations may be in progress of which nothing is known.
 *
 * Handlers are functions whose address is taken, in programs that install handlers, and they jump by the functions known to
 * (libc_effects.c) or by foreign ones that do not return.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "model/crash/crash_build.h"
#include "model/crash/crash_hidden.h"
#include "model/crash/libc_effects.h"

struct joiner {
	const struct crash *c;
	struct arena *arena;
	struct activity_program p;
	struct activity_function *functions;
	uint32_t count;
	uint32_t *image_of;   /* [count] */
	uint32_t *first_copy; /* [count] */
	bool *differs;        /* [count], of first copies */
	struct hashmap names;
	uint32_t *named;               /* [names.count] the first function of that name, there */
	bool does[FOREIGN_STARTS + 1]; /* enum foreign_kind: some call may */
};

static const struct object_trace *trace_of(const struct joiner *j, uint32_t f)
{
	return &j->c->images[j->image_of[f]].trace;
}

static const struct tracemeta_function *meta_of(const struct joiner *j, uint32_t f)
{
	return &trace_of(j, f)->meta.functions[f - j->c->first_function[j->image_of[f]]];
}

static const struct pathmeta_function *flow_of(const struct joiner *j, uint32_t f)
{
	return trace_of(j, f)->flows[f - j->c->first_function[j->image_of[f]]];
}

/* ---- names ---- */

static uint64_t hash_of(const char *name)
{
	return hash_bytes(HASH_START, name, strlen(name));
}

/* Other units can call it by its name. */
static bool is_public(const struct joiner *j, uint32_t f)
{
	return meta_of(j, f)->name_key == hash_of(flow_of(j, f)->link_name);
}

/* Where a name is looked up: in a unit, among what is public in an image, in all images. */
static struct key key_in_unit(const char *name, uint32_t image, uint32_t unit)
{
	return (struct key){{hash_of(name), image, (uint64_t)unit + 1}};
}

static struct key key_in_image(const char *name, uint32_t image)
{
	return (struct key){{hash_of(name), image, 0}};
}

static struct key key_anywhere(const char *name)
{
	return (struct key){{hash_of(name), CRASH_NONE, 0}};
}

static struct error *add_name(struct joiner *j, struct key key, uint32_t f, uint32_t *ret_first)
{
	uint32_t before = j->names.count, number;
	struct error *err = hashmap_add(&j->names, &key, &number);

	if (err)
		return err;
	if (number == before)
		j->named[number] = f;
	*ret_first = j->named[number];
	return NULL;
}

static struct error *add_names(struct joiner *j, uint32_t f)
{
	const char *name = flow_of(j, f)->link_name;
	uint32_t first;
	struct error *err = add_name(j, key_in_unit(name, j->image_of[f], meta_of(j, f)->unit), f, &first);

	j->first_copy[f] = f;
	if (err || !is_public(j, f))
		return err;
	err = add_name(j, key_anywhere(name), f, &first);
	if (!err)
		err = add_name(j, key_in_image(name, j->image_of[f]), f, &first);
	if (err || first == f)
		return err;
	j->first_copy[f] = first;
	if (meta_of(j, f)->cfg_key != meta_of(j, first)->cfg_key ||
	    meta_of(j, f)->call_count != meta_of(j, first)->call_count)
		j->differs[first] = true;
	return NULL;
}

static struct error *find_names(struct joiner *j)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < j->c->stopped->module_count; i++)
		for (uint32_t f = j->c->first_function[i]; f < j->c->first_function[i + 1]; f++)
			j->image_of[f] = i;
	for (uint32_t f = 0; f < j->count && !err; f++)
		err = add_names(j, f);
	for (uint32_t f = 0; f < j->count && !err; f++)
		if (j->differs[j->first_copy[f]]) {
			j->first_copy[f] = f;
			j->differs[f] = true;
		}
	return err;
}

static bool look_up(const struct joiner *j, struct key key, const char *name, uint32_t *ret)
{
	uint32_t number;

	if (!hashmap_find(&j->names, &key, &number))
		return false;
	*ret = j->named[number];
	return strcmp(flow_of(j, *ret)->link_name, name) == 0;
}

/* The callee of a call in a unit of an image: a function, ACTIVITY_ANY if it is not known, or ACTIVITY_FOREIGN. */
static uint32_t find_callee(const struct joiner *j, uint32_t image, uint32_t unit, const char *name)
{
	uint32_t f;

	if (look_up(j, key_in_unit(name, image, unit), name, &f) && !is_public(j, f))
		return f;
	if (look_up(j, key_in_image(name, image), name, &f))
		return image == j->c->stopped->main_module && !j->differs[f] ? f : ACTIVITY_ANY;
	return look_up(j, key_anywhere(name), name, &f) ? ACTIVITY_ANY : ACTIVITY_FOREIGN;
}

/* ---- calls ---- */

static struct activity_call foreign_call(const struct joiner *j, const struct tracemeta_call *from, uint32_t node)
{
	struct activity_call call = {.node = node, .callee = ACTIVITY_FOREIGN, .no_return = from->no_return};
	enum foreign_kind kind = from->callee ? foreign_find(from->callee) : FOREIGN_UNKNOWN;

	switch (kind) {
	case FOREIGN_COMES_BACK:
		call.may_leave = j->does[FOREIGN_CANCELS];
		if (!call.may_leave && !j->does[FOREIGN_STREAMS] && !from->no_return)
			call.callee = ACTIVITY_PURE;
		break;
	case FOREIGN_ENDS:
		call.may_leave = j->does[FOREIGN_VFORKS];
		break;
	case FOREIGN_HANDLES:
	case FOREIGN_FORKS:
	case FOREIGN_STARTS:
	case FOREIGN_STREAMS:
		call.may_leave = j->does[FOREIGN_CANCELS];
		break;
	case FOREIGN_JUMPS:
	case FOREIGN_SWITCHES:
		call.may_leave = call.jumps = true;
		break;
	case FOREIGN_UNKNOWN:
		call.may_leave = true;
		call.jumps = from->no_return;
		break;
	default:
		call.may_leave = true;
		break;
	}
	return call;
}

static struct activity_call make_call(const struct joiner *j, uint32_t f, const struct tracemeta_call *from)
{
	struct activity_call call = {.node = from->node, .no_return = from->no_return, .may_leave = true};

	switch (from->kind) {
	case TRACEMETA_PURE:
		call.callee = ACTIVITY_PURE;
		call.may_leave = false;
		return call;
	case TRACEMETA_DIRECT:
		call.callee = find_callee(j, j->image_of[f], meta_of(j, f)->unit, from->callee);
		if (call.callee == ACTIVITY_FOREIGN)
			return foreign_call(j, from, from->node);
		call.may_leave = call.callee == ACTIVITY_ANY;
		return call;
	case TRACEMETA_ASM:
		call.callee = ACTIVITY_FOREIGN;
		return call;
	default:
		call.callee = ACTIVITY_ANY;
		call.jumps = from->no_return;
		return call;
	}
}

static struct error *make_calls(struct joiner *j, uint32_t f)
{
	const struct tracemeta_function *meta = meta_of(j, f);
	struct activity_call *calls = arena_calloc(j->arena, meta->call_count, sizeof *calls);

	if (!calls)
		return &error_no_memory;
	for (uint32_t i = 0; i < meta->call_count; i++)
		calls[i] = make_call(j, f, &meta->calls[i]);
	j->functions[f].calls = calls;
	j->functions[f].call_count = meta->call_count;
	return NULL;
}

/* Finds functions that are called by name and are not the program's own. */
static void find_foreign(struct joiner *j)
{
	for (uint32_t f = 0; f < j->count; f++) {
		const struct tracemeta_function *meta = meta_of(j, f);

		for (uint32_t i = 0; i < meta->call_count; i++) {
			const char *name = meta->calls[i].callee;

			if (name && find_callee(j, j->image_of[f], meta->unit, name) == ACTIVITY_FOREIGN)
				j->does[foreign_find(name)] = true;
		}
	}
}

/* ---- functions ---- */

static enum activity_point join_points(uint8_t a, uint8_t b)
{
	if (a == POINT_USED || b == POINT_USED)
		return POINT_USED;
	return a == POINT_UNUSED && b == POINT_UNUSED ? POINT_UNUSED : POINT_UNKNOWN;
}

/* more: of one more copy. *points: NULL, or the arena's. */
static struct error *join_arrays(struct joiner *j, const uint8_t **points, const uint8_t *more, uint32_t count)
{
	uint8_t *joined;

	if (!*points && !more)
		return NULL;
	joined = arena_alloc(j->arena, (size_t)count + 1);
	if (!joined)
		return &error_no_memory;
	for (uint32_t i = 0; i < count; i++)
		joined[i] =
			(uint8_t)join_points(*points ? (*points)[i] : POINT_UNKNOWN, more ? more[i] : POINT_UNKNOWN);
	*points = joined;
	return NULL;
}

static struct error *make_function(struct joiner *j, uint32_t f)
{
	const struct tracemeta_function *meta = meta_of(j, f);
	const struct pathmeta_function *flow = flow_of(j, f);
	struct activity_function *function = &j->functions[f];
	uint32_t image = j->image_of[f];

	function->cfg = &flow->cfg;
	if (j->first_copy[f] != f)
		return NULL;
	function->is_root = meta->is_root || j->differs[f];
	function->is_address_taken = meta->is_address_taken || j->differs[f];
	function->is_once = image == j->c->stopped->main_module && strcmp(flow->link_name, "main") == 0;
	function->entered = j->c->entered[f];
	function->calls_used = j->c->calls_used[f];
	function->nodes_used = j->c->nodes_used[f];
	return make_calls(j, f);
}

/* Adds another copy of the function to the first one. */
static struct error *join_copy(struct joiner *j, uint32_t f)
{
	struct activity_function *first = &j->functions[j->first_copy[f]];
	const struct tracemeta_function *meta = meta_of(j, f);
	struct error *err;

	first->is_root |= meta->is_root;
	first->is_address_taken |= meta->is_address_taken;
	first->entered = join_points((uint8_t)first->entered, j->c->entered[f]);
	err = join_arrays(j, &first->calls_used, j->c->calls_used[f], meta->call_count);
	return err ? err : join_arrays(j, &first->nodes_used, j->c->nodes_used[f], meta->node_count);
}

static struct error *make_functions(struct joiner *j)
{
	struct error *err = NULL;

	for (uint32_t f = 0; f < j->count && !err; f++)
		err = make_function(j, f);
	for (uint32_t f = 0; f < j->count && !err; f++)
		if (j->first_copy[f] != f)
			err = join_copy(j, f);
	for (uint32_t f = 0; f < j->count; f++)
		j->functions[f].is_handler = j->does[FOREIGN_HANDLES] && j->functions[f].is_address_taken;
	return err;
}

/* ---- frames ---- */

/* The edge by which a path begins behind another; CRASH_NONE: none, or it may be one of several. */
static uint32_t link_between(const struct cfg *g, const struct path *before, uint32_t start)
{
	uint32_t found = CRASH_NONE;

	if (before->end_edge != NO_EDGE)
		return g->edges[before->end_edge].to == start ? before->end_edge : CRASH_NONE;
	for (uint32_t e = g->first_edge[before->end_node]; e < g->first_edge[before->end_node + 1]; e++)
		if (g->edges[e].to == start) {
			if (found != CRASH_NONE)
				return CRASH_NONE;
			found = e;
		}
	return found;
}

static struct error *tell_path(struct joiner *j, const struct crash_frame *from, struct activity_frame *ret)
{
	const struct cfg *g = &from->flow->cfg;
	uint32_t *nodes, *edges;
	size_t count = 0;

	for (uint32_t i = 0; i < from->path_count; i++)
		count += (size_t)from->paths[i].path.edge_count + 1;
	nodes = arena_calloc(j->arena, count, sizeof *nodes);
	edges = arena_calloc(j->arena, count, sizeof *edges);
	if (!nodes || !edges)
		return &error_no_memory;
	for (uint32_t i = 0; i < from->path_count; i++) {
		const struct crash_path *path = &from->paths[i];
		uint32_t first = ret->path_count;

		ret->path_count += crash_path_nodes(j->c, from, path, &nodes[first]);
		if (first)
			edges[first - 1] = path->follows_gap ? CRASH_NONE
							     : link_between(g, &from->paths[i - 1].path, nodes[first]);
		if (path->path.edge_count)
			memcpy(&edges[first], path->path.edges, path->path.edge_count * sizeof *edges);
	}
	ret->path = nodes;
	ret->path_edges = edges;
	ret->path_is_whole = from->trace == CRASH_TRACE_WHOLE;
	return NULL;
}

/* The instruction that the signal is about is the thread's own next one. */
static bool is_fault(const struct joiner *j, const struct snapshot_thread *thread, const struct crash_frame *frame)
{
	return thread->is_first && j->c->stopped->has_fault_address && frame->machine == thread->frames;
}

static bool knows_position(const struct joiner *j, const struct snapshot_thread *thread,
			   const struct crash_frame *frame)
{
	if (frame->position == CRASH_POSITION_POINTS)
		return true;
	return frame->position != CRASH_POSITION_NONE && (!frame->machine->is_activation || is_fault(j, thread, frame));
}

static struct error *tell_frame(struct joiner *j, const struct snapshot_thread *thread, const struct crash_frame *from,
				struct activity_frame *ret)
{
	const struct crash_image *image = &j->c->images[from->image];
	struct error *err = NULL;

	*ret = (struct activity_frame){.call = CRASH_NONE};
	ret->function =
		j->first_copy[j->c->first_function[from->image] + (uint32_t)(from->meta - image->trace.meta.functions)];
	if (from->trace != CRASH_TRACE_LOST) {
		ret->calls_used = from->calls_used;
		ret->nodes_used = from->nodes_used;
	}
	if (from->path_count && (from->trace == CRASH_TRACE_WHOLE || from->trace == CRASH_TRACE_LAST)) {
		err = tell_path(j, from, ret);
	} else if (knows_position(j, thread, from)) {
		ret->positions = from->nodes;
		ret->position_count = from->node_count;
	}
	/* inlined calls of an instruction that may have been moved are none */
	if (!from->machine->is_activation) {
		ret->call = from->call;
		ret->call_is_known = from->call != CRASH_NONE;
	}
	return err;
}

static bool is_final(const struct joiner *j, uint32_t image)
{
	const struct tracemeta *m = &j->c->images[image].trace.meta;

	return m->unit_count && m->units[0].is_final;
}

/* The metadata describes what the machine frame's code was compiled from; it does so for all code in machine blocks. */
static bool is_ours(const struct joiner *j, const struct crash_frame *frame)
{
	const struct object_trace *t;
	struct key key;
	uint32_t number;
	uint64_t pc;

	if (frame->meta)
		return true;
	if (frame->image == CRASH_NONE || !j->c->images[frame->image].is_traced)
		return false;
	t = &j->c->images[frame->image].trace;
	pc = frame->machine->pc - !frame->machine->is_activation - j->c->stopped->modules[frame->image].bias;
	if (t->blocks.function_count)
		return bbmap_find(&t->blocks, pc, &number) != NULL;
	if (!frame->function)
		return true;
	key = key_of_text(frame->function);
	return hashmap_find(&j->c->images[frame->image].names, &key, &number);
}

/* Source stage: which functions are inlined at the address is what its line says, if that is not one that was made of
 * several or of an instruction that may have been moved. inner: the innermost level. */
static bool knows_levels(const struct joiner *j, const struct snapshot_thread *thread, const struct crash_frame *inner)
{
	if (!is_ours(j, inner) || is_final(j, inner->image))
		return true;
	return inner->line && inner->column && (!inner->machine->is_activation || is_fault(j, thread, inner));
}

/* Code of ours whose function in the metadata is not known. Final stage: what is inlined is none. */
static bool is_hidden(const struct joiner *j, const struct crash_frame *frame)
{
	return !frame->meta && is_ours(j, frame) && !(frame->is_inlined && is_final(j, frame->image));
}

/* Call in frame order; *is_known is what knows_levels says of the machine frame. */
static bool has_activity_frame(const struct joiner *j, const struct crash_thread *thread, uint32_t i, bool *is_known)
{
	const struct crash_frame *frame = &thread->frames[i];

	if (!i || frame->machine != thread->frames[i - 1].machine)
		*is_known = knows_levels(j, thread->machine, frame);
	return frame->meta && (*is_known || !frame->is_inlined);
}

static struct error *join_thread(struct joiner *j, const struct crash_thread *thread, struct activity_stack *ret)
{
	struct activity_frame *frames = arena_calloc(j->arena, thread->frame_count, sizeof *frames);
	uint32_t count = 0;
	bool is_known = true;
	struct error *err = frames ? NULL : &error_no_memory;

	if (thread->machine->cut || !thread->frame_count)
		j->p.is_partial = true;
	for (uint32_t i = 0; i < thread->frame_count && !err; i++) {
		const struct crash_frame *frame = &thread->frames[i];
		bool is_frame = has_activity_frame(j, thread, i, &is_known);

		if (!is_known || is_hidden(j, frame))
			j->p.is_partial = true;
		if (!is_frame)
			continue;
		err = tell_frame(j, thread->machine, frame, &frames[count]);
		if (!is_known) {
			frames[count].call = CRASH_NONE;
			frames[count].call_is_known = false;
		}
		count++;
	}
	*ret = (struct activity_stack){frames, count};
	return err;
}

static struct error *tell_threads(struct joiner *j)
{
	struct activity_stack *stacks = arena_calloc(j->arena, j->c->thread_count, sizeof *stacks);
	struct error *err = stacks ? NULL : &error_no_memory;

	j->p.is_partial = !j->c->thread_count || j->does[FOREIGN_CANCELS_ANYWHERE] ||
			  (j->does[FOREIGN_STARTS] && (j->does[FOREIGN_FORKS] || j->does[FOREIGN_VFORKS]));
	for (uint32_t i = 0; i < j->c->thread_count && !err; i++)
		err = join_thread(j, &j->c->threads[i], &stacks[i]);
	j->p.stacks = stacks;
	j->p.stack_count = j->c->thread_count;
	return err;
}

/* ---- all of it ---- */

static struct error *allocate(struct joiner *j)
{
	j->functions = arena_calloc(j->arena, j->count, sizeof *j->functions);
	j->image_of = arena_calloc(j->arena, j->count, sizeof *j->image_of);
	j->first_copy = arena_calloc(j->arena, j->count, sizeof *j->first_copy);
	j->differs = arena_calloc(j->arena, j->count, sizeof *j->differs);
	j->named = arena_calloc(j->arena, 3 * (size_t)j->count, sizeof *j->named);
	if (!j->functions || !j->image_of || !j->first_copy || !j->differs || !j->named)
		return &error_no_memory;
	return NULL;
}

/* Another body of the same source, a specialized one, may have run. */
static bool has_twin(const struct crash *c, uint32_t image, uint32_t f, const uint8_t *states)
{
	const struct crash_image *in = &c->images[image];
	const struct pathmeta_function *flow = in->trace.flows[f];
	struct key key = key_of_text(flow->name);
	uint32_t number;

	if (!hashmap_find(&in->names, &key, &number))
		return false;
	for (uint32_t other = in->first_of_name[number]; other != CRASH_NONE; other = in->next_of_name[other])
		if (other != f && hidden_are_twins(in->trace.flows[other], flow) &&
		    states[c->first_function[image] + other] != ACTIVITY_NO)
			return true;
	return false;
}

/* Functions that may have run unseen count as maybe run, whatever their bodies did. */
static struct error *raise_hidden(const struct crash *c, struct activity_result *r)
{
	struct hidden hidden;
	struct error *err = crash_hidden_find(c, r->functions, &hidden);

	if (err)
		return err;
	for (uint32_t i = 0; i < c->stopped->module_count; i++)
		for (uint32_t f = c->first_function[i]; f < c->first_function[i + 1]; f++) {
			const char *name = c->images[i].trace.flows[f - c->first_function[i]]->name;

			if (r->functions[f] == ACTIVITY_NO &&
			    (hidden_has(&hidden, name) || has_twin(c, i, f - c->first_function[i], r->functions)))
				r->functions[f] = ACTIVITY_MAYBE;
		}
	hidden_deinit(&hidden);
	return NULL;
}

struct error *crash_analyse(const struct crash *c, struct arena *arena, struct activity_result *ret)
{
	struct joiner j = {.c = c, .arena = arena, .count = c->first_function[c->stopped->module_count]};
	struct activity_program *p = arena_alloc(arena, sizeof *p);
	struct activity_result r;
	struct error *err = p ? allocate(&j) : &error_no_memory;

	if (!err)
		err = find_names(&j);
	if (!err)
		find_foreign(&j);
	if (!err)
		err = make_functions(&j);
	if (!err)
		err = tell_threads(&j);
	hashmap_deinit(&j.names);
	if (err)
		return err;
	*p = j.p;
	p->functions = j.functions;
	p->function_count = j.count;
	err = activity_analyse(p, arena, &r);
	if (err)
		return err;
	for (uint32_t f = 0; f < j.count; f++) {
		r.functions[f] = r.functions[j.first_copy[f]];
		r.nodes[f] = r.nodes[j.first_copy[f]];
		r.edges[f] = r.edges[j.first_copy[f]];
	}
	err = raise_hidden(c, &r);
	if (!err)
		*ret = r;
	return err;
}

enum crash_standing crash_frame_standing(const struct crash *c, uint32_t thread, uint32_t frame)
{
	const struct joiner j = {.c = c};
	const struct crash_thread *t = &c->threads[thread];
	const struct crash_frame *f = &t->frames[frame];
	bool is_known = true, is_frame = false;

	for (uint32_t i = 0; i <= frame; i++)
		is_frame = has_activity_frame(&j, t, i, &is_known);
	if (is_frame)
		return CRASH_STANDS_HERE;
	return !is_known || is_hidden(&j, f) ? CRASH_STANDS_UNSURE : CRASH_STANDS_OUTSIDE;
}

struct error *crash_frame_activity(const struct crash *c, const struct activity_result *r, uint32_t thread,
				   uint32_t frame, uint8_t *nodes, uint8_t *edges)
{
	const struct joiner j = {.c = c};
	const struct crash_thread *t = &c->threads[thread];
	const struct crash_frame *f = &t->frames[frame];
	/* a frame that is not in the stack of the analysis: control may be anywhere in it */
	struct activity_frame anywhere = {.call = CRASH_NONE};
	uint32_t passed = 0;
	bool is_known = true;

	for (uint32_t i = 0; i < frame; i++)
		passed += has_activity_frame(&j, t, i, &is_known);
	if (has_activity_frame(&j, t, frame, &is_known))
		return activity_of_frame(r, &r->program->stacks[thread].frames[passed], nodes, edges);
	anywhere.function =
		c->first_function[f->image] + (uint32_t)(f->meta - c->images[f->image].trace.meta.functions);
	return activity_of_frame(r, &anywhere, nodes, edges);
}
