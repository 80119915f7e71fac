/*
 * activity_flow.c - what activations that have ended can have done, from any caller.
 *
 * Three facts depend on each other, over all functions: control can come to a node; an activation of a function can
 * have come back; one can have been left (by a throw, a jump, the end of its thread). Each is found by going forwards
 * from what it needs, the least solution: whatever happened happened after what it needed, so it is in there. Control
 * waits at a call until its callee turns out to come back; then the call's node goes on. Each node and call is looked
 * at a fixed number of times.
 *
 * After that, backwards from where activations can have ended: control that came to a node from which there is no
 * way to an end would still be there, so its activation would be in progress, and that is a frame's matter.
 *
 * A handler that jumps may end activations wherever they are. So may what the caller does not know (is_partial).
 */
#include "core/activity/activity_flow.h"

#include <stdlib.h>

/* ---- numbering through ---- */

static struct error *check_function(const struct activity_program *p, uint32_t i)
{
	const struct activity_function *f = &p->functions[i];
	uint32_t node = 0;

	if (!f->cfg->node_count)
		return error_create(ERROR_ARGUMENT, "function %u has no nodes", i);
	for (uint32_t c = 0; c < f->call_count; c++) {
		const struct activity_call *call = &f->calls[c];

		if (call->node < node || call->node >= f->cfg->node_count)
			return error_create(ERROR_ARGUMENT, "call %u of function %u is in node %u of %u, after node %u",
					    c, i, call->node, f->cfg->node_count, node);
		if (call->callee >= p->function_count && call->callee < ACTIVITY_PURE)
			return error_create(ERROR_ARGUMENT, "call %u of function %u calls function %u of %u", c, i,
					    call->callee, p->function_count);
		node = call->node;
	}
	return NULL;
}

static void at_least(uint32_t *most, uint32_t count)
{
	if (*most < count)
		*most = count;
}

static struct error *count_all(struct activity_flow *flow, struct arena *arena)
{
	const struct activity_program *p = flow->p;
	uint64_t nodes = 0, edges = 0, calls = 0;

	flow->node_base = arena_calloc(arena, (size_t)p->function_count + 1, sizeof(uint32_t));
	flow->edge_base = arena_calloc(arena, (size_t)p->function_count + 1, sizeof(uint32_t));
	flow->call_base = arena_calloc(arena, (size_t)p->function_count + 1, sizeof(uint32_t));
	if (!flow->node_base || !flow->edge_base || !flow->call_base)
		return &error_no_memory;
	for (uint32_t f = 0; f < p->function_count; f++) {
		struct error *err = check_function(p, f);

		if (err)
			return err;
		at_least(&flow->most_nodes, p->functions[f].cfg->node_count);
		at_least(&flow->most_edges, p->functions[f].cfg->edge_count);
		at_least(&flow->most_calls, p->functions[f].call_count);
		nodes += p->functions[f].cfg->node_count;
		edges += p->functions[f].cfg->edge_count;
		calls += p->functions[f].call_count;
		if (nodes >= UINT32_MAX || edges >= UINT32_MAX || calls >= UINT32_MAX)
			return error_create(ERROR_OVERFLOW, "a program of more than 2^32 blocks, branches or calls");
		flow->node_base[f + 1] = (uint32_t)nodes;
		flow->edge_base[f + 1] = (uint32_t)edges;
		flow->call_base[f + 1] = (uint32_t)calls;
	}
	return NULL;
}

static struct error *allocate(struct activity_flow *flow, struct arena *arena)
{
	uint32_t functions = flow->p->function_count;
	size_t nodes = flow->node_base[functions], edges = flow->edge_base[functions];
	size_t calls = flow->call_base[functions];

	flow->first_in = arena_calloc(arena, nodes + 1, sizeof(uint32_t));
	flow->in = arena_calloc(arena, edges, sizeof(uint32_t));
	flow->first_call = arena_calloc(arena, nodes + 1, sizeof(uint32_t));
	flow->function_of = arena_calloc(arena, nodes, sizeof(uint32_t));
	flow->node_of = arena_calloc(arena, calls, sizeof(uint32_t));
	flow->first_caller = arena_calloc(arena, (size_t)functions + 2, sizeof(uint32_t));
	flow->callers = arena_calloc(arena, calls, sizeof(uint32_t));
	flow->flags = arena_calloc(arena, nodes, 1);
	flow->at = arena_calloc(arena, nodes, sizeof(uint32_t));
	flow->is_entered = arena_calloc(arena, functions, sizeof(bool));
	flow->returns = arena_calloc(arena, functions, sizeof(bool));
	flow->leaves = arena_calloc(arena, functions, sizeof(bool));
	flow->repeats = arena_calloc(arena, functions, sizeof(bool));
	if (!flow->first_in || !flow->in || !flow->first_call || !flow->function_of || !flow->node_of ||
	    !flow->first_caller || !flow->callers || !flow->flags || !flow->at || !flow->is_entered || !flow->returns ||
	    !flow->leaves || !flow->repeats)
		return &error_no_memory;
	return NULL;
}

/* Counts in row[0] to row[count - 1] become where rows end; filling from the back leaves where they begin. */
static void sum_up(uint32_t *rows, uint32_t count)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		rows[i] = sum += rows[i];
	rows[count] = sum;
}

static void number_nodes(struct activity_flow *flow)
{
	uint32_t functions = flow->p->function_count;

	for (uint32_t f = 0; f < functions; f++) {
		const struct activity_function *function = &flow->p->functions[f];
		uint32_t base = flow->node_base[f];

		for (uint32_t n = base; n < flow->node_base[f + 1]; n++)
			flow->function_of[n] = f;
		for (uint32_t e = 0; e < function->cfg->edge_count; e++) {
			const struct cfg_edge *edge = &function->cfg->edges[e];

			flow->first_in[base + edge->to]++;
			if (edge->cut == CFG_CUT_TWICE)
				flow->flags[base + edge->to] |= FLOW_TWICE;
		}
		for (uint32_t c = 0; c < function->call_count; c++) {
			flow->node_of[flow->call_base[f] + c] = base + function->calls[c].node;
			flow->first_call[base + function->calls[c].node]++;
		}
	}
	sum_up(flow->first_in, flow->node_base[functions]);
	sum_up(flow->first_call, flow->node_base[functions]);
	for (uint32_t f = 0; f < functions; f++) {
		const struct cfg *g = flow->p->functions[f].cfg;

		for (uint32_t e = 0; e < g->edge_count; e++)
			flow->in[--flow->first_in[flow->node_base[f] + g->edges[e].to]] = e;
	}
	for (uint32_t c = flow->call_base[functions]; c-- > 0;)
		flow->first_call[flow->node_of[c]]--;
}

/* The row of callers that a callee's calls are in: UINT32_MAX for none. */
static uint32_t caller_row(const struct activity_flow *flow, uint32_t callee)
{
	if (callee == ACTIVITY_PURE)
		return UINT32_MAX;
	return callee < flow->p->function_count ? callee : flow->p->function_count;
}

static void find_callers(struct activity_flow *flow)
{
	uint32_t functions = flow->p->function_count, calls = flow->call_base[functions];

	for (uint32_t c = 0; c < calls; c++) {
		uint32_t row = caller_row(flow, flow_call(flow, c)->callee);

		if (row != UINT32_MAX)
			flow->first_caller[row]++;
	}
	sum_up(flow->first_caller, functions + 1);
	for (uint32_t c = calls; c-- > 0;) {
		uint32_t row = caller_row(flow, flow_call(flow, c)->callee);

		if (row != UINT32_MAX)
			flow->callers[--flow->first_caller[row]] = c;
	}
	flow->steps += flow->node_base[functions] + 2 * (uint64_t)flow->edge_base[functions] + 4 * (uint64_t)calls;
}

/* ---- one node ---- */

static bool is_unused(const uint8_t *points, uint32_t i)
{
	return points && points[i] == POINT_UNUSED;
}

bool flow_node_unused(const struct flow_walk *w, uint32_t node)
{
	return is_unused(w->flow->p->functions[w->function].nodes_used, node) ||
	       (w->facts && is_unused(w->facts->nodes_used, node));
}

bool flow_call_runs(const struct flow_walk *w, uint32_t call)
{
	const struct activity_function *functions = w->flow->p->functions;
	uint32_t i = call - w->flow->call_base[w->function], callee = functions[w->function].calls[i].callee;

	if (is_unused(functions[w->function].calls_used, i) || (w->facts && is_unused(w->facts->calls_used, i)))
		return false;
	return callee >= w->flow->p->function_count || w->flow->is_entered[callee];
}

bool flow_call_returns(const struct activity_flow *flow, uint32_t call)
{
	const struct activity_call *c = flow_call(flow, call);

	return !c->no_return && (c->callee >= flow->p->function_count || flow->returns[c->callee]);
}

bool flow_call_leaves(const struct activity_flow *flow, uint32_t call)
{
	const struct activity_call *c = flow_call(flow, call);

	if (c->may_leave || flow->ends_anywhere)
		return true;
	if (c->callee < flow->p->function_count)
		return flow->leaves[c->callee];
	if (c->callee == ACTIVITY_ANY)
		return flow->any_leaves;
	return c->callee == ACTIVITY_FOREIGN && !c->no_return && flow->any_leaves;
}

static bool is_exit(const struct cfg *g, uint32_t node)
{
	return g->first_edge[node] == g->first_edge[node + 1];
}

bool flow_call_is_tail(const struct activity_flow *flow, uint32_t call)
{
	uint32_t n = flow->node_of[call], f = flow->function_of[n];

	return call + 1 == flow->first_call[n + 1] && !flow_call(flow, call)->no_return &&
	       is_exit(flow->p->functions[f].cfg, n - flow->node_base[f]);
}

void flow_step(const struct flow_walk *w, uint32_t node)
{
	const struct activity_flow *flow = w->flow;
	const struct cfg *g = flow->p->functions[w->function].cfg;
	uint32_t end = flow->first_call[flow->node_base[w->function] + node + 1];

	for (; w->at[node] < end; w->at[node]++) {
		uint32_t call = w->at[node];
		bool leaves;

		if (!flow_call_runs(w, call))
			return;
		leaves = flow_call_leaves(flow, call);
		if (leaves)
			w->flags[node] |= FLOW_LEFT | FLOW_ENDS;
		if (flow_call_is_tail(flow, call))
			w->flags[node] |= FLOW_ENDS;
		/* the last call may lead on by an unwinding edge */
		if (!flow_call_returns(flow, call) && !(leaves && call + 1 == end && !is_exit(g, node)))
			return;
	}
	w->flags[node] |= is_exit(g, node) ? FLOW_PASSED | FLOW_ENDS : FLOW_PASSED;
}

/* ---- functions that ran, handlers that jump ---- */

/* A frame's control may be before its function's first point. */
static void find_entered(struct activity_flow *flow)
{
	const struct activity_program *p = flow->p;

	for (uint32_t f = 0; f < p->function_count; f++)
		flow->is_entered[f] =
			p->functions[f].entered != POINT_UNUSED && !is_unused(p->functions[f].nodes_used, 0);
	for (uint32_t s = 0; s < p->stack_count; s++)
		for (uint32_t i = 0; i < p->stacks[s].frame_count; i++) {
			uint32_t f = p->stacks[s].frames[i].function;

			if (f < p->function_count)
				flow->is_entered[f] = true;
		}
}

static bool call_is_unused(const struct activity_flow *flow, uint32_t call)
{
	uint32_t f = flow->function_of[flow->node_of[call]];

	return is_unused(flow->p->functions[f].calls_used, call - flow->call_base[f]);
}

/* Functions that handlers can come to. */
struct reached {
	uint32_t *list; /* [function_count] */
	bool *is_seen;  /* [function_count] */
	uint32_t count;
	bool has_taken; /* those whose address is taken are in it */
};

static void reach(struct reached *r, uint32_t function)
{
	if (r->is_seen[function])
		return;
	r->is_seen[function] = true;
	r->list[r->count++] = function;
}

/* Adds what a call may reach: a function of the program, or any whose address is taken. */
static void reach_callees(const struct activity_program *p, const struct activity_call *call, struct reached *r)
{
	if (call->callee < p->function_count) {
		reach(r, call->callee);
		return;
	}
	if (r->has_taken)
		return;
	r->has_taken = true;
	for (uint32_t f = 0; f < p->function_count; f++)
		if (p->functions[f].is_address_taken)
			reach(r, f);
}

/* Finds what handlers can reach, whether it can return or not; list and is_seen: [function_count] scratch. */
static bool handlers_jump(struct activity_flow *flow, uint32_t *list, bool *is_seen)
{
	const struct activity_function *functions = flow->p->functions;
	struct reached r = {.list = list, .is_seen = is_seen};

	for (uint32_t f = 0; f < flow->p->function_count; f++)
		if (functions[f].is_handler && flow->is_entered[f])
			reach(&r, f);
	for (uint32_t i = 0; i < r.count; i++)
		for (uint32_t c = flow->call_base[list[i]]; c < flow->call_base[list[i] + 1]; c++) {
			const struct activity_call *call = flow_call(flow, c);

			flow->steps++;
			if (call_is_unused(flow, c) || call->callee == ACTIVITY_PURE)
				continue;
			if (call->may_leave && call->jumps)
				return true;
			reach_callees(flow->p, call, &r);
		}
	return false;
}

/* ---- tail calls ---- */

/* Tail calls as a graph on the functions and one node more, for whatever is not known; it leads to what is taken. */
struct tails {
	uint32_t count;
	uint32_t *from;
	uint32_t *to;
};

static void add_tail(struct tails *t, uint32_t from, uint32_t to)
{
	t->from[t->count] = from;
	t->to[t->count++] = to;
}

static void find_tails(struct activity_flow *flow, struct tails *t)
{
	uint32_t functions = flow->p->function_count;

	for (uint32_t c = 0; c < flow->call_base[functions]; c++) {
		uint32_t row = caller_row(flow, flow_call(flow, c)->callee);

		if (row != UINT32_MAX && flow_call_is_tail(flow, c) && !call_is_unused(flow, c))
			add_tail(t, flow->function_of[flow->node_of[c]], row);
	}
	for (uint32_t f = 0; f < functions; f++)
		if (flow->p->functions[f].is_address_taken)
			add_tail(t, functions, f);
	flow->steps += flow->call_base[functions] + functions + 2 * (uint64_t)t->count;
}

/* Takes away what no tail call leads to, again and again: what is left is on a cycle, or after one. list, rows, left:
 * scratch for function_count + 2. */
static void peel(struct activity_flow *flow, const struct tails *t, uint32_t *out, uint32_t *list, uint32_t *rows,
		 uint32_t *left)
{
	uint32_t functions = flow->p->function_count, count = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		rows[t->from[i]]++;
		left[t->to[i]]++;
	}
	sum_up(rows, functions + 1);
	for (uint32_t i = t->count; i-- > 0;)
		out[--rows[t->from[i]]] = t->to[i];
	for (uint32_t f = 0; f <= functions; f++)
		if (!left[f])
			list[count++] = f;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = rows[list[i]]; k < rows[list[i] + 1]; k++)
			if (!--left[out[k]])
				list[count++] = out[k];
	for (uint32_t f = 0; f < functions; f++)
		flow->repeats[f] = left[f] > 0;
}

static struct error *find_repeats(struct activity_flow *flow)
{
	size_t functions = flow->p->function_count, most = flow->call_base[functions] + functions;
	uint32_t *block = calloc(3 * most + 3 * (functions + 2), sizeof(*block));
	struct tails t = {.from = block};

	if (!block)
		return &error_no_memory;
	t.to = block + most;
	find_tails(flow, &t);
	peel(flow, &t, block + 2 * most, block + 3 * most, block + 3 * most + functions + 2,
	     block + 3 * most + 2 * (functions + 2));
	free(block);
	return NULL;
}

/* ---- forwards ---- */

/* Nodes to go on with, and functions of which something new is known. */
struct agenda {
	uint32_t *nodes;
	uint32_t node_count;
	uint32_t *functions; /* twice the function, and 1 when it leaves */
	uint32_t function_count;
};

static void enter(struct activity_flow *flow, struct agenda *a, const struct flow_walk *w, uint32_t node)
{
	uint32_t n = flow->node_base[w->function] + node;

	if (flow->flags[n] & FLOW_ENTERED || flow_node_unused(w, node))
		return;
	flow->flags[n] |= FLOW_ENTERED;
	flow->at[n] = flow->first_call[n];
	a->nodes[a->node_count++] = n;
}

static void now_leaves(struct activity_flow *flow, struct agenda *a, uint32_t f)
{
	if (flow->leaves[f])
		return;
	flow->leaves[f] = true;
	a->functions[a->function_count++] = 2 * f + 1;
	if (!flow->p->functions[f].is_address_taken || flow->any_leaves)
		return;
	flow->any_leaves = true;
	a->functions[a->function_count++] = 2 * flow->p->function_count + 1;
}

static void go_on(struct activity_flow *flow, struct agenda *a, uint32_t n)
{
	uint32_t f = flow->function_of[n], base = flow->node_base[f];
	const struct cfg *g = flow->p->functions[f].cfg;
	const struct flow_walk w = {flow, f, NULL, flow->flags + base, flow->at + base};
	bool was_passed = flow->flags[n] & FLOW_PASSED;

	flow_step(&w, n - base);
	flow->steps++;
	if (flow->flags[n] & FLOW_LEFT)
		now_leaves(flow, a, f);
	if (was_passed || !(flow->flags[n] & FLOW_PASSED))
		return;
	if (is_exit(g, n - base))
		flow->flags[n] |= FLOW_RETURNS;
	if (is_exit(g, n - base) && !flow->returns[f]) {
		flow->returns[f] = true;
		a->functions[a->function_count++] = 2 * f;
	}
	for (uint32_t e = g->first_edge[n - base]; e < g->first_edge[n - base + 1]; e++)
		enter(flow, a, &w, g->edges[e].to);
	flow->steps += g->first_edge[n - base + 1] - g->first_edge[n - base];
}

/* Calls of a function that is now known to come back, or to be left. */
static void tell_callers(struct activity_flow *flow, struct agenda *a, uint32_t f, bool leaves)
{
	for (uint32_t k = flow->first_caller[f]; k < flow->first_caller[f + 1]; k++) {
		uint32_t call = flow->callers[k], n = flow->node_of[call];

		flow->steps++;
		if (!(flow->flags[n] & FLOW_ENTERED) || flow->at[n] < call)
			continue;
		if (flow->at[n] == call) {
			a->nodes[a->node_count++] = n;
		} else if (leaves && flow_call_leaves(flow, call)) {
			flow->flags[n] |= FLOW_LEFT | FLOW_ENDS;
			now_leaves(flow, a, flow->function_of[n]);
		}
	}
}

static struct error *solve_forwards(struct activity_flow *flow)
{
	size_t functions = flow->p->function_count;
	size_t most = flow->node_base[functions] + 2 * (size_t)flow->call_base[functions];
	uint32_t *block = calloc(most + 2 * functions + 2, sizeof(*block));
	struct agenda a = {.nodes = block};

	if (!block)
		return &error_no_memory;
	a.functions = block + most;
	for (uint32_t f = 0; f < functions; f++) {
		const struct flow_walk w = {.flow = flow, .function = f};

		if (flow->p->functions[f].entered != POINT_UNUSED)
			enter(flow, &a, &w, 0);
	}
	while (a.node_count || a.function_count) {
		if (a.node_count) {
			go_on(flow, &a, a.nodes[--a.node_count]);
		} else {
			uint32_t what = a.functions[--a.function_count];

			tell_callers(flow, &a, what / 2, what & 1);
		}
	}
	free(block);
	return NULL;
}

/* ---- backwards ---- */

static struct error *solve_backwards(struct activity_flow *flow)
{
	uint32_t nodes = flow->node_base[flow->p->function_count], count = 0;
	uint32_t *list = malloc(((size_t)nodes + 1) * sizeof(*list));

	if (!list)
		return &error_no_memory;
	for (uint32_t n = 0; n < nodes; n++) {
		if (flow->ends_anywhere && flow->flags[n] & FLOW_ENTERED)
			flow->flags[n] |= FLOW_ENDS;
		if (flow->flags[n] & FLOW_ENDS) {
			flow->flags[n] |= FLOW_RETAINED;
			list[count++] = n;
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t f = flow->function_of[list[i]];

		for (uint32_t k = flow->first_in[list[i]]; k < flow->first_in[list[i] + 1]; k++) {
			uint32_t from = flow->node_base[f] + flow->p->functions[f].cfg->edges[flow->in[k]].from;

			flow->steps++;
			if (!(flow->flags[from] & FLOW_PASSED) || flow->flags[from] & FLOW_RETAINED)
				continue;
			flow->flags[from] |= FLOW_RETAINED;
			list[count++] = from;
		}
	}
	free(list);
	return NULL;
}

static struct error *find_handlers(struct activity_flow *flow)
{
	size_t functions = flow->p->function_count;
	uint32_t *list = calloc(functions + 1, sizeof(*list));
	bool *is_seen = calloc(functions + 1, sizeof(*is_seen));

	if (list && is_seen)
		flow->ends_anywhere = flow->p->is_partial || handlers_jump(flow, list, is_seen);
	free(list);
	free(is_seen);
	return list && is_seen ? NULL : &error_no_memory;
}

struct error *activity_flow_make(const struct activity_program *p, struct arena *arena, struct activity_flow *flow)
{
	struct error *err;

	*flow = (struct activity_flow){.p = p};
	err = count_all(flow, arena);
	if (!err)
		err = allocate(flow, arena);
	if (err)
		return err;
	number_nodes(flow);
	find_callers(flow);
	find_entered(flow);
	return find_handlers(flow) ?: find_repeats(flow) ?: solve_forwards(flow) ?: solve_backwards(flow);
}
