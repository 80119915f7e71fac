/*
 * activity_run.c - random programs and their runs (activity_run.h). Deterministic.
 */
#include "activity_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = UINT32_MAX;

static void *must(void *block)
{
	if (!block) {
		fprintf(stderr, "activity_run: out of memory\n");
		exit(1);
	}
	return block;
}

static uint32_t below(struct run *r, uint32_t bound)
{
	return (uint32_t)rng_below(&r->rng, bound);
}

static bool one_in(struct run *r, uint32_t count)
{
	return !below(r, count);
}

/* ---- the program ---- */

static bool is_exit(const struct cfg *g, uint32_t node)
{
	return g->first_edge[node] == g->first_edge[node + 1];
}

static struct activity_call random_call(struct run *r, uint32_t node)
{
	struct activity_call call = {.node = node};

	switch (below(r, 8)) {
	case 0:
		call.callee = ACTIVITY_ANY;
		call.may_leave = one_in(r, 3);
		break;
	case 1:
		call.callee = ACTIVITY_FOREIGN;
		call.may_leave = one_in(r, 3);
		call.jumps = call.may_leave && one_in(r, 6);
		break;
	case 2:
		call.callee = ACTIVITY_PURE;
		break;
	default:
		call.callee = below(r, r->program.function_count);
		call.no_return = r->never_returns[call.callee] && one_in(r, 2);
	}
	return call;
}

/* What ends a block that control does not leave by an edge, or only by unwinding. */
static struct activity_call last_call(struct run *r, uint32_t node, bool is_out)
{
	struct activity_call call = {.node = node, .callee = ACTIVITY_FOREIGN, .no_return = true};

	call.may_leave = !is_out || one_in(r, 2);
	call.jumps = call.may_leave && one_in(r, 2);
	return call;
}

static void make_calls(struct run *r, uint32_t f)
{
	const struct cfg *g = &r->cfgs[f];
	uint32_t density = 2 + below(r, 4), count = 0;
	struct activity_call *calls = must(arena_calloc(&r->arena, RUN_CALLS, sizeof(*calls)));

	for (uint32_t n = 0; n < g->node_count; n++) {
		bool is_done = false;

		while (!is_done && count + RUN_NODES < RUN_CALLS && one_in(r, density)) {
			struct activity_call call = random_call(r, n);

			/* behind it there is nothing, but where it may unwind */
			if (call.no_return && !is_exit(g, n))
				break;
			is_done = call.no_return;
			calls[count++] = call;
		}
		if (is_done)
			continue;
		if (is_exit(g, n) ? r->never_returns[f] || one_in(r, 4)
				  : one_in(r, 12) && g->edges[g->first_edge[n]].cut == CFG_KEPT)
			calls[count++] = last_call(r, n, is_exit(g, n));
	}
	r->calls[f] = calls;
	r->functions[f].calls = calls;
	r->functions[f].call_count = count;
}

static void make_function(struct run *r, uint32_t f)
{
	static const enum cfg_shape shapes[] = {CFG_DAG, CFG_CYCLIC, CFG_PROGRAM, CFG_PROGRAM};
	struct activity_function *function = &r->functions[f];

	do {
		r->cfgs[f] = cfg_generate(&r->arena, &r->rng, shapes[below(r, 4)], one_in(r, 3) ? CFG_JUMPS : 0,
					  1 + below(r, 14));
	} while (r->cfgs[f].node_count > RUN_NODES || r->cfgs[f].edge_count > RUN_EDGES);
	if (cfg_cut_cycles(&r->cfgs[f]) || (one_in(r, 2) && cfg_cut_iterations(&r->cfgs[f])))
		must(NULL);
	function->cfg = &r->cfgs[f];
	function->is_once = !f;
	function->is_handler = f && one_in(r, 10);
	function->is_address_taken = f && one_in(r, 4);
	function->is_root = !f || function->is_handler || one_in(r, 6);
	make_calls(r, f);
}

/* A function never returns when it has no exit, or each has a call that does not come back: such are generated. */
static void make_program(struct run *r)
{
	uint32_t count = 1 + below(r, RUN_FUNCTIONS);

	r->program = (struct activity_program){.functions = r->functions, .function_count = count};
	for (uint32_t f = 0; f < count; f++)
		r->never_returns[f] = one_in(r, 6);
	for (uint32_t f = 0; f < count; f++)
		make_function(r, f);
	r->program.is_partial = one_in(r, 12);
}

/* ---- its run ---- */

static struct run_frame *top(struct run_thread *t)
{
	return t->depth ? &t->frames[t->depth - 1] : NULL;
}

/* Where its point is unless it is there already; the edge too. */
static void comes_to(struct run_frame *frame, uint32_t node, uint32_t edge)
{
	frame->node = node;
	frame->entered_by = edge;
	frame->state = RUN_ENTERS;
	frame->path[frame->path_count] = node;
	frame->path_edges[frame->path_count++] = edge;
}

static bool push(struct run_thread *t, uint32_t f, bool interrupts)
{
	struct run_frame *frame;

	if (t->depth == RUN_DEPTH)
		return false;
	frame = &t->frames[t->depth++];
	memset(frame, 0, sizeof(*frame));
	frame->function = f;
	frame->interrupts = interrupts;
	comes_to(frame, 0, NONE);
	return true;
}

static void has_come(struct run *r, struct run_frame *frame)
{
	struct run_truth *all = &r->truth[frame->function];

	frame->truth.nodes[frame->node] = all->nodes[frame->node] = true;
	if (frame->entered_by != NONE)
		frame->truth.edges[frame->entered_by] = all->edges[frame->entered_by] = true;
}

static uint32_t first_call(const struct run *r, uint32_t f, uint32_t node)
{
	uint32_t c = 0;

	while (c < r->functions[f].call_count && r->functions[f].calls[c].node < node)
		c++;
	return c;
}

static bool has_next(const struct run *r, const struct run_frame *frame)
{
	return frame->next < r->functions[frame->function].call_count &&
	       r->functions[frame->function].calls[frame->next].node == frame->node;
}

static void take_edge(struct run *r, struct run_frame *frame)
{
	const struct cfg *g = &r->cfgs[frame->function];
	uint32_t first = g->first_edge[frame->node], e = first + below(r, g->first_edge[frame->node + 1] - first);

	/* rounds of a loop are one round, however many there were */
	if (g->edges[e].cut == CFG_CUT_ITERATION && frame->path_edges[frame->path_start] == e)
		frame->path_count = frame->path_start;
	comes_to(frame, g->edges[e].to, e);
	if (g->edges[e].cut == CFG_KEPT)
		return;
	frame->path_start = frame->path_count - 1;
	frame->ended_by = e;
}

/* The activation ends; who called it goes on. Foreign code may call back again. */
static void come_back(struct run *r, struct run_thread *t)
{
	bool interrupts = top(t)->interrupts;
	const struct activity_call *call;
	struct run_frame *below_it;

	t->depth--;
	below_it = top(t);
	if (interrupts || !below_it)
		return;
	call = &r->functions[below_it->function].calls[below_it->next];
	if (call->no_return || (call->callee == ACTIVITY_FOREIGN && one_in(r, 2))) {
		below_it->state = RUN_POINTED;
	} else if (!below_it->exits) {
		below_it->next++;
		below_it->state = RUN_READY;
	}
}

static uint32_t random_taken(struct run *r)
{
	uint32_t first = below(r, r->program.function_count);

	for (uint32_t i = 0; i < r->program.function_count; i++) {
		uint32_t f = (first + i) % r->program.function_count;

		if (r->functions[f].is_address_taken)
			return f;
	}
	return NONE;
}

static bool can_unwind(const struct run *r, const struct run_frame *frame)
{
	const struct activity_function *f = &r->functions[frame->function];

	return frame->state >= RUN_POINTED && !is_exit(f->cfg, frame->node) && has_next(r, frame) &&
	       (frame->next + 1 == f->call_count || f->calls[frame->next + 1].node != frame->node);
}

/* The edge behind a call that returned once and may again; NONE. */
static uint32_t setjmp_edge(struct run *r, const struct run_frame *frame)
{
	const struct cfg *g = &r->cfgs[frame->function];
	uint32_t first = below(r, g->edge_count + 1);

	for (uint32_t i = 0; i < g->edge_count; i++) {
		uint32_t e = (first + i) % g->edge_count;

		if (g->edges[e].cut == CFG_CUT_TWICE && frame->truth.edges[e])
			return e;
	}
	return NONE;
}

/* The path that was not finished is lost; whoever reads the rest sees an edge where there is one. */
static void jump_behind(const struct run *r, struct run_frame *frame, uint32_t e)
{
	const struct cfg *g = &r->cfgs[frame->function];
	uint32_t to = g->edges[e].to, link = NONE, before;

	frame->path_count = frame->path_start;
	before = frame->path_count ? frame->path[frame->path_count - 1] : NONE;
	if (before != NONE && cfg_edge_ends(&g->edges[frame->ended_by])) {
		link = g->edges[frame->ended_by].to == to ? frame->ended_by : NONE;
	} else if (before != NONE) {
		for (uint32_t i = g->first_edge[before]; i < g->first_edge[before + 1]; i++)
			if (g->edges[i].to == to)
				link = i;
	}
	comes_to(frame, to, link);
	frame->entered_by = NONE;
}

/* Leaves the top activation by throwing, jumping or ending the thread. Not past an exit; past an interruption only with
 * is_jump. */
static void leave(struct run *r, struct run_thread *t, bool is_jump)
{
	uint32_t lowest = t->depth - 1, to;

	while (lowest && !t->frames[lowest - 1].exits && (is_jump || !t->frames[lowest].interrupts))
		lowest--;
	to = lowest + below(r, t->depth - lowest);
	for (uint32_t i = to; i < t->depth; i++) {
		struct run_frame *frame = &t->frames[i];
		uint32_t e = setjmp_edge(r, frame);
		/* an interrupted frame is not in a call; a signal may come in the middle of one */
		bool is_interrupted = i + 1 < t->depth && t->frames[i + 1].interrupts;

		if (e != NONE && one_in(r, 2)) {
			t->depth = i + 1;
			jump_behind(r, frame, e);
			return;
		}
		if (!is_interrupted && can_unwind(r, frame)) {
			t->depth = i + 1;
			take_edge(r, frame);
			return;
		}
	}
	if (!lowest && (is_jump || !t->frames[0].interrupts))
		t->depth = 0; /* pthread_exit */
	else
		top(t)->exits = true;
}

static void do_foreign(struct run *r, struct run_thread *t, const struct activity_call *call)
{
	struct run_frame *frame = top(t);
	uint32_t f = random_taken(r);

	frame->state = RUN_CALLS_OUT;
	if (f != NONE && one_in(r, 3)) {
		if (call->no_return && !call->may_leave)
			frame->exits = true;
		if (push(t, f, false))
			return;
	}
	if (call->may_leave && (call->no_return || one_in(r, 3))) {
		leave(r, t, call->jumps);
	} else if (call->no_return) {
		frame->exits = true;
	} else {
		frame->next++;
		frame->state = RUN_READY;
	}
}

static void do_call(struct run *r, struct run_thread *t)
{
	struct run_frame *frame = top(t);
	const struct activity_function *function = &r->functions[frame->function];
	const struct activity_call *call = &function->calls[frame->next];
	uint32_t callee = call->callee == ACTIVITY_ANY ? random_taken(r) : call->callee;
	bool is_tail =
		is_exit(function->cfg, frame->node) && !call->no_return && one_in(r, 2) &&
		(frame->next + 1 == function->call_count || function->calls[frame->next + 1].node != frame->node);

	if (call->callee == ACTIVITY_PURE) {
		frame->next++;
		frame->state = RUN_READY;
		return;
	}
	if (call->callee == ACTIVITY_FOREIGN && is_tail)
		callee = random_taken(r);
	else if (call->callee == ACTIVITY_FOREIGN || callee == NONE ||
		 (call->callee == ACTIVITY_ANY && call->may_leave && one_in(r, 2))) {
		do_foreign(r, t, call);
		return;
	}
	if (is_tail) {
		bool interrupts = frame->interrupts;

		if (callee == NONE) {
			come_back(r, t);
			return;
		}
		t->depth--;
		push(t, callee, interrupts);
		return;
	}
	frame->state = RUN_CALLS_OUT;
	if (!push(t, callee, false))
		frame->exits = true; /* the stack is full: here it stays */
}

static void reach_points(struct run *r, struct run_frame *frame)
{
	uint32_t f = frame->function;

	has_come(r, frame);
	if (!frame->node)
		r->entered[f] = true;
	frame->nodes_used[frame->node] = r->nodes_used[f][frame->node] = POINT_USED;
	frame->next = first_call(r, f, frame->node);
	frame->state = RUN_READY;
}

static void step(struct run *r, struct run_thread *t)
{
	struct run_frame *frame = top(t);

	switch (frame->state) {
	case RUN_ENTERS:
		reach_points(r, frame);
		return;
	case RUN_READY:
		if (has_next(r, frame)) {
			frame->calls_used[frame->next] = r->calls_used[frame->function][frame->next] = POINT_USED;
			frame->state = RUN_POINTED;
		} else if (is_exit(&r->cfgs[frame->function], frame->node)) {
			come_back(r, t);
		} else {
			take_edge(r, frame);
		}
		return;
	case RUN_POINTED:
		do_call(r, t);
		return;
	case RUN_CALLS_OUT: /* exits: what the outside registered may be called yet */
		if (one_in(r, 3) && random_taken(r) != NONE &&
		    r->functions[frame->function].calls[frame->next].callee == ACTIVITY_FOREIGN &&
		    !r->functions[frame->function].calls[frame->next].may_leave)
			push(t, random_taken(r), false);
	}
}

static uint32_t random_outside(struct run *r, bool is_handler)
{
	uint32_t first = below(r, r->program.function_count);

	for (uint32_t i = 0; i < r->program.function_count; i++) {
		uint32_t f = (first + i) % r->program.function_count;

		if (is_handler ? r->functions[f].is_handler : r->functions[f].is_root && !r->functions[f].is_once)
			return f;
	}
	return NONE;
}

static void run_for(struct run *r, uint32_t steps)
{
	push(&r->threads[0], 0, false);
	for (uint32_t i = 0; i < steps; i++) {
		struct run_thread *t = &r->threads[below(r, RUN_THREADS)];
		uint32_t f;

		if (!t->depth) {
			f = random_outside(r, false);
			if (f != NONE && one_in(r, 4))
				push(t, f, false);
			continue;
		}
		if (top(t)->state == RUN_ENTERS) {
			step(r, t);
			continue;
		}
		f = one_in(r, 30) ? random_outside(r, true) : NONE;
		if (f != NONE)
			push(t, f, true);
		else
			step(r, t);
		/* what is_partial says may happen: a thread ends wherever it is */
		if (r->program.is_partial && t->depth && top(t)->state != RUN_ENTERS && one_in(r, 60))
			t->depth = 0;
	}
}

/* ---- what is told ---- */

/* NULL, or a copy in which what was not reached says so, and some points are unknown. */
static const uint8_t *tell_points(struct run *r, const uint8_t *used, uint32_t count)
{
	uint8_t *points = must(arena_alloc(&r->arena, count + 1));
	bool is_some = one_in(r, 4);

	if (one_in(r, 3))
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		points[i] = is_some && one_in(r, 3) ? POINT_UNKNOWN : used[i] ? POINT_USED : POINT_UNUSED;
	return points;
}

static void tell_functions(struct run *r)
{
	for (uint32_t f = 0; f < r->program.function_count; f++) {
		struct activity_function *function = &r->functions[f];

		if (one_in(r, 2))
			function->entered = r->entered[f] ? POINT_USED : POINT_UNUSED;
		function->calls_used = tell_points(r, r->calls_used[f], function->call_count);
		function->nodes_used = tell_points(r, r->nodes_used[f], function->cfg->node_count);
	}
}

static void tell_position(struct run *r, const struct run_frame *frame, struct activity_frame *ret)
{
	uint32_t *positions = must(arena_calloc(&r->arena, 4, sizeof(*positions)));

	if (one_in(r, 3))
		return;
	ret->positions = positions;
	ret->position_count = one_in(r, 2) ? 1 : 1 + below(r, 4);
	for (uint32_t i = 0; i < ret->position_count; i++)
		positions[i] = below(r, r->cfgs[frame->function].node_count);
	positions[below(r, ret->position_count)] = frame->node;
}

static void tell_path(struct run *r, const struct run_frame *frame, struct activity_frame *ret)
{
	uint32_t first = one_in(r, 3) ? 0 : below(r, frame->path_count);
	uint32_t *copy = must(arena_calloc(&r->arena, (size_t)frame->path_count * 2, sizeof(*copy)));

	ret->path_count = frame->path_count - first;
	ret->path_is_whole = !first;
	memcpy(copy, frame->path + first, ret->path_count * sizeof(*copy));
	ret->path = copy;
	copy += frame->path_count;
	memcpy(copy, frame->path_edges + first + 1, (ret->path_count - 1) * sizeof(*copy));
	ret->path_edges = copy;
	for (uint32_t i = 0; i + 1 < ret->path_count; i++)
		if (one_in(r, 60))
			copy[i] = NONE;
}

static struct activity_frame tell_frame(struct run *r, const struct run_frame *frame, bool is_interrupted)
{
	struct activity_frame told = {.function = frame->function, .call = NONE};

	if (one_in(r, 3))
		tell_position(r, frame, &told);
	else
		tell_path(r, frame, &told);
	told.call_is_known = !one_in(r, 4);
	if (told.call_is_known && frame->state == RUN_CALLS_OUT && !is_interrupted)
		told.call = frame->next;
	/* a signal that comes while foreign code runs */
	if (is_interrupted && frame->state == RUN_CALLS_OUT) {
		told.call_is_known = one_in(r, 2);
		told.call = told.call_is_known ? frame->next : NONE;
	}
	told.calls_used = tell_points(r, frame->calls_used, r->functions[frame->function].call_count);
	told.nodes_used = tell_points(r, frame->nodes_used, r->cfgs[frame->function].node_count);
	return told;
}

static void tell_stacks(struct run *r)
{
	struct activity_stack *stacks = must(arena_calloc(&r->arena, RUN_THREADS, sizeof(*stacks)));

	for (uint32_t i = 0; i < RUN_THREADS; i++) {
		struct run_thread *t = &r->threads[i];
		struct activity_frame *frames = must(arena_calloc(&r->arena, RUN_DEPTH, sizeof(*frames)));
		uint32_t count = 0;

		for (uint32_t k = t->depth; k-- > 0;) {
			bool is_interrupted = k + 1 < t->depth && t->frames[k + 1].interrupts;

			if (r->program.is_partial && one_in(r, 4))
				continue;
			has_come(r, &t->frames[k]);
			r->told[i][count] = &t->frames[k];
			frames[count++] = tell_frame(r, &t->frames[k], is_interrupted);
		}
		stacks[i] = (struct activity_stack){frames, count};
	}
	r->program.stacks = stacks;
	r->program.stack_count = RUN_THREADS;
}

void run_random(struct run *r, uint64_t seed)
{
	memset(r, 0, sizeof(*r));
	arena_init(&r->arena);
	r->rng.state = seed;
	make_program(r);
	run_for(r, 1 + below(r, RUN_STEPS));
	tell_functions(r);
	tell_stacks(r);
}

void run_deinit(struct run *r)
{
	arena_deinit(&r->arena);
}
