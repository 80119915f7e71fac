/*
 * hybrid.c - hybrid encoding (core/contexts/hybrid.h) of a program whose frames have the sizes that an earlier link of it had.
 *
 * WAYMARK_HYBRID names the table of sizes (format/frame_table.h); `waymark cc` links until the sizes that a plan assumes are those that the
 * code has with it (cli/cc_hybrid.c). A piece of a context is *placed* if it begins
 *
 *      in main                           its frame is noted when it is entered
 *      at a push of a known callee       the entry has the stack pointer of the call, where the callee's frame begins
 *
 * and not in any other root, which is entered by code that is not known. Placed pieces must not pass through a function whose frame has no one
 * size: calls of it push, and what it calls is not placed. Calls that may be jumps are as they were in the earlier link:
 *
 *      only jumps                        offset 0
 *      jumps and calls by one function   pushed: which is which is not known
 *      jumps where none must stay        an addend, which is taken off after the call: so it is none any more
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <waymark/abi.h>

#include "core/contexts/hybrid.h"
#include "format/frame_table.h"
#include "instrument/contexts/program.h"

static const uint64_t largest_number = (UINT64_C(1) << (WM1_HYBRID_OFFSET_SHIFT - 1)) - 2;

struct planner {
	struct program *p;
	struct frame_table table;
	struct function **functions; /* by node */
	bool *is_placed;             /* by node: a start */
	bool *is_reached;            /* by node: by a placed piece */
	uint32_t *offsets;           /* by edge */
	bool *needs_addend;          /* by edge */
};

static struct error *read_text(const char *path, char **ret)
{
	FILE *file = fopen(path, "re");
	size_t capacity = 0;
	ssize_t got = file ? getdelim(ret, &capacity, '\0', file) : -1;
	struct error *err = NULL;
	if (got < 0 && (!file || ferror(file)))
		err = error_os(errno, "%s: cannot read the sizes of frames", path);
	if (file)
		fclose(file);
	return err;
}

static struct error *read_table(struct planner *q, const char *path)
{
	char *text = NULL;
	struct error *err = read_text(path, &text);
	if (!err)
		err = frame_table_read(text ? text : "", path, &q->table);
	free(text);
	return err;
}

static void note_frames(struct planner *q)
{
	struct program *p = q->p;
	for (size_t i = 0; i < p->functions.count; i++) {
		struct function *f = &p->functions.items[i];
		const struct frame_function *known = frame_table_find(&q->table, f->name);
		if (f->node == NO_INDEX)
			continue;
		q->functions[f->node] = f;
		f->frame_bytes = known ? known->frame_bytes : 0;
	}
}

static const struct site *site_of(const struct planner *q, const struct callgraph_edge *edge)
{
	return &q->p->sites.items[edge->site];
}

/* The caller's frame may be gone while the callee runs, whatever code there is around the call: plan.c, stays_tail. */
static bool may_stay_tail(const struct planner *q, const struct callgraph_edge *edge)
{
	const struct site *site = site_of(q, edge);
	return site->is_tail && (site->is_must_tail || !q->functions[edge->caller]->is_root);
}

/* The earlier link had jumps there; NULL: none. The code generator makes one also of a call that leads to a block with a return. */
static const struct frame_jump *jump_of(const struct planner *q, const struct callgraph_edge *edge)
{
	return frame_table_jump(&q->table, q->functions[edge->caller]->name, q->functions[edge->callee]->name);
}

/* ---- which pieces are placed ---- */

/* Nothing but the C library enters it. */
static bool is_main(const struct planner *q, uint32_t node)
{
	const struct function *f = q->functions[node];
	const struct callgraph *g = &q->p->graph;
	if (strcmp(f->name, "main") || f->is_address_taken || !f->is_root)
		return false;
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].callee == node)
			return false;
	return true;
}

static void find_starts(struct planner *q)
{
	const struct callgraph *g = &q->p->graph;
	for (uint32_t n = 0; n < g->node_count; n++) {
		const bool is_known = q->functions[n]->frame_bytes != 0;
		q->is_placed[n] = is_known && g->nodes[n].has_dummy && (!g->nodes[n].is_root || is_main(q, n));
	}
	/* The stack pointer at a push is where the callee's frame begins: not in a frame that grows, and not where the callee is jumped to. */
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct callgraph_edge *edge = &g->edges[e];
		if (edge->kind != EDGE_ENCODED && (!q->functions[edge->caller]->frame_bytes || may_stay_tail(q, edge)))
			q->is_placed[edge->callee] = false;
	}
}

/* Repeats until nothing changes: callers mostly have lower numbers. */
static void find_reached(struct planner *q)
{
	const struct callgraph *g = &q->p->graph;
	memcpy(q->is_reached, q->is_placed, g->node_count * sizeof *q->is_reached);
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t e = 0; e < g->edge_count; e++) {
			const struct callgraph_edge *edge = &g->edges[e];
			if (edge->kind != EDGE_ENCODED || !q->is_reached[edge->caller] || q->is_reached[edge->callee])
				continue;
			q->is_reached[edge->callee] = changed = true;
		}
	}
}

/* A placed piece would not be any more behind this call. */
static bool must_push(const struct planner *q, const struct callgraph_edge *edge)
{
	const struct frame_jump *jump = jump_of(q, edge);
	if (edge->kind != EDGE_ENCODED || !q->is_reached[edge->caller])
		return false;
	if (!q->functions[edge->callee]->frame_bytes)
		return true;
	return jump && jump->calls && may_stay_tail(q, edge);
}

/* *ret_changed: the graph has to be encoded anew. */
static void push_where_needed(struct planner *q, bool *ret_changed)
{
	struct callgraph *g = &q->p->graph;
	find_starts(q);
	find_reached(q);
	*ret_changed = false;
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (must_push(q, &g->edges[e]) && !g->edges[e].is_pushed)
			g->edges[e].is_pushed = *ret_changed = true;
}

/* ---- the plan ---- */

/* Calls that had code in earlier links: where the size of a frame depends on that, plans would follow each other for ever. */
static void keep_code(struct planner *q)
{
	const struct program *p = q->p;
	uint32_t number = 0;
	for (size_t i = 0; i < p->sites.count; i++) {
		const struct site *site = &p->sites.items[i];
		if (p->functions.items[site->caller].node == NO_INDEX ||
		    (site->kind == META_SITE_CALL && site->edge == NO_INDEX))
			continue;
		number++; /* as emit_metadata.c counts them */
		if (site->edge != NO_INDEX && frame_table_has_site(&q->table, number))
			q->needs_addend[site->edge] = true;
	}
}

static void measure_edges(struct planner *q)
{
	struct callgraph *g = &q->p->graph;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct callgraph_edge *edge = &g->edges[e];
		struct site *site = &q->p->sites.items[edge->site];
		const bool jumps = jump_of(q, edge) != NULL, stays = may_stay_tail(q, edge);
		site->is_jump = edge->kind == EDGE_ENCODED && jumps && stays;
		q->offsets[e] = site->is_jump ? 0 : q->functions[edge->caller]->frame_bytes;
		q->needs_addend[e] = jumps && !stays;
	}
	keep_code(q);
}

/* As without a plan. */
static struct error *give_up(struct planner *q)
{
	struct callgraph_options options = {.roots_set_id = true, .small_addends = true};
	struct program *p = q->p;
	for (uint32_t e = 0; e < p->graph.edge_count; e++) {
		p->graph.edges[e].is_pushed = false;
		p->sites.items[p->graph.edges[e].site].is_jump = false;
	}
	return callgraph_encode(&p->graph, &options, &p->graph_stats);
}

static struct error *number(struct planner *q)
{
	struct program *p = q->p;
	struct hybrid h = {0};
	measure_edges(q);
	struct error *err =
		hybrid_encode(&p->graph, &(struct hybrid_frames){q->offsets, q->is_placed, q->needs_addend}, &h);
	if (err && err->code == ERROR_OVERFLOW) {
		error_destroy(err);
		return give_up(q);
	}
	if (err)
		return err;
	p->is_hybrid = true;
	p->graph_stats.max_id = h.max_number;
	for (uint32_t n = 0; n < p->graph.node_count; n++)
		q->functions[n]->is_placed = q->is_placed[n];
	hybrid_deinit(&h);
	return NULL;
}

static struct error *plan(struct planner *q)
{
	struct callgraph_options options = {.roots_set_id = true, .max_id = largest_number};
	struct program *p = q->p;
	struct error *err = NULL;
	note_frames(q);
	for (bool changed = true; changed && !err;) {
		err = callgraph_encode(&p->graph, &options, &p->graph_stats);
		if (!err)
			push_where_needed(q, &changed);
	}
	return err ? err : number(q);
}

struct error *program_number_hybrid(struct program *p)
{
	const char *path = getenv("WAYMARK_HYBRID");
	const size_t nodes = (size_t)p->graph.node_count + 1, edges = (size_t)p->graph.edge_count + 1;
	struct planner q = {.p = p};
	if (!path || p->is_shared)
		return NULL;
	q.functions = arena_calloc(&p->arena, nodes, sizeof(void *));
	q.is_placed = arena_calloc(&p->arena, nodes, sizeof *q.is_placed);
	q.is_reached = arena_calloc(&p->arena, nodes, sizeof *q.is_reached);
	q.offsets = arena_calloc(&p->arena, edges, sizeof *q.offsets);
	q.needs_addend = arena_calloc(&p->arena, edges, sizeof *q.needs_addend);
	if (!q.functions || !q.is_placed || !q.is_reached || !q.offsets || !q.needs_addend)
		return &error_no_memory;
	frame_table_init(&q.table);
	struct error *err = read_table(&q, path);
	if (!err)
		err = plan(&q);
	frame_table_deinit(&q.table);
	return err;
}
