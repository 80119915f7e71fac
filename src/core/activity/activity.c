/*
 * activity.c - the whole program: what frames can have called, what that can have run, and what must have.
 *
 *      1. What activations that have ended can have done, function by function (activity_flow.c).
 *      2. Each frame: what it can and must have done, and which calls may have begun activations that have ended.
 *      3. From those calls and from what the outside calls: all functions that can have been run to an end, by what 1
 *         says.
 *      4. What must have run: from covered points and frames, to dominators, to callees of calls that came back, and
 *         to the call of a function that only one place can have called.
 *
 * A fact that is known for certain and contradicts 1 to 3 shows that something about the function is not as it was told
 * (code that was changed, a call that the metadata lacks): then all of it may have run.
 */
#include "core/activity/activity.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/activity/activity_flow.h"
#include "core/activity/activity_frame.h"
#include "core/activity/activity_must.h"

static const uint32_t NONE = UINT32_MAX;

struct analysis {
	const struct activity_program *p;
	struct activity_flow *flow;
	struct frame_view view;
	/* all functions', numbered through */
	uint8_t *nodes;
	uint8_t *edges;
	uint8_t *passed;
	uint8_t *is_stopped; /* control of a frame may be in the node */
	bool *is_active;     /* [function]: an activation that has ended may have been begun */
	bool *is_broken;     /* [function]: its input contradicts itself */
	bool *is_progress;   /* [function]: has an outermost frame */
	uint32_t *active;    /* functions to go on with */
	uint32_t active_count;
	bool taken_is_active;
	uint32_t *ran; /* nodes to go on with */
	uint32_t ran_count;
	uint8_t *known_end; /* [function] enum frame_call: the most that is known of one of its activations */
	uint32_t *ended;    /* functions of which more is known now */
	uint32_t ended_count;
	uint8_t *is_listed;           /* [node] in ran */
	struct dominators dominators; /* all functions' */
	bool *has_dominators;         /* [function] */
	uint32_t function;            /* the one that now_passed is about */
	uint64_t steps;
};

/* ---- 3. what was called ---- */

static void activate(struct analysis *a, uint32_t f)
{
	if (a->is_active[f])
		return;
	a->is_active[f] = true;
	a->active[a->active_count++] = f;
}

static void activate_callee(struct analysis *a, uint32_t callee)
{
	if (callee < a->p->function_count)
		activate(a, callee);
	if (callee < a->p->function_count || callee == ACTIVITY_PURE || a->taken_is_active)
		return;
	a->taken_is_active = true;
	for (uint32_t f = 0; f < a->p->function_count; f++)
		if (a->p->functions[f].is_address_taken)
			activate(a, f);
	a->steps += a->p->function_count;
}

static void may(uint8_t *state)
{
	if (*state == ACTIVITY_NO)
		*state = ACTIVITY_MAYBE;
}

/* The calls that an ended activation may have done in a node it came to. */
static void activate_callees(struct analysis *a, const struct flow_walk *w, uint32_t n)
{
	const struct activity_flow *flow = a->flow;

	for (uint32_t c = flow->first_call[n]; c < flow->first_call[n + 1] && c <= flow->at[n]; c++) {
		a->steps++;
		if (c == flow->at[n] &&
		    !(flow_call_runs(w, c) && (flow_call_leaves(flow, c) || flow_call_is_tail(flow, c))))
			break;
		activate_callee(a, flow_call(flow, c)->callee);
	}
}

static void run_to_end(struct analysis *a, uint32_t f)
{
	const struct activity_flow *flow = a->flow;
	const struct cfg *g = a->p->functions[f].cfg;
	uint32_t base = flow->node_base[f];
	const struct flow_walk w = {flow, f, NULL, flow->flags + base, flow->at + base};

	for (uint32_t n = base; n < flow->node_base[f + 1]; n++)
		if (flow->flags[n] & FLOW_RETAINED) {
			may(&a->nodes[n]);
			activate_callees(a, &w, n);
		}
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (flow->flags[base + g->edges[e].from] & FLOW_PASSED &&
		    flow->flags[base + g->edges[e].to] & FLOW_RETAINED)
			may(&a->edges[flow->edge_base[f] + e]);
	a->steps += g->node_count + g->edge_count;
}

static void run_all_of(struct analysis *a, uint32_t f)
{
	const struct activity_function *function = &a->p->functions[f];

	for (uint32_t n = 0; n < function->cfg->node_count; n++)
		may(&a->nodes[a->flow->node_base[f] + n]);
	for (uint32_t e = 0; e < function->cfg->edge_count; e++)
		may(&a->edges[a->flow->edge_base[f] + e]);
	for (uint32_t c = 0; c < function->call_count; c++)
		activate_callee(a, function->calls[c].callee);
}

static void run_active(struct analysis *a)
{
	while (a->active_count)
		run_to_end(a, a->active[--a->active_count]);
}

/* A point of the function was reached, but it is in a node that cannot have run. */
static bool is_contradicted(const struct analysis *a, uint32_t f)
{
	const struct activity_function *function = &a->p->functions[f];
	const uint8_t *nodes = a->nodes + a->flow->node_base[f];

	if (function->entered == POINT_USED && nodes[0] == ACTIVITY_NO)
		return true;
	for (uint32_t n = 0; function->nodes_used && n < function->cfg->node_count; n++)
		if (function->nodes_used[n] == POINT_USED && nodes[n] == ACTIVITY_NO)
			return true;
	for (uint32_t c = 0; function->calls_used && c < function->call_count; c++)
		if (function->calls_used[c] == POINT_USED && nodes[function->calls[c].node] == ACTIVITY_NO)
			return true;
	return false;
}

static void reach(struct analysis *a)
{
	for (uint32_t f = 0; f < a->p->function_count; f++) {
		const struct activity_function *function = &a->p->functions[f];
		/* the only call from outside is in progress; but not if a tail call may have led to the frame that is
		 * */
		bool is_in_progress = function->is_once && a->is_progress[f] && !a->flow->repeats[f];

		if (function->is_root && (!is_in_progress || a->p->is_partial))
			activate(a, f);
	}
	run_active(a);
	for (uint32_t f = 0; f < a->p->function_count; f++) {
		a->is_broken[f] = is_contradicted(a, f);
		a->steps += a->p->functions[f].cfg->node_count + a->p->functions[f].call_count;
	}
	for (uint32_t f = 0; f < a->p->function_count; f++)
		if (a->is_broken[f])
			run_all_of(a, f);
	run_active(a);
}

/* ---- 4. what must have run ---- */

static void ran(struct analysis *a, uint32_t n)
{
	a->nodes[n] = ACTIVITY_YES;
	if (a->is_listed[n])
		return;
	a->is_listed[n] = true;
	a->ran[a->ran_count++] = n;
}

/* The call has done this with its callee. */
static void did_call(struct analysis *a, uint32_t call, enum frame_call what)
{
	uint32_t callee = flow_call(a->flow, call)->callee;

	a->steps++;
	if (callee >= a->p->function_count || what < FRAME_CALL_ENTERED)
		return;
	ran(a, a->flow->node_base[callee]);
	if (what == FRAME_CALL_ENTERED || a->known_end[callee] >= what)
		return;
	a->known_end[callee] = (uint8_t)what;
	a->ended[a->ended_count++] = callee;
}

static void now_passed(void *data, uint32_t node)
{
	struct analysis *a = data;
	uint32_t n = a->flow->node_base[a->function] + node, end = a->flow->first_call[n + 1];

	for (uint32_t c = a->flow->first_call[n]; c < end; c++)
		did_call(a, c, c + 1 == end && flow_call_leaves(a->flow, c) ? FRAME_CALL_ENDED : FRAME_CALL_RETURNED);
}

static struct must must_of(const struct analysis *a, uint32_t f)
{
	uint32_t node = a->flow->node_base[f], edge = a->flow->edge_base[f];

	return (struct must){a->p->functions[f].cfg,
			     a->nodes + node,
			     a->edges + edge,
			     a->passed + node,
			     {a->dominators.idom + node, a->dominators.first + node, a->dominators.size + node}};
}

/* The only call that can have entered the function; NONE: there are several, or it is called from outside. */
static uint32_t only_call(struct analysis *a, uint32_t f)
{
	uint32_t only = NONE;

	if (a->p->functions[f].is_root || a->p->functions[f].is_address_taken)
		return NONE;
	for (uint32_t k = a->flow->first_caller[f]; k < a->flow->first_caller[f + 1]; k++) {
		uint32_t c = a->flow->callers[k], n = a->flow->node_of[c], caller = a->flow->function_of[n];
		const uint8_t *used = a->p->functions[caller].calls_used;

		a->steps++;
		if (a->nodes[n] == ACTIVITY_NO || (used && used[c - a->flow->call_base[caller]] == POINT_UNUSED))
			continue;
		if (only != NONE)
			return NONE;
		only = c;
	}
	return only;
}

/* Finds the dominators, for the function's part of `ran` and `ended`. */
static struct error *need_dominators(struct analysis *a, uint32_t f)
{
	const struct must m = must_of(a, f);
	struct error *err;

	a->function = f;
	if (a->has_dominators[f])
		return NULL;
	err = dominators_find(m.g, m.edges, &m.dominators, &a->steps);
	if (err)
		return err;
	a->has_dominators[f] = true;
	ran(a, a->flow->node_base[f]);
	return NULL;
}

static struct error *follow_node(struct analysis *a, uint32_t n)
{
	uint32_t f = a->flow->function_of[n], base = a->flow->node_base[f], call = NONE;
	struct error *err = need_dominators(a, f);
	const struct must m = must_of(a, f);

	if (err)
		return err;
	a->steps++;
	must_climb(&m, n - base, now_passed, a);
	if (n == base)
		call = only_call(a, f);
	if (call == NONE)
		return NULL;
	ran(a, a->flow->node_of[call]);
	for (uint32_t c = a->flow->first_call[a->flow->node_of[call]]; c < call; c++)
		did_call(a, c, FRAME_CALL_RETURNED);
	return NULL;
}

/* An activation of the function has ended: in one of the nodes where they can. */
static struct error *follow_end(struct analysis *a, uint32_t f)
{
	uint32_t base = a->flow->node_base[f], common;
	struct error *err = need_dominators(a, f);
	const struct must m = must_of(a, f);

	if (err)
		return err;
	common = must_common(&m, a->flow->flags + base,
			     a->known_end[f] == FRAME_CALL_RETURNED ? FLOW_RETURNS : FLOW_ENDS);
	if (common != DOMINATORS_NONE)
		ran(a, base + common);
	a->steps += m.g->node_count;
	return NULL;
}

static struct error *follow(struct analysis *a)
{
	struct error *err = NULL;

	while (!err && (a->ran_count || a->ended_count))
		err = a->ran_count ? follow_node(a, a->ran[--a->ran_count]) : follow_end(a, a->ended[--a->ended_count]);
	return err;
}

/* Points over the whole run. */
static void add_points(struct analysis *a, uint32_t f)
{
	const struct activity_function *function = &a->p->functions[f];
	uint32_t base = a->flow->node_base[f], calls = a->flow->call_base[f];

	if (function->entered == POINT_USED)
		ran(a, base);
	for (uint32_t n = 0; function->nodes_used && n < function->cfg->node_count; n++)
		if (function->nodes_used[n] == POINT_USED)
			ran(a, base + n);
	for (uint32_t c = 0; function->calls_used && c < function->call_count; c++) {
		uint32_t n = base + function->calls[c].node;
		/* control may be between the point and the callee, or have jumped away from there */
		bool is_begun = !a->flow->ends_anywhere && !a->is_stopped[n];

		if (function->calls_used[c] != POINT_USED)
			continue;
		ran(a, n);
		for (uint32_t before = a->flow->first_call[n]; before < calls + c; before++)
			did_call(a, before, FRAME_CALL_RETURNED);
		if (is_begun)
			did_call(a, calls + c, FRAME_CALL_ENTERED);
	}
}

static struct error *find_must(struct analysis *a)
{
	uint32_t nodes = a->flow->node_base[a->p->function_count];
	struct error *err;

	for (uint32_t f = 0; f < a->p->function_count; f++)
		add_points(a, f);
	for (uint32_t n = 0; n < nodes; n++)
		if (a->nodes[n] == ACTIVITY_YES)
			ran(a, n);
	a->steps += nodes;
	err = follow(a);
	for (uint32_t f = 0; !err && f < a->p->function_count; f++)
		if (a->has_dominators[f]) {
			const struct must m = must_of(a, f);

			must_edges(&m, a->ran, &a->steps);
		}
	return err;
}

/* ---- 2. frames ---- */

static void merge(uint8_t *into, const uint8_t *from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (into[i] < from[i])
			into[i] = from[i];
}

static struct error *add_frame(struct analysis *a, const struct activity_frame *frame, uint32_t inner)
{
	struct frame_view *v = &a->view;
	struct error *err = frame_view_make(a->flow, frame, inner, v);
	const struct activity_function *function;
	uint32_t base;

	if (err)
		return err;
	function = &a->p->functions[frame->function];
	base = a->flow->node_base[frame->function];
	merge(a->nodes + base, v->nodes, function->cfg->node_count);
	merge(a->edges + a->flow->edge_base[frame->function], v->edges, function->cfg->edge_count);
	merge(a->passed + base, v->passed, function->cfg->node_count);
	for (uint32_t n = 0; n < function->cfg->node_count; n++)
		a->is_stopped[base + n] |= (v->flags[n] & FLOW_POSITION) != 0;
	for (uint32_t c = 0; c < function->call_count; c++) {
		uint32_t callee = function->calls[c].callee;

		if (v->calls[c] != FRAME_CALL_NO)
			activate_callee(a, callee);
		did_call(a, a->flow->call_base[frame->function] + c, v->calls[c]);
	}
	a->steps += function->cfg->node_count + function->cfg->edge_count + function->call_count;
	return NULL;
}

static struct error *add_stacks(struct analysis *a)
{
	struct error *err = NULL;

	for (uint32_t s = 0; !err && s < a->p->stack_count; s++) {
		const struct activity_stack *stack = &a->p->stacks[s];

		for (uint32_t i = 0; !err && i < stack->frame_count; i++)
			err = add_frame(a, &stack->frames[i], i ? stack->frames[i - 1].function : NONE);
		if (!err && stack->frame_count)
			a->is_progress[stack->frames[stack->frame_count - 1].function] = true;
	}
	a->steps += a->view.steps;
	return err;
}

/* ---- all of it ---- */

static struct error *allocate(struct analysis *a, struct arena *scratch, struct arena *arena)
{
	size_t functions = a->p->function_count, nodes = a->flow->node_base[functions];

	a->nodes = arena_calloc(arena, nodes, 1);
	a->edges = arena_calloc(arena, a->flow->edge_base[functions], 1);
	a->passed = arena_calloc(scratch, nodes, 1);
	a->is_stopped = arena_calloc(scratch, nodes, 1);
	a->is_listed = arena_calloc(scratch, nodes, 1);
	a->is_active = arena_calloc(scratch, functions, sizeof(bool));
	a->is_broken = arena_calloc(scratch, functions, sizeof(bool));
	a->is_progress = arena_calloc(scratch, functions, sizeof(bool));
	a->has_dominators = arena_calloc(scratch, functions, sizeof(bool));
	a->known_end = arena_calloc(scratch, functions, 1);
	a->ended = arena_calloc(scratch, 2 * functions, sizeof(uint32_t));
	a->active = arena_calloc(scratch, functions, sizeof(uint32_t));
	a->ran = arena_calloc(scratch, nodes, sizeof(uint32_t));
	a->dominators.idom = arena_calloc(scratch, nodes, sizeof(uint32_t));
	a->dominators.first = arena_calloc(scratch, nodes, sizeof(uint32_t));
	a->dominators.size = arena_calloc(scratch, nodes, sizeof(uint32_t));
	if (!a->nodes || !a->edges || !a->passed || !a->is_stopped || !a->is_listed || !a->is_active || !a->is_broken ||
	    !a->is_progress || !a->has_dominators || !a->known_end || !a->ended || !a->active || !a->ran ||
	    !a->dominators.idom || !a->dominators.first || !a->dominators.size)
		return &error_no_memory;
	return NULL;
}

static struct error *give(const struct analysis *a, struct arena *arena, struct activity_result *ret)
{
	struct activity_result r = {.program = a->p, .flow = a->flow, .steps = a->flow->steps + a->steps};
	uint32_t functions = a->p->function_count;

	r.functions = arena_calloc(arena, functions, 1);
	r.nodes = arena_calloc(arena, functions, sizeof(*r.nodes));
	r.edges = arena_calloc(arena, functions, sizeof(*r.edges));
	if (!r.functions || !r.nodes || !r.edges)
		return &error_no_memory;
	for (uint32_t f = 0; f < functions; f++) {
		r.nodes[f] = a->nodes + a->flow->node_base[f];
		r.edges[f] = a->edges + a->flow->edge_base[f];
		r.functions[f] = r.nodes[f][0];
	}
	*ret = r;
	return NULL;
}

static void analysis_deinit(struct analysis *a)
{
	frame_view_destroy(&a->view);
}

struct error *activity_analyse(const struct activity_program *p, struct arena *arena, struct activity_result *ret)
{
	CLEANUP(arena_deinit) struct arena scratch = {0};
	CLEANUP(analysis_deinit) struct analysis a = {.p = p, .flow = arena_alloc(arena, sizeof(*a.flow))};
	struct error *err;

	if (!a.flow)
		return &error_no_memory;
	err = activity_flow_make(p, arena, a.flow);
	if (err)
		return err;
	err = allocate(&a, &scratch, arena);
	if (err)
		return err;
	err = frame_view_create(a.flow, &a.view);
	if (err)
		return err;
	err = add_stacks(&a);
	if (err)
		return err;
	reach(&a);
	err = find_must(&a);
	return err ? err : give(&a, arena, ret);
}

struct error *activity_of_frame(const struct activity_result *r, const struct activity_frame *frame, uint8_t *nodes,
				uint8_t *edges)
{
	struct frame_view v = {0};
	struct error *err = frame_view_create(r->flow, &v);

	if (!err)
		err = frame_view_make(r->flow, frame, NONE, &v);
	if (!err) {
		const struct cfg *g = r->flow->p->functions[frame->function].cfg;

		memcpy(nodes, v.nodes, g->node_count);
		memcpy(edges, v.edges, g->edge_count);
	}
	frame_view_destroy(&v);
	return err;
}
