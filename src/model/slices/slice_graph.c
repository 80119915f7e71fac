/* slice_graph.c - dependences of instructions become those of their lines (slice_graph.h). */
#include "model/slices/slice_graph.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/comes_back.h"
#include "base/hashmap.h"

enum {
	STEPS_MAX = 1000000000, /* that searches for stores go through, before they are given up */
};

/* An instruction or argument of which the dependences are the line's. */
struct pending {
	uint32_t line, number;
};
VEC_DECLARE(pending_vec, struct pending);

struct making {
	struct depends *d;
	const struct slice_lines *lines;
	const struct code *code;
	uint64_t limit_steps;
	struct id_set *on; /* [line] those that it depends on */
	/* Arguments, and the compiler's own instructions, have no line: each is looked at once, and once for each line that they lead to. */
	struct dependence_vec *own; /* [number] what it depends on; empty: not known yet */
	struct hashmap own_pairs;   /* line and number */
	struct pending_vec pending;
	struct slice_graph graph;
};

static uint32_t line_of(const struct making *m, uint32_t number)
{
	return number < m->code->instruction_count ? m->lines->line_of[number] : SLICE_NO_LINE;
}

static struct error *add(struct making *m, uint32_t line, uint32_t on, enum slice_reason reason)
{
	bool is_new = false;
	struct error *err;

	if (line == on || on == SLICE_NO_LINE)
		return NULL;
	err = id_set_add(&m->on[line], on, &is_new);
	if (err || !is_new)
		return err;
	return slice_edge_vec_append(&m->graph.edges, (struct slice_edge){line, on, reason});
}

/* What it depends on, that is without a line, is looked at, too. */
static struct error *add_found(struct making *m, uint32_t line, const struct dependence_vec *found)
{
	struct error *err = NULL;

	for (size_t i = 0; i < found->count && !err; i++) {
		const struct dependence *x = &found->items[i];
		uint32_t call = x->through == CODE_NONE ? SLICE_NO_LINE : line_of(m, x->through);
		uint32_t user = call == SLICE_NO_LINE ? line : call, on = line_of(m, x->on);
		uint32_t count = m->own_pairs.count, number;

		if (call != SLICE_NO_LINE)
			err = add(m, line, call, x->reason);
		if (err || x->on == CODE_NONE)
			continue;
		if (on != SLICE_NO_LINE) {
			err = add(m, user, on, call == SLICE_NO_LINE ? x->reason : SLICE_VALUE);
			continue;
		}
		err = hashmap_add(&m->own_pairs, &(struct key){{user, x->on, 0}}, &number);
		if (!err && number == count)
			err = pending_vec_append(&m->pending, (struct pending){user, x->on});
	}
	return err;
}

/* What the instruction depends on, the line does. */
static struct error *add_all(struct making *m, uint32_t line, uint32_t instruction)
{
	struct dependence_vec found = {0};
	struct error *err = depends_on(m->d, instruction, &found);

	if (!err)
		err = add_found(m, line, &found);
	dependence_vec_deinit(&found);
	while (m->pending.count && !err) {
		struct pending next = m->pending.items[--m->pending.count];
		struct dependence_vec *own = &m->own[next.number];

		if (!own->count)
			err = depends_on(m->d, next.number, own);
		if (!err)
			err = add_found(m, next.line, own);
	}
	return err;
}

static struct error *add_instruction(struct making *m, uint32_t i)
{
	const struct slice_why *why = &m->d->slice->why[i];
	uint32_t line = line_of(m, i);

	if (!why->reason || line == SLICE_NO_LINE)
		return NULL;
	if (m->d->steps < m->limit_steps)
		return add_all(m, line, i);
	m->graph.cut++;
	return why->of == CODE_NONE || line_of(m, why->of) == SLICE_NO_LINE
		       ? NULL
		       : add(m, line_of(m, why->of), line, why->reason);
}

/* Calls that an instruction is behind, and that may not have returned. */
static struct error *add_calls(struct making *m, struct comes_back *c, uint32_t i)
{
	struct function_ids calls = {0};
	struct error *err = m->d->slice->why[i].reason ? comes_back_of(c, i, &calls) : NULL;

	for (size_t k = 0; k < calls.count && !err; k++)
		err = line_of(m, i) == SLICE_NO_LINE
			      ? NULL
			      : add(m, line_of(m, i), line_of(m, calls.items[k]), SLICE_COMES_BACK);
	function_ids_deinit(&calls);
	return err;
}

static struct error *add_all_calls(struct making *m)
{
	struct comes_back c;
	struct error *err = comes_back_init(m->d, &c);

	if (err)
		return err;
	for (uint32_t i = 0; i < m->code->instruction_count && !err; i++)
		err = add_calls(m, &c, i);
	comes_back_deinit(&c);
	return err;
}

static uint32_t sort_key(const struct slice_edge *e, bool by_line)
{
	return by_line ? e->line : e->on;
}

/* Edges that have the same key stay in their order. next: [key + 1] scratch. */
static void sort_by(const struct slice_edge_vec *edges, bool by_line, uint32_t *next, uint32_t line_count,
		    struct slice_edge *ret)
{
	memset(next, 0, ((size_t)line_count + 1) * sizeof *next);
	for (size_t i = 0; i < edges->count; i++)
		next[sort_key(&edges->items[i], by_line) + 1]++;
	for (uint32_t line = 0; line < line_count; line++)
		next[line + 1] += next[line];
	for (size_t i = 0; i < edges->count; i++)
		ret[next[sort_key(&edges->items[i], by_line)]++] = edges->items[i];
}

/* There are millions of edges: by counting, first by what each is on, then by its line. */
static struct error *sort_edges(struct slice_edge_vec *edges, uint32_t line_count)
{
	uint32_t *next = malloc(((size_t)line_count + 1) * sizeof *next);
	struct slice_edge_vec sorted = {0};
	struct error *err = next ? slice_edge_vec_reserve(&sorted, edges->count) : &error_no_memory;

	for (int by_line = 0; by_line < 2 && edges->count && !err; by_line++) {
		struct slice_edge_vec before = *edges;

		sort_by(&before, by_line, next, line_count, sorted.items);
		sorted.count = before.count;
		*edges = sorted;
		sorted = before;
	}
	slice_edge_vec_deinit(&sorted);
	free(next);
	return err;
}

/* What the dependences of lines are made with, but for what they are made of. */
static struct error *making_init(struct making *m)
{
	m->on = calloc((size_t)m->lines->count + 1, sizeof *m->on);
	m->own = calloc((size_t)m->code->instruction_count + m->code->argument_count + 1, sizeof *m->own);
	return m->on && m->own ? NULL : &error_no_memory;
}

static void making_deinit(struct making *m)
{
	for (uint32_t i = 0; m->on && i < m->lines->count; i++)
		id_set_deinit(&m->on[i]);
	for (size_t i = 0; m->own && i < (size_t)m->code->instruction_count + m->code->argument_count; i++)
		dependence_vec_deinit(&m->own[i]);
	free(m->on);
	free(m->own);
	pending_vec_deinit(&m->pending);
	hashmap_deinit(&m->own_pairs);
}

static struct error *make(struct making *m)
{
	const struct slice_lines *l = m->lines;
	bool is_forward = m->d->slice->is_forward;
	struct error *err = making_init(m);

	for (uint32_t i = 0; i < m->code->instruction_count && !err; i++)
		err = add_instruction(m, i);
	/* What the line of the call decides is whether the code runs; what a change of the code reaches, the call's line computes. */
	for (size_t i = 0; i < l->inlined.count && !err; i++)
		err = is_forward ? add(m, l->inlined.items[i].at, l->inlined.items[i].line, SLICE_VALUE)
				 : add(m, l->inlined.items[i].line, l->inlined.items[i].at, SLICE_CALL);
	if (!err && !is_forward)
		err = add_all_calls(m);
	return err ? err : sort_edges(&m->graph.edges, l->count);
}

struct error *slice_graph_make(struct depends *d, const struct slice_lines *l, struct slice_graph *ret)
{
	struct making m = {.d = d, .lines = l, .code = d->regions->memory->code, .limit_steps = d->steps + STEPS_MAX};
	struct error *err = make(&m);

	making_deinit(&m);
	if (err)
		slice_graph_deinit(&m.graph);
	else
		*ret = m.graph;
	return err;
}

void slice_graph_deinit(struct slice_graph *g)
{
	slice_edge_vec_deinit(&g->edges);
}
