/* slice_graph.c - dependences of instructions become those of their lines (slice_graph.h). */
#include "model/slices/slice_graph.h"

#include <stdlib.h>

#include "analyze/comes_back.h"
#include "base/hashmap.h"
#include "base/order.h"

enum {
	STEPS_MAX = 1000000000, /* that searches for stores go through, before they are given up */
	OWN_MAX = 8,            /* arguments handed on, and the compiler's own instructions, between two lines */
};

struct making {
	struct depends *d;
	const struct slice_lines *lines;
	const struct code *code;
	uint64_t limit_steps;
	struct hashmap pairs;
	struct slice_graph graph;
};

static uint32_t line_of(const struct making *m, uint32_t number)
{
	return number < m->code->instruction_count ? m->lines->line_of[number] : SLICE_NO_LINE;
}

static struct error *add(struct making *m, uint32_t line, uint32_t on, enum slice_reason reason)
{
	uint32_t count = m->pairs.count, number;
	struct error *err;

	if (line == on || on == SLICE_NO_LINE)
		return NULL;
	err = hashmap_add(&m->pairs, &(struct key){{line, on, 0}}, &number);
	if (err || number != count)
		return err;
	return slice_edge_vec_append(&m->graph.edges, (struct slice_edge){line, on, reason});
}

/* What the instruction or argument depends on, the line does. */
static struct error *add_all(struct making *m, uint32_t line, uint32_t number, int depth)
{
	struct dependence_vec found = {0};
	struct error *err = depends_on(m->d, number, &found);

	for (size_t i = 0; i < found.count && !err; i++) {
		const struct dependence *x = &found.items[i];
		uint32_t call = x->through == CODE_NONE ? SLICE_NO_LINE : line_of(m, x->through);
		uint32_t user = call == SLICE_NO_LINE ? line : call, on = line_of(m, x->on);

		if (call != SLICE_NO_LINE)
			err = add(m, line, call, x->reason);
		if (err || x->on == CODE_NONE)
			continue;
		if (on != SLICE_NO_LINE)
			err = add(m, user, on, call == SLICE_NO_LINE ? x->reason : SLICE_VALUE);
		else if (depth < OWN_MAX)
			err = add_all(m, user, x->on, depth + 1);
	}
	dependence_vec_deinit(&found);
	return err;
}

static struct error *add_instruction(struct making *m, uint32_t i)
{
	const struct slice_why *why = &m->d->slice->why[i];
	uint32_t line = line_of(m, i);

	if (!why->reason || line == SLICE_NO_LINE)
		return NULL;
	if (m->d->steps < m->limit_steps)
		return add_all(m, line, i, 0);
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

static int compare(const void *a, const void *b)
{
	const struct slice_edge *x = a, *y = b;

	return compare_u64(x->line, y->line) ?: compare_u64(x->on, y->on);
}

struct error *slice_graph_make(struct depends *d, const struct slice_lines *l, struct slice_graph *ret)
{
	struct making m = {.d = d, .lines = l, .code = d->regions->memory->code, .limit_steps = d->steps + STEPS_MAX};
	struct error *err = NULL;

	for (uint32_t i = 0; i < m.code->instruction_count && !err; i++)
		err = add_instruction(&m, i);
	/* What the line of the call decides is whether the code runs; what a change of the code reaches, the call's line computes. */
	for (size_t i = 0; i < l->inlined.count && !err; i++)
		err = d->slice->is_forward ? add(&m, l->inlined.items[i].at, l->inlined.items[i].line, SLICE_VALUE)
					   : add(&m, l->inlined.items[i].line, l->inlined.items[i].at, SLICE_CALL);
	if (!err && !d->slice->is_forward)
		err = add_all_calls(&m);
	hashmap_deinit(&m.pairs);
	if (err) {
		slice_graph_deinit(&m.graph);
		return err;
	}
	if (m.graph.edges.count)
		qsort(m.graph.edges.items, m.graph.edges.count, sizeof *m.graph.edges.items, compare);
	*ret = m.graph;
	return NULL;
}

void slice_graph_deinit(struct slice_graph *g)
{
	slice_edge_vec_deinit(&g->edges);
}
