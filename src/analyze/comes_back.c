/* comes_back.c - goes through the blocks of a function until the last calls in front of each are known (comes_back.h). */
#include "analyze/comes_back.h"

#include <stdlib.h>

static bool has_control(const struct id_set *regions)
{
	return id_set_has(regions, REGION_CONTROL);
}

/* A call of the slice that may not return. */
static bool may_end(const struct comes_back *c, uint32_t i)
{
	const struct regions *r = c->d->regions;
	const struct function_ids *callees = &r->memory->callees[i];

	if (!c->d->slice->why[i].reason)
		return false;
	if (has_control(region_set(r, r->changes[i])))
		return true;
	for (size_t k = 0; k < callees->count; k++)
		if (has_control(&r->function_changes[callees->items[k]]))
			return true;
	return false;
}

/* Makes c->now what the last calls in front of instruction `end` of the block are. */
static struct error *pass(struct comes_back *c, const struct code_block *b, uint32_t number, uint32_t end)
{
	struct error *err = NULL;

	id_set_clear(&c->now);
	for (uint32_t i = end; i-- > b->first_instruction;)
		if (may_end(c, i))
			return id_set_add(&c->now, i, NULL);
	err = id_set_add_all(&c->now, &c->at_begin[number], NULL, NULL);
	return err;
}

static struct error *find(struct comes_back *c, uint32_t function)
{
	const struct code *code = c->d->regions->memory->code;
	const struct code_function *f = &code->functions[function];
	bool has_changed = !c->is_done[function];
	struct error *err = NULL;

	c->is_done[function] = true;
	while (has_changed && !err) {
		has_changed = false;
		for (uint32_t b = f->first_block; b < f->first_block + f->block_count && !err; b++) {
			const struct code_block *block = &code->blocks[b];

			if (c->d->runs && !c->d->runs[b])
				continue;
			err = pass(c, block, b, block->first_instruction + block->instruction_count);
			for (uint32_t s = 0; s < block->successor_count && !err; s++)
				err = id_set_add_all(&c->at_begin[code->successors[block->first_successor + s]],
						     &c->now, NULL, &has_changed);
		}
	}
	return err;
}

static struct error *append(const struct id_set *calls, struct function_ids *ret)
{
	struct error *err = NULL;

	for (struct id_iterator i = id_set_begin(calls); !err && id_set_next(calls, &i);)
		err = function_ids_append(ret, i.id);
	return err;
}

/* In front of the returns of what a call leads to. */
static struct error *add_callees(struct comes_back *c, uint32_t call, struct function_ids *ret)
{
	const struct code *code = c->d->regions->memory->code;
	const struct function_ids *callees = &c->d->regions->memory->callees[call];
	struct error *err = NULL;

	for (size_t k = 0; k < callees->count && !err; k++) {
		const struct code_function *f = &code->functions[callees->items[k]];

		if (!has_control(&c->d->regions->function_changes[callees->items[k]]))
			continue;
		err = find(c, callees->items[k]);
		for (uint32_t b = f->first_block; b < f->first_block + f->block_count && !err; b++) {
			const struct code_block *block = &code->blocks[b];

			/* Also where it does not return: that is what may happen in place of it. */
			if (block->successor_count || (c->d->runs && !c->d->runs[b]))
				continue;
			err = pass(c, block, b, block->first_instruction + block->instruction_count);
			if (!err)
				err = append(&c->now, ret);
		}
	}
	return err;
}

struct error *comes_back_of(struct comes_back *c, uint32_t instruction, struct function_ids *ret)
{
	const struct code *code = c->d->regions->memory->code;
	uint32_t block = code->instructions[instruction].block;
	struct error *err = find(c, code->blocks[block].function);

	if (!err)
		err = pass(c, &code->blocks[block], block, instruction);
	if (!err)
		err = append(&c->now, ret);
	return err || !may_end(c, instruction) ? err : add_callees(c, instruction, ret);
}

struct error *comes_back_init(const struct depends *d, struct comes_back *ret)
{
	const struct code *code = d->regions->memory->code;
	struct comes_back c = {.d = d,
			       .at_begin = calloc((size_t)code->block_count + 1, sizeof *c.at_begin),
			       .is_done = calloc((size_t)code->function_count + 1, sizeof *c.is_done)};

	*ret = c;
	if (c.at_begin && c.is_done)
		return NULL;
	comes_back_deinit(ret);
	return &error_no_memory;
}

void comes_back_deinit(struct comes_back *c)
{
	for (uint32_t b = 0; c->at_begin && b < c->d->regions->memory->code->block_count; b++)
		id_set_deinit(&c->at_begin[b]);
	free(c->at_begin);
	free(c->is_done);
	id_set_deinit(&c->now);
	*c = (struct comes_back){0};
}
