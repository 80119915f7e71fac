/* call_order.c - Tarjan's search for components over the calls of functions, without recursion, and sums along its order (call_order.h). */
#include "analyze/call_order.h"

#include <stdlib.h>

/* A function whose callees are being visited. */
struct visit {
	uint32_t function, instruction;
	uint32_t callee; /* of the instruction, the next one */
};
VEC_DECLARE(visit_vec, struct visit);

struct search {
	const struct memory *m;
	const struct code *code;
	struct call_order *order;
	struct visit_vec visits;
	struct function_ids open; /* functions whose component is not complete */
	uint32_t *index;          /* [function] order of discovery + 1; 0: not yet */
	uint32_t *low;
	uint32_t *finished; /* [order of completion] function */
	uint32_t discovered, finished_count, component_count;
};

/* The next function that is called; CODE_NONE: there is none. */
static uint32_t next_callee(const struct search *s, struct visit *v)
{
	const struct code_function *f = &s->code->functions[v->function];

	for (; v->instruction < f->first_instruction + f->instruction_count; v->instruction++, v->callee = 0) {
		const struct function_ids *callees = &s->m->callees[v->instruction];

		if (v->callee < callees->count)
			return callees->items[v->callee++];
	}
	return CODE_NONE;
}

static struct error *enter(struct search *s, uint32_t function)
{
	struct error *err = function_ids_append(&s->open, function);

	s->index[function] = s->low[function] = ++s->discovered;
	return err ? err
		   : visit_vec_append(&s->visits,
				      (struct visit){.function = function,
						     .instruction = s->code->functions[function].first_instruction});
}

static void lower(struct search *s, uint32_t function, uint32_t low)
{
	if (low < s->low[function])
		s->low[function] = low;
}

/* All callees of the function have been visited. */
static void leave(struct search *s, uint32_t function)
{
	uint32_t member = CODE_NONE;

	s->visits.count--;
	s->finished[s->finished_count++] = function;
	if (s->visits.count)
		lower(s, s->visits.items[s->visits.count - 1].function, s->low[function]);
	if (s->low[function] != s->index[function])
		return;
	while (member != function) {
		member = s->open.items[--s->open.count];
		s->order->component[member] = s->component_count;
		/* It no longer lowers others. */
		s->low[member] = UINT32_MAX;
		s->order->is_recursive[member] |= member != function;
		s->order->is_recursive[function] |= member != function;
	}
	s->component_count++;
}

static struct error *search_from(struct search *s, uint32_t root)
{
	struct error *err = enter(s, root);

	while (s->visits.count && !err) {
		struct visit *v = &s->visits.items[s->visits.count - 1];
		uint32_t function = v->function, callee = next_callee(s, v);

		if (callee == CODE_NONE)
			leave(s, function);
		else if (!s->index[callee])
			err = enter(s, callee);
		else if (s->low[callee] != UINT32_MAX)
			lower(s, function, s->index[callee]);
		if (callee == function)
			s->order->is_recursive[function] = true;
	}
	return err;
}

/* By component, and within one by completion. */
static struct error *sort(struct search *s)
{
	uint32_t *next = calloc((size_t)s->component_count + 2, sizeof *next);

	if (!next)
		return &error_no_memory;
	for (uint32_t f = 0; f < s->code->function_count; f++)
		next[s->order->component[f] + 1]++;
	for (uint32_t i = 0; i < s->component_count; i++)
		next[i + 1] += next[i];
	for (uint32_t i = 0; i < s->finished_count; i++)
		s->order->functions[next[s->order->component[s->finished[i]]]++] = s->finished[i];
	free(next);
	return NULL;
}

static struct error *search(struct search *s)
{
	struct error *err = NULL;

	for (uint32_t f = 0; f < s->code->function_count && !err; f++)
		if (!s->index[f])
			err = search_from(s, f);
	return err ? err : sort(s);
}

struct error *call_order_find(const struct memory *m, struct call_order *ret)
{
	size_t count = (size_t)m->code->function_count + 1;
	struct call_order order = {.function_count = m->code->function_count,
				   .functions = calloc(count, sizeof *order.functions),
				   .component = calloc(count, sizeof *order.component),
				   .is_recursive = calloc(count, sizeof *order.is_recursive)};
	struct search s = {.m = m,
			   .code = m->code,
			   .order = &order,
			   .index = calloc(count, sizeof *s.index),
			   .low = calloc(count, sizeof *s.low),
			   .finished = calloc(count, sizeof *s.finished)};
	struct error *err = &error_no_memory;

	if (order.functions && order.component && order.is_recursive && s.index && s.low && s.finished)
		err = search(&s);
	visit_vec_deinit(&s.visits);
	function_ids_deinit(&s.open);
	free(s.index);
	free(s.low);
	free(s.finished);
	if (err)
		call_order_deinit(&order);
	else
		*ret = order;
	return err;
}

void call_order_deinit(struct call_order *o)
{
	free(o->functions);
	free(o->component);
	free(o->is_recursive);
	*o = (struct call_order){0};
}

/* ---- sums ---- */

/* Adds what the functions have that this one calls, but for those of its own component. added: [function] 1 + the component that has it already. */
static struct error *add_callees(const struct call_order *o, const struct memory *m, uint32_t function,
				 struct id_set *sum, const struct id_set *sums, uint32_t *added)
{
	const struct code_function *f = &m->code->functions[function];
	uint32_t component = o->component[function];
	struct error *err = NULL;

	for (uint32_t i = f->first_instruction; i < f->first_instruction + f->instruction_count; i++) {
		const struct function_ids *callees = &m->callees[i];

		for (size_t k = 0; k < callees->count && !err; k++) {
			uint32_t callee = callees->items[k];

			if (o->component[callee] == component || added[callee] == component + 1)
				continue;
			added[callee] = component + 1;
			err = id_set_add_all(sum, &sums[callee], NULL, NULL);
		}
	}
	return err;
}

struct error *call_order_sum(const struct call_order *o, const struct memory *m, struct id_set *sums)
{
	uint32_t *added = calloc((size_t)o->function_count + 1, sizeof *added);
	struct error *err = added ? NULL : &error_no_memory;

	for (uint32_t i = 0, end; i < o->function_count && !err; i = end) {
		struct id_set *sum = &sums[o->functions[i]];

		for (end = i; end < o->function_count && !err &&
			      o->component[o->functions[end]] == o->component[o->functions[i]];
		     end++) {
			if (end > i)
				err = id_set_add_all(sum, &sums[o->functions[end]], NULL, NULL);
			if (!err)
				err = add_callees(o, m, o->functions[end], sum, sums, added);
		}
		for (uint32_t k = i + 1; k < end && !err; k++)
			err = id_set_add_all(&sums[o->functions[k]], sum, NULL, NULL);
	}
	free(added);
	return err;
}
