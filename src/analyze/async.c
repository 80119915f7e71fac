/* async.c - from the functions that code outside may call on to all that they call (async.h). */
#include "analyze/async.h"

#include <stdlib.h>

struct error *async_find(const struct memory *m, const bool *runs, bool has_threads, struct async *ret)
{
	const struct code *c = m->code;
	bool *functions = calloc((size_t)c->function_count + 1, sizeof *functions), is_some = false;
	uint32_t *work = calloc((size_t)c->function_count + 1, sizeof *work), waiting = 0;

	*ret = (struct async){.memory = m, .functions = functions};
	if (!functions || !work) {
		free(work);
		return &error_no_memory;
	}
	for (uint32_t f = 0; f < c->function_count; f++) {
		if (!c->functions[f].block_count || (runs && !runs[c->functions[f].first_block]))
			continue;
		functions[f] = has_threads || memory_is_called_from_outside(m, f);
		is_some |= functions[f];
		if (functions[f])
			work[waiting++] = f;
	}
	for (uint32_t i = 0; i < c->instruction_count; i++)
		is_some |= async_is_call(m, i);
	while (waiting) {
		const struct code_function *f = &c->functions[work[--waiting]];

		for (uint32_t i = f->first_instruction; i < f->first_instruction + f->instruction_count; i++) {
			const struct function_ids *callees = &m->callees[i];

			for (size_t k = 0; k < callees->count && (!runs || runs[c->instructions[i].block]); k++)
				if (!functions[callees->items[k]]) {
					functions[callees->items[k]] = true;
					work[waiting++] = callees->items[k];
				}
		}
	}
	ret->is_some = is_some;
	free(work);
	return NULL;
}

void async_deinit(struct async *a)
{
	free(a->functions);
	*a = (struct async){0};
}
