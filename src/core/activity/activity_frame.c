/*
 * activity_frame.c - a frame: which way it can have come, and must have come, to where control is in it.
 *
 * The suffix is the part of its path that is known without a gap. Before it, what control can have come to from the
 * entry and from which it can have come to the suffix, past no point that it did not reach. Control may not have
 * reached the point of the node that it is in.
 *
 * Gaps: where a call returns a second time, the path that was not finished before the longjmp was given up without a
 * trace. So wherever a path begins behind such a call there is one, like at a link that is no edge: anything may have
 * run in between.
 *
 * Where no way at all leads to the frame's position, its own coverage is not believed; where there is still none,
 * all of the function may have run.
 */
#include "core/activity/activity_frame.h"

#include <stdlib.h>
#include <string.h>

#include "core/activity/activity_must.h"

static const uint32_t NONE = UINT32_MAX;

struct maker {
	const struct activity_flow *flow;
	const struct activity_frame *frame;
	const struct activity_function *function;
	const struct cfg *g;
	struct frame_view *v;
	struct flow_walk walk;
	uint32_t base;   /* of nodes */
	uint32_t inner;  /* the function that the next frame is of */
	uint32_t call;   /* in progress, as numbered in the function; NONE: none, or not known */
	uint32_t last;   /* the one node that control is in; NONE: not known */
	bool jumped;     /* control may have come back to behind a call that returns twice */
	uint32_t suffix; /* where in the path the part without gaps begins */
};

struct error *frame_view_create(const struct activity_flow *flow, struct frame_view *ret)
{
	size_t nodes = (size_t)flow->most_nodes + 1, words;
	struct frame_view v = {0};
	uint32_t *block;

	words = 5 * nodes;
	block = malloc(words * sizeof(*block) + 3 * nodes + flow->most_edges + flow->most_calls);
	if (!block)
		return &error_no_memory;
	v.at = block;
	v.list = block + nodes;
	v.dominators = (struct dominators){block + 2 * nodes, block + 3 * nodes, block + 4 * nodes};
	v.nodes = (uint8_t *)(block + words);
	v.passed = v.nodes + nodes;
	v.flags = v.passed + nodes;
	v.edges = v.flags + nodes;
	v.calls = v.edges + flow->most_edges;
	*ret = v;
	return NULL;
}

void frame_view_destroy(struct frame_view *v)
{
	free(v->at);
}

/* ---- what the frame says ---- */

static struct error *check_frame(const struct activity_program *p, const struct activity_frame *f)
{
	const struct cfg *g;

	if (f->function >= p->function_count)
		return error_create(ERROR_ARGUMENT, "a frame is of function %u of %u", f->function, p->function_count);
	if (f->function >= p->function_count)
		return error_create(ERROR_ARGUMENT, "a frame is of function %u of %u", f->function, p->function_count);
	g = p->functions[f->function].cfg;
	for (uint32_t i = 0; i < f->path_count; i++)
		if (f->path[i] >= g->node_count)
			return error_create(ERROR_ARGUMENT, "a frame's path has node %u of %u", f->path[i],
					    g->node_count);
	for (uint32_t i = 0; i + 1 < f->path_count; i++) {
		uint32_t e = f->path_edges[i];

		if (e != NONE &&
		    (e >= g->edge_count || g->edges[e].from != f->path[i] || g->edges[e].to != f->path[i + 1]))
			return error_create(ERROR_ARGUMENT, "a frame's path has edge %u from node %u to %u", e,
					    f->path[i], f->path[i + 1]);
	}
	for (uint32_t i = 0; i < f->position_count; i++)
		if (f->positions[i] >= g->node_count)
			return error_create(ERROR_ARGUMENT, "a frame is in node %u of %u", f->positions[i],
					    g->node_count);
	if (f->call_is_known && f->call != NONE && f->call >= p->functions[f->function].call_count)
		return error_create(ERROR_ARGUMENT, "a frame is in call %u of %u", f->call,
				    p->functions[f->function].call_count);
	return NULL;
}

static bool is_gap(const struct maker *m, uint32_t link)
{
	uint32_t e = m->frame->path_edges[link];

	return e == NONE ||
	       (m->g->edges[e].cut != CFG_KEPT && m->flow->flags[m->base + m->g->edges[e].to] & FLOW_TWICE);
}

/* Sets last, call, suffix, and FLOW_POSITION. */
static void find_position(struct maker *m)
{
	const struct activity_frame *f = m->frame;

	m->last = m->call = NONE;
	m->suffix = 0;
	memset(m->v->flags, 0, m->g->node_count);
	if (f->path_count)
		m->last = f->path[f->path_count - 1];
	else if (f->call_is_known && f->call != NONE)
		m->last = m->function->calls[f->call].node;
	else if (f->position_count == 1)
		m->last = f->positions[0];
	if (f->call_is_known && f->call != NONE && m->function->calls[f->call].node == m->last)
		m->call = f->call;
	for (uint32_t i = 0; i + 1 < f->path_count; i++)
		if (is_gap(m, i))
			m->suffix = i + 1;
	if (m->last != NONE)
		m->v->flags[m->last] = FLOW_POSITION;
	else if (!f->position_count)
		memset(m->v->flags, FLOW_POSITION, m->g->node_count);
	for (uint32_t i = 0; m->last == NONE && i < f->position_count; i++)
		m->v->flags[f->positions[i]] = FLOW_POSITION;
}

/* ---- forwards and backwards ---- */

static void forwards(struct maker *m)
{
	struct frame_view *v = m->v;
	uint32_t count = 0;

	for (uint32_t n = 0; n < m->g->node_count; n++) {
		v->flags[n] &= FLOW_POSITION;
		v->at[n] = m->flow->first_call[m->base + n];
	}
	v->flags[0] |= FLOW_ENTERED;
	v->list[count++] = 0;
	while (count) {
		uint32_t n = v->list[--count];

		v->steps++;
		if (flow_node_unused(&m->walk, n))
			continue;
		flow_step(&m->walk, n);
		if (!(v->flags[n] & FLOW_PASSED))
			continue;
		for (uint32_t e = m->g->first_edge[n]; e < m->g->first_edge[n + 1]; e++) {
			uint32_t to = m->g->edges[e].to;

			v->steps++;
			if (v->flags[to] & FLOW_ENTERED ||
			    (!(v->flags[to] & FLOW_POSITION) && flow_node_unused(&m->walk, to)))
				continue;
			v->flags[to] |= FLOW_ENTERED;
			v->list[count++] = to;
		}
	}
}

static void retain(struct frame_view *v, uint32_t node, uint32_t *count)
{
	if (v->flags[node] & FLOW_RETAINED || !(v->flags[node] & FLOW_ENTERED))
		return;
	v->flags[node] |= FLOW_RETAINED;
	v->list[(*count)++] = node;
}

/* Retains nodes that may have been left for the point behind a call that returns twice. */
static void retain_left(struct maker *m, uint32_t *count)
{
	for (uint32_t n = 0; n < m->g->node_count; n++)
		if (m->flow->ends_anywhere || m->v->flags[n] & FLOW_LEFT)
			retain(m->v, n, count);
}

/* False when no way leads to the position. */
static bool backwards(struct maker *m)
{
	struct frame_view *v = m->v;
	uint32_t count = 0;

	m->jumped = false;
	if (m->frame->path_count)
		retain(v, m->frame->path[m->suffix], &count);
	for (uint32_t n = 0; !m->frame->path_count && n < m->g->node_count; n++)
		if (v->flags[n] & FLOW_POSITION)
			retain(v, n, &count);
	if (!count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = m->base + v->list[i];

		v->steps++;
		if (m->flow->flags[node] & FLOW_TWICE && !m->jumped) {
			m->jumped = true;
			retain_left(m, &count);
		}
		for (uint32_t k = m->flow->first_in[node]; k < m->flow->first_in[node + 1]; k++) {
			const struct cfg_edge *edge = &m->g->edges[m->flow->in[k]];

			v->steps++;
			if (!(v->flags[edge->from] & FLOW_PASSED))
				continue;
			v->edges[m->flow->in[k]] = ACTIVITY_MAYBE;
			v->flags[edge->from] |= FLOW_THROUGH;
			retain(v, edge->from, &count);
		}
	}
	return true;
}

/* ---- calls ---- */

static uint32_t first_call(const struct maker *m, uint32_t node)
{
	return m->flow->first_call[m->base + node] - m->flow->call_base[m->frame->function];
}

/* The calls of the node from its first up to `end`. */
static void mark_calls(struct maker *m, uint32_t node, uint32_t end, enum frame_call mark)
{
	for (uint32_t c = first_call(m, node); c < end; c++)
		if (m->v->calls[c] < mark)
			m->v->calls[c] = (uint8_t)mark;
}

/* Control went on from the node. From its last call it may have by an unwinding edge. */
static void mark_calls_passed(struct maker *m, uint32_t node)
{
	uint32_t end = first_call(m, node + 1);

	mark_calls(m, node, end, FRAME_CALL_ENDED);
	if (first_call(m, node) < end && flow_call_leaves(m->flow, m->flow->call_base[m->frame->function] + end - 1))
		end--;
	mark_calls(m, node, end, FRAME_CALL_RETURNED);
}

/* Those that may have been done before and when control left the node otherwise than to a successor. */
static void mark_calls_entered(struct maker *m, uint32_t node)
{
	uint32_t base = m->flow->call_base[m->frame->function], c = first_call(m, node), end = first_call(m, node + 1);

	while (c < end && flow_call_runs(&m->walk, base + c) && flow_call_returns(m->flow, base + c))
		c++;
	mark_calls(m, node, c < end && flow_call_runs(&m->walk, base + c) ? c + 1 : c, FRAME_CALL_MAYBE);
}

/* In a node that control may be in. The activation that the call in progress began is the next frame's, if that is of
 * the callee: then no other was begun, unless tail calls led from the callee to itself. */
static void mark_calls_last(struct maker *m, uint32_t node)
{
	uint32_t callee;

	if (flow_node_unused(&m->walk, node))
		return;
	if (m->call == NONE) {
		mark_calls_entered(m, node);
		return;
	}
	callee = m->function->calls[m->call].callee;
	mark_calls(m, node, m->call, FRAME_CALL_RETURNED);
	if (callee >= m->flow->p->function_count || callee != m->inner || m->flow->repeats[callee] ||
	    m->flow->p->is_partial)
		mark_calls(m, node, m->call + 1, FRAME_CALL_MAYBE);
}

/* ---- what may have run ---- */

static void mark_path(struct maker *m)
{
	const struct activity_frame *f = m->frame;

	for (uint32_t i = 0; i < f->path_count; i++) {
		m->v->nodes[f->path[i]] = ACTIVITY_YES;
		if (i + 1 == f->path_count)
			break;
		/* where a jump may have gone to the end of the link, only the number of a path shows that its edge was
		 * taken */
		if (f->path_edges[i] == NONE || (is_gap(m, i) && !cfg_edge_ends(&m->g->edges[f->path_edges[i]]))) {
			mark_calls_entered(m, f->path[i]);
			continue;
		}
		m->v->edges[f->path_edges[i]] = ACTIVITY_YES;
		m->v->passed[f->path[i]] = true;
		mark_calls_passed(m, f->path[i]);
	}
}

static void mark_retained(struct maker *m)
{
	struct frame_view *v = m->v;

	for (uint32_t n = 0; n < m->g->node_count; n++) {
		if (v->flags[n] & FLOW_RETAINED)
			v->nodes[n] = ACTIVITY_MAYBE;
		if (v->flags[n] & FLOW_THROUGH)
			mark_calls(m, n, first_call(m, n + 1), FRAME_CALL_MAYBE);
		else if (m->jumped && v->flags[n] & FLOW_RETAINED && v->flags[n] & FLOW_LEFT)
			mark_calls_entered(m, n);
		if (v->flags[n] & FLOW_POSITION && (v->flags[n] & FLOW_RETAINED || n == m->last))
			mark_calls_last(m, n);
	}
}

static void mark_all(struct maker *m)
{
	memset(m->v->nodes, ACTIVITY_MAYBE, m->g->node_count);
	memset(m->v->edges, ACTIVITY_MAYBE, m->g->edge_count);
	memset(m->v->calls, FRAME_CALL_MAYBE, m->function->call_count);
}

/* One that begins elsewhere than at the entry is what a longjmp left. */
static bool is_whole(const struct maker *m)
{
	return m->frame->path_count && m->frame->path_is_whole && !m->suffix && !m->frame->path[0];
}

static void find_may(struct maker *m)
{
	bool is_found = is_whole(m);

	m->walk.facts = m->frame;
	memset(m->v->nodes, ACTIVITY_NO, m->g->node_count);
	memset(m->v->edges, ACTIVITY_NO, m->g->edge_count);
	memset(m->v->passed, 0, m->g->node_count);
	memset(m->v->calls, FRAME_CALL_NO, m->function->call_count);
	if (!is_found) {
		forwards(m);
		is_found = backwards(m);
	}
	if (!is_found) {
		m->walk.facts = NULL;
		forwards(m);
		is_found = backwards(m);
	}
	if (is_found)
		mark_retained(m);
	else
		mark_all(m);
	mark_path(m);
}

/* ---- what must have run ---- */

static void now_passed(void *data, uint32_t node)
{
	struct maker *m = data;

	mark_calls_passed(m, node);
}

/* The node ran. Control is not there any more, and did not leave it by a jump: it went on. */
static void climb(struct maker *m, const struct must *must, uint32_t node)
{
	must_climb(must, node, now_passed, m);
	if (m->jumped || m->v->flags[node] & FLOW_POSITION || m->v->passed[node])
		return;
	m->v->passed[node] = true;
	mark_calls_passed(m, node);
}

static void climb_points(struct maker *m, const struct must *must)
{
	const uint8_t *nodes = m->frame->nodes_used, *calls = m->frame->calls_used;

	for (uint32_t n = 0; nodes && n < m->g->node_count; n++)
		if (nodes[n] == POINT_USED && m->v->nodes[n] != ACTIVITY_NO)
			climb(m, must, n);
	for (uint32_t c = 0; calls && c < m->function->call_count; c++) {
		uint32_t n = m->function->calls[c].node;
		/* its point may be the last that control came to, and the callee not entered */
		bool is_begun = !m->flow->ends_anywhere && !(m->v->flags[n] & FLOW_POSITION);

		if (calls[c] != POINT_USED || m->v->nodes[n] == ACTIVITY_NO)
			continue;
		climb(m, must, n);
		mark_calls(m, n, c, FRAME_CALL_RETURNED);
		mark_calls(m, n, c + is_begun, FRAME_CALL_ENTERED);
	}
}

static struct error *find_must(struct maker *m)
{
	struct frame_view *v = m->v;
	const struct must must = {m->g, v->nodes, v->edges, v->passed, v->dominators};
	struct error *err = dominators_find(m->g, v->edges, &v->dominators, &v->steps);
	uint32_t common;

	if (err)
		return err;
	climb(m, &must, 0);
	for (uint32_t i = 0; i < m->frame->path_count; i++)
		must_climb(&must, m->frame->path[i], now_passed, m);
	/* or it is in one of several */
	common = m->last != NONE ? m->last : must_common(&must, v->flags, FLOW_POSITION | FLOW_RETAINED);
	if (common != NONE)
		climb(m, &must, common);
	if (m->walk.facts)
		climb_points(m, &must);
	must_edges(&must, v->list, &v->steps);
	return NULL;
}

struct error *frame_view_make(const struct activity_flow *flow, const struct activity_frame *frame, uint32_t inner,
			      struct frame_view *v)
{
	struct error *err = check_frame(flow->p, frame);
	struct maker m = {.flow = flow, .frame = frame, .v = v, .inner = inner};

	if (err)
		return err;
	m.function = &flow->p->functions[frame->function];
	m.g = m.function->cfg;
	m.base = flow->node_base[frame->function];
	m.walk = (struct flow_walk){flow, frame->function, frame, v->flags, v->at};
	v->function = frame->function;
	v->steps += m.g->node_count + m.g->edge_count + m.function->call_count + frame->path_count;
	find_position(&m);
	find_may(&m);
	return find_must(&m);
}
