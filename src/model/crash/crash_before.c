/*
 * crash_before.c - reads calls off the kept paths: control that has gone on from a block has made all calls in it, in their order,
 * and only the last one can have ended by throwing. In the block that control is in, the calls before the one in progress have returned.
 *
 * Each activation of a function that has returned has made the calls of the blocks that dominate all its exits, in the control flow
 * without what cannot have run (core/activity/activity.h).
 */
#include <stdlib.h>
#include <string.h>

#include "core/paths/dominators.h"
#include "model/crash/crash_before.h"
#include "snapshot/image/code.h"
#include "snapshot/image/elf.h"

enum {
	CALLS_MAX = 1000, /* of a frame; older ones count as not kept */
};

VEC_DECLARE(before_vec, struct crash_before_call);
VEC_DECLARE(call_vec, uint32_t);

struct reader {
	const struct crash *c;
	const struct crash_frame *f;
	uint32_t *nodes; /* of a path; room for all of the function's */
	struct before_vec calls;
	struct call_vec unsure;
};

/* The calls of a node: [first, *ret_end). */
static uint32_t calls_of(const struct tracemeta_function *meta, uint32_t node, uint32_t *ret_end)
{
	uint32_t first = 0, end;

	while (first < meta->call_count && meta->calls[first].node < node)
		first++;
	for (end = first; end < meta->call_count && meta->calls[end].node == node; end++)
		;
	*ret_end = end;
	return first;
}

/* Control left the last node of a path by an exception: all edges that it can have taken say so. next: where it came to. */
static bool has_thrown(const struct reader *r, const struct path *path, uint32_t next)
{
	const struct cfg *g = &r->f->flow->cfg;
	const struct pathmeta_outcome *outcomes = r->f->flow->outcomes;
	bool is_found = false;

	if (path->end_edge != NO_EDGE)
		return outcomes[path->end_edge].kind == PATHMETA_UNWIND;
	for (uint32_t e = g->first_edge[path->end_node]; e < g->first_edge[path->end_node + 1]; e++) {
		if (g->edges[e].to != next)
			continue;
		if (outcomes[e].kind != PATHMETA_UNWIND)
			return false;
		is_found = true;
	}
	return is_found;
}

/* All of the node's: control has gone on from it. */
static struct error *take_node(struct reader *r, uint32_t node, bool has_thrown, bool is_round)
{
	uint32_t end, first = calls_of(r->f->meta, node, &end);
	struct error *err = NULL;

	for (uint32_t i = end; i-- > first && !err;)
		err = before_vec_append(&r->calls, (struct crash_before_call){
							   .call = i,
							   .is_round = is_round,
							   .has_thrown = i + 1 == end && has_thrown,
						   });
	return err;
}

/* How often the node is on the paths; UINT32_MAX: not known. */
static uint32_t count_visits(struct reader *r, uint32_t node)
{
	uint32_t visits = 0;

	if (r->f->trace != CRASH_TRACE_WHOLE)
		return UINT32_MAX;
	for (uint32_t i = 0; i < r->f->path_count; i++) {
		uint32_t count = crash_path_nodes(r->c, r->f, &r->f->paths[i], r->nodes);

		for (uint32_t n = 0; n < count; n++)
			visits += r->nodes[n] == node ? (r->f->paths[i].is_iterations ? 2 : 1) : 0;
		if (r->f->paths[i].follows_gap)
			return UINT32_MAX;
	}
	return visits;
}

enum at_call {
	AT_NO_CALL = 0,
	AT_THIS_CALL,
	AT_SOME_CALL,
};

/* The next instruction is a call, or a jump out of the function, which may be the one that coverage has as reached: it has not been made. */
static enum at_call is_at_call(const struct reader *r, const struct tracemeta_call *call)
{
	const struct snapshot *s = r->c->stopped;
	struct instruction i;
	const char *target;
	uint64_t off;

	if (!snapshot_instruction_at(s, r->f->machine->pc, &i) ||
	    (i.kind != INSTRUCTION_CALL && i.kind != INSTRUCTION_JUMP))
		return AT_NO_CALL;
	if (!i.is_direct) /* a jump: or one of a switch */
		return call->callee || i.kind == INSTRUCTION_JUMP ? AT_SOME_CALL : AT_THIS_CALL;
	target = snapshot_symbol_at(s, i.target, &off);
	if (target && !off && call->callee && strcmp(target, call->callee) == 0)
		return AT_THIS_CALL;
	return i.kind == INSTRUCTION_CALL ? AT_SOME_CALL : AT_NO_CALL;
}

/*
 * The node that control is in. Behind the call in progress none was made; where none is in progress, coverage has what was made, if
 * control has come to the node only once.
 */
static struct error *take_last_node(struct reader *r, uint32_t node)
{
	const struct crash_frame *f = r->f;
	uint32_t end, first = calls_of(f->meta, node, &end);
	bool is_known = f->calls_used && f->machine->is_activation && first < end && count_visits(r, node) == 1;
	enum at_call at_call = AT_NO_CALL;
	bool has_call =
		f->call != UINT32_MAX && !f->machine->is_activation; /* else the line's, which may have been moved */
	struct error *err = NULL;

	if (has_call) {
		if (f->call < first || f->call >= end)
			return NULL;
		end = f->call;
		is_known = false;
	}
	while (is_known && end > first && f->calls_used[end - 1] == POINT_UNUSED)
		end--;
	if (is_known && end > first)
		at_call = is_at_call(r, &f->meta->calls[end - 1]);
	if (at_call == AT_THIS_CALL)
		end--;
	for (uint32_t i = end; i-- > first && !err;) {
		enum activity_point used = is_known ? f->calls_used[i] : POINT_UNKNOWN;

		if (at_call == AT_SOME_CALL && i == end - 1)
			used = POINT_UNKNOWN;
		if (has_call || used == POINT_USED)
			err = before_vec_append(&r->calls, (struct crash_before_call){.call = i});
		else if (!f->calls_used || f->calls_used[i] != POINT_UNUSED)
			err = call_vec_append(&r->unsure, i);
	}
	return err;
}

/* *next: where the path behind it begins; then where this one does. */
static struct error *take_path(struct reader *r, const struct crash_path *path, uint32_t *next)
{
	const struct pathmeta_outcome *outcomes = r->f->flow->outcomes;
	uint32_t count = crash_path_nodes(r->c, r->f, path, r->nodes), last = r->nodes[count - 1];
	struct error *err;

	if (path->is_current) {
		err = take_last_node(r, last);
		crash_path_nodes(r->c, r->f, path, r->nodes); /* visits are counted with the same memory */
	} else {
		err = take_node(r, last, has_thrown(r, &path->path, *next), path->is_iterations);
	}
	for (uint32_t n = count - 1; n-- > 0 && !err;)
		err = take_node(r, r->nodes[n], outcomes[path->path.edges[n]].kind == PATHMETA_UNWIND,
				path->is_iterations);
	*next = r->nodes[0];
	return err;
}

static struct error *keep(const struct reader *r, struct arena *arena, struct crash_before *ret)
{
	ret->calls = arena_copy(arena, r->calls.items, r->calls.count, sizeof *ret->calls);
	ret->unsure = arena_copy(arena, r->unsure.items, r->unsure.count, sizeof *ret->unsure);
	ret->count = (uint32_t)r->calls.count;
	ret->unsure_count = (uint32_t)r->unsure.count;
	return ret->calls && ret->unsure ? NULL : &error_no_memory;
}

struct error *crash_before_of(const struct crash *c, const struct crash_frame *f, struct arena *arena,
			      struct crash_before *ret)
{
	struct reader r = {.c = c, .f = f};
	uint32_t first = f->path_count, next = UINT32_MAX;
	bool is_set_back = false;
	struct error *err = NULL;

	*ret = (struct crash_before){0};
	if (!f->meta || (f->trace != CRASH_TRACE_WHOLE && f->trace != CRASH_TRACE_LAST) || !f->path_count)
		return NULL;
	r.nodes = calloc((size_t)f->flow->cfg.node_count + 1, sizeof *r.nodes);
	if (!r.nodes)
		return &error_no_memory;
	/* Behind setjmp a path may have been given up by longjmp: its calls are not known. */
	while (first && !err && !is_set_back && r.calls.count < CALLS_MAX) {
		err = take_path(&r, &f->paths[--first], &next);
		is_set_back = cfg_cuts_to(&f->flow->cfg, next) & 1u << CFG_CUT_TWICE;
	}
	ret->is_whole = !first && !is_set_back && next == 0 && f->trace == CRASH_TRACE_WHOLE;
	if (!err)
		err = keep(&r, arena, ret);
	before_vec_deinit(&r.calls);
	call_vec_deinit(&r.unsure);
	free(r.nodes);
	return err;
}

/* ---- functions ---- */

uint32_t crash_before_callee(const struct activity_result *activity, uint32_t function, uint32_t call)
{
	const struct activity_function *f = &activity->program->functions[function];

	if (!f->calls || call >= f->call_count || f->calls[call].callee >= activity->program->function_count)
		return UINT32_MAX;
	return f->calls[call].callee;
}

/* The last node on all ways to the exits that can have been reached; DOMINATORS_NONE: there are none. */
static uint32_t common_of_exits(const struct cfg *g, const struct dominators *d)
{
	uint32_t common = DOMINATORS_NONE;

	for (uint32_t n = 0; n < g->node_count; n++) {
		if (!d->size[n] || g->first_edge[n] != g->first_edge[n + 1])
			continue;
		if (common == DOMINATORS_NONE)
			common = n;
		while (!dominators_is(d, common, n))
			common = d->idom[common];
	}
	return common;
}

struct error *crash_before_each_time(const struct activity_result *activity, uint32_t function, uint8_t *is_made)
{
	const struct activity_function *f = &activity->program->functions[function];
	const struct cfg *g = f->cfg;
	size_t nodes = (size_t)g->node_count + 1;
	uint32_t *memory = calloc(3 * nodes, sizeof *memory);
	struct dominators d = {memory, memory + nodes, memory + 2 * nodes};
	uint64_t steps = 0;
	struct error *err;

	if (!memory)
		return &error_no_memory;
	memset(is_made, 0, f->call_count);
	err = dominators_find(g, activity->edges[function], &d, &steps);
	for (uint32_t n = err ? DOMINATORS_NONE : common_of_exits(g, &d); n != DOMINATORS_NONE; n = d.idom[n])
		for (uint32_t i = 0; f->calls && i < f->call_count; i++)
			is_made[i] |= f->calls[i].node == n;
	free(memory);
	return err;
}
