/*
 * crash_branches.c - collects (place, copy of the code, state) of the ways of every branch, sorts, and keeps the most certain
 * of each: what one copy did was done.
 */
#include <stdlib.h>

#include "base/order.h"
#include "model/paths/branch_coverage.h"
#include "model/crash/crash_branches.h"

struct way {
	struct branch_way at;
	uint8_t node_state, state; /* enum activity_state */
};
VEC_DECLARE(way_vec, struct way);

static struct error *add_ways(const struct pathmeta_function *flow, bool is_unsure, const uint8_t *nodes,
			      const uint8_t *edges, struct crash_lines *l, struct way_vec *ret)
{
	struct way way = {.at = {.group = branch_group(flow), .cfg_key = flow->cfg_key}};
	bool is_hidden;
	struct error *err = NULL;

	for (uint32_t node = 0; node < flow->cfg.node_count && !err; node++) {
		const struct pathmeta_line *line = branch_line(flow, node);
		const uint32_t first = flow->cfg.first_edge[node];

		if (!line)
			continue;
		way.at.line = line->line;
		way.at.node = node;
		way.node_state = nodes[node];
		is_hidden = is_unsure || hidden_has(&l->hidden, line->function ? line->function : flow->name);
		err = crash_lines_file(l, line->file, &way.at.file);
		for (uint32_t e = first; e < flow->cfg.first_edge[node + 1] && !err; e++) {
			if (!branch_has_way(flow, e))
				continue;
			way.at.index = e - first;
			way.state = edges[e];
			if (is_hidden && way.state == ACTIVITY_NO)
				way.state = ACTIVITY_MAYBE;
			err = way_vec_append(ret, way);
		}
	}
	return err;
}

static int compare_ways(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	return branch_way_compare(&x->at, &y->at) ?: compare_u64(y->state, x->state); /* the most certain first */
}

static enum crash_way state_of(const struct way *way, uint8_t node_state, bool is_come_to)
{
	if (way->state == ACTIVITY_YES)
		return CRASH_WAY_TAKEN;
	if (way->state != ACTIVITY_NO)
		return CRASH_WAY_UNKNOWN;
	if (!is_come_to)
		return CRASH_WAY_NOT_COME;
	return node_state == ACTIVITY_YES ? CRASH_WAY_NOT_TAKEN : CRASH_WAY_UNKNOWN;
}

/* The ways of one branch of all copies: count of them. */
static struct error *fold_branch(const struct way *ways, size_t count, uint32_t block, struct crash_branch_vec *ret)
{
	struct crash_branch branch = {.file = ways->at.file, .line = ways->at.line, .block = block};
	uint8_t node_state = ACTIVITY_NO;
	bool is_come_to = false;
	struct error *err = NULL;

	for (size_t i = 0; i < count; i++) {
		is_come_to |= ways[i].state != ACTIVITY_NO;
		if (ways[i].node_state > node_state)
			node_state = ways[i].node_state;
	}
	for (size_t i = 0; i < count && !err; i++) {
		if (i && ways[i].at.index == ways[i - 1].at.index)
			continue;
		branch.state = state_of(&ways[i], node_state, is_come_to);
		err = crash_branch_vec_append(ret, branch);
		branch.way++;
	}
	return err;
}

static struct error *fold(const struct way_vec *ways, struct crash_branch_vec *ret)
{
	uint32_t block = 0;
	struct error *err = NULL;

	for (size_t i = 0, end; i < ways->count && !err; i = end) {
		const struct way *first = &ways->items[i];

		for (end = i + 1; end < ways->count && branch_compare(&first->at, &ways->items[end].at) == 0; end++)
			;
		block = i && first[-1].at.file == first->at.file && first[-1].at.line == first->at.line ? block + 1 : 0;
		err = fold_branch(first, end - i, block, ret);
	}
	return err;
}

/* Optimized: a way that was gone by may have been folded where control came. */
static bool is_unsure(const struct crash *c, const struct activity_result *activity, uint32_t image, uint32_t id)
{
	return c->images[image].trace.flows[id - c->first_function[image]]->is_optimized &&
	       activity->functions[id] != ACTIVITY_NO;
}

struct error *crash_branches_find(const struct crash *c, const struct activity_result *activity, struct crash_lines *l,
				  struct crash_branch_vec *ret)
{
	struct way_vec ways = {0};
	struct error *err = NULL;

	for (uint32_t i = 0; i < c->stopped->module_count; i++)
		for (uint32_t id = c->first_function[i]; id < c->first_function[i + 1] && !err; id++)
			err = add_ways(c->images[i].trace.flows[id - c->first_function[i]],
				       is_unsure(c, activity, i, id), activity->nodes[id], activity->edges[id], l,
				       &ways);
	if (!err && ways.count)
		qsort(ways.items, ways.count, sizeof *ways.items, compare_ways);
	if (!err)
		err = fold(&ways, ret);
	way_vec_deinit(&ways);
	return err;
}
