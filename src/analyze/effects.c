/* effects.c - goes through each block once (effects.h). */
#include "analyze/effects.h"

#include <stdlib.h>

static bool has_effect(const struct regions *r, const struct id_set *landings, uint32_t i)
{
	return r->changes[i] || r->overwrites[i] || r->memory->callees[i].count ||
	       (landings->count && id_set_has(landings, i));
}

struct error *effects_find(const struct regions *r, const struct id_set *landings, uint32_t **ret)
{
	const struct code *c = r->memory->code;
	uint32_t *last = calloc((size_t)c->instruction_count + 1, sizeof *last);

	if (!last)
		return &error_no_memory;
	for (uint32_t i = 0; i < c->instruction_count; i++) {
		bool is_first = i == c->blocks[c->instructions[i].block].first_instruction;

		last[i] = has_effect(r, landings, i) ? i : is_first ? CODE_NONE : last[i - 1];
	}
	*ret = last;
	return NULL;
}
