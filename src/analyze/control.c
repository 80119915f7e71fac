/* control.c - control dependence from the tree of postdominators, which is that of dominators of the graph turned round. */
#include "analyze/control.h"

#include <stdlib.h>
#include <string.h>

#include "core/paths/dominators.h"

/* The graph turned round: node 0 is behind every end of the function, node b + 1 is block b. */
struct reverse {
	const struct code *code;
	const struct code_function *f;
	struct cfg cfg;
	uint8_t *is_edge;
	uint8_t *is_reached;
	uint32_t *work;
	struct dominators tree;
};

static const struct code_block *block_at(const struct reverse *r, uint32_t block)
{
	return &r->code->blocks[r->f->first_block + block];
}

static uint32_t predecessor(const struct reverse *r, uint32_t block, uint32_t number)
{
	return r->code->predecessors[block_at(r, block)->first_predecessor + number] - r->f->first_block;
}

static uint32_t successor(const struct reverse *r, uint32_t block, uint32_t number)
{
	return r->code->successors[block_at(r, block)->first_successor + number] - r->f->first_block;
}

/* Marks what leads to the block. */
static void reach(struct reverse *r, uint32_t block)
{
	uint32_t waiting = 0;

	r->is_reached[block] = 1;
	r->work[waiting++] = block;
	while (waiting) {
		uint32_t at = r->work[--waiting];

		for (uint32_t i = 0; i < block_at(r, at)->predecessor_count; i++) {
			uint32_t from = predecessor(r, at, i);

			if (!r->is_reached[from]) {
				r->is_reached[from] = 1;
				r->work[waiting++] = from;
			}
		}
	}
}

/* Blocks that node 0 leads to: those that end the function, and one of each loop that is never left. ends[block_count]. */
static uint32_t find_ends(struct reverse *r, uint32_t *ends)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < r->f->block_count; i++)
		if (!block_at(r, i)->successor_count) {
			ends[count++] = i;
			reach(r, i);
		}
	for (uint32_t i = r->f->block_count; i-- > 0;)
		if (!r->is_reached[i]) {
			ends[count++] = i;
			reach(r, i);
		}
	return count;
}

static struct error *make_reverse(struct reverse *r, struct arena *scratch)
{
	uint32_t count = r->f->block_count, edges = 0, *ends = arena_calloc(scratch, count + 1, sizeof *ends);
	uint32_t end_count;

	for (uint32_t i = 0; i < count; i++)
		edges += block_at(r, i)->predecessor_count;
	r->cfg = (struct cfg){.node_count = count + 1,
			      .edges = arena_calloc(scratch, (size_t)edges + count + 1, sizeof *r->cfg.edges),
			      .first_edge = arena_calloc(scratch, (size_t)count + 2, sizeof *r->cfg.first_edge)};
	r->is_edge = arena_alloc(scratch, (size_t)edges + count + 1);
	r->is_reached = arena_calloc(scratch, count + 1, 1);
	r->work = arena_calloc(scratch, count + 1, sizeof *r->work);
	r->tree = (struct dominators){.idom = arena_calloc(scratch, (size_t)count + 1, sizeof *r->tree.idom),
				      .first = arena_calloc(scratch, (size_t)count + 1, sizeof *r->tree.first),
				      .size = arena_calloc(scratch, (size_t)count + 1, sizeof *r->tree.size)};
	if (!ends || !r->cfg.edges || !r->cfg.first_edge || !r->is_edge || !r->is_reached || !r->work ||
	    !r->tree.idom || !r->tree.first || !r->tree.size)
		return &error_no_memory;
	end_count = find_ends(r, ends);
	for (uint32_t i = 0; i < end_count; i++)
		r->cfg.edges[r->cfg.edge_count++] = (struct cfg_edge){.from = 0, .to = ends[i] + 1};
	for (uint32_t i = 0; i < count; i++) {
		r->cfg.first_edge[i + 1] = r->cfg.edge_count;
		for (uint32_t k = 0; k < block_at(r, i)->predecessor_count; k++)
			r->cfg.edges[r->cfg.edge_count++] =
				(struct cfg_edge){.from = i + 1, .to = predecessor(r, i, k) + 1};
	}
	r->cfg.first_edge[count + 1] = r->cfg.edge_count;
	memset(r->is_edge, 1, (size_t)edges + count + 1);
	return NULL;
}

/* Calls add(data, block, decider) for each block that a branch of the decider decides. */
static void each_dependence(const struct reverse *r, void (*add)(void *data, uint32_t block, uint32_t decider),
			    void *data)
{
	for (uint32_t a = 0; a < r->f->block_count; a++) {
		if (block_at(r, a)->successor_count < 2)
			continue;
		for (uint32_t s = 0; s < block_at(r, a)->successor_count; s++)
			for (uint32_t at = successor(r, a, s) + 1;
			     at && at != DOMINATORS_NONE && at != r->tree.idom[a + 1]; at = r->tree.idom[at])
				add(data, at - 1, a);
	}
}

struct collected {
	struct control *control;
	uint32_t *filled;
};

static void count_one(void *data, uint32_t block, uint32_t decider)
{
	struct collected *c = data;

	(void)decider;
	c->control->first[block + 1]++;
}

static void take_one(void *data, uint32_t block, uint32_t decider)
{
	struct collected *c = data;

	c->control->deciders[c->control->first[block] + c->filled[block]++] = c->control->first_block + decider;
}

static struct error *collect(const struct reverse *r, struct control *ret, struct arena *scratch)
{
	uint32_t count = r->f->block_count;
	struct collected c = {ret, arena_calloc(scratch, count + 1, sizeof *c.filled)};

	ret->first = arena_calloc(&ret->arena, (size_t)count + 1, sizeof *ret->first);
	if (!ret->first || !c.filled)
		return &error_no_memory;
	each_dependence(r, count_one, &c);
	for (uint32_t i = 0; i < count; i++)
		ret->first[i + 1] += ret->first[i];
	ret->deciders = arena_calloc(&ret->arena, (size_t)ret->first[count] + 1, sizeof *ret->deciders);
	if (!ret->deciders)
		return &error_no_memory;
	each_dependence(r, take_one, &c);
	return NULL;
}

struct error *control_find(const struct code *c, uint32_t function, struct control *ret)
{
	struct arena scratch = {0};
	struct reverse r = {.code = c, .f = &c->functions[function]};
	uint64_t steps = 0;
	struct error *err;

	*ret = (struct control){.first_block = r.f->first_block};
	err = make_reverse(&r, &scratch);
	if (!err)
		err = dominators_find(&r.cfg, r.is_edge, &r.tree, &steps);
	if (!err)
		err = collect(&r, ret, &scratch);
	arena_deinit(&scratch);
	if (err)
		control_deinit(ret);
	return err;
}

void control_deinit(struct control *control)
{
	arena_deinit(&control->arena);
	*control = (struct control){0};
}

/* ---- of all functions ---- */

struct error *controls_init(const struct code *c, struct controls *ret)
{
	*ret = (struct controls){.code = c,
				 .of = calloc((size_t)c->function_count + 1, sizeof *ret->of),
				 .is_found = calloc((size_t)c->function_count + 1, sizeof *ret->is_found)};
	if (ret->of && ret->is_found)
		return NULL;
	controls_deinit(ret);
	return &error_no_memory;
}

void controls_deinit(struct controls *controls)
{
	for (uint32_t f = 0; controls->is_found && controls->of && f < controls->code->function_count; f++)
		if (controls->is_found[f])
			control_deinit(&controls->of[f]);
	free(controls->of);
	free(controls->is_found);
	*controls = (struct controls){0};
}

struct error *controls_of(struct controls *controls, uint32_t block, const uint32_t **ret_first, uint32_t *ret_count)
{
	uint32_t function = controls->code->blocks[block].function, at;
	struct control *control = &controls->of[function];

	if (!controls->is_found[function]) {
		struct error *err = control_find(controls->code, function, control);

		if (err)
			return err;
		controls->is_found[function] = true;
	}
	at = block - control->first_block;
	*ret_first = &control->deciders[control->first[at]];
	*ret_count = control->first[at + 1] - control->first[at];
	return NULL;
}
