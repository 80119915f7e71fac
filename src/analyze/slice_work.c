/* slice_work.c - contexts of a backward slice and their memory (slice_work.h). */
#include "analyze/slice_work.h"

#include <stdlib.h>
#include <string.h>

struct item slice_work_item(const struct work *w, uint32_t place)
{
	uint32_t low = 0, high = w->context_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (w->contexts[middle].first_place <= place)
			low = middle;
		else
			high = middle;
	}
	return (struct item){low, place - w->contexts[low].first_place + w->contexts[low].range.first_instruction};
}

/* ---- calls of groups ---- */

struct error *slice_work_left(struct work *w, uint32_t place, const struct function_ids *callees,
			      struct function_ids **ret, bool *ret_is_first)
{
	uint32_t number;
	struct error *err = hashmap_add(&w->group_calls, &(struct key){{place, 0, 0}}, &number);

	*ret_is_first = number == w->left.count;
	if (!err && *ret_is_first)
		err = function_ids_vec_append(&w->left, (struct function_ids){0});
	if (err)
		return err;
	*ret = &w->left.items[number];
	if (!*ret_is_first)
		return NULL;
	err = function_ids_reserve(*ret, callees->count);
	if (err)
		return err;
	memcpy((*ret)->items, callees->items, callees->count * sizeof *callees->items);
	(*ret)->count = callees->count;
	return NULL;
}

/* ---- memory ---- */

static struct error *open_context(struct context *c)
{
	c->views = calloc((size_t)c->function_count + 1, sizeof *c->views);
	c->at_end = calloc((size_t)c->range.block_count + 1, sizeof *c->at_end);
	c->more = calloc((size_t)c->range.block_count + 1, sizeof *c->more);
	c->called = calloc((size_t)c->range.instruction_count + 1, sizeof *c->called);
	c->is_in = calloc((size_t)c->range.instruction_count + 1, 1);
	c->is_waiting = calloc((size_t)c->range.block_count + 1, 1);
	return c->views && c->at_end && c->more && c->called && c->is_in && c->is_waiting ? NULL : &error_no_memory;
}

struct error *slice_work_open(struct work *w)
{
	const struct code *c = w->code;
	const struct code_function all = {.block_count = c->block_count, .instruction_count = c->instruction_count};
	uint32_t place = 0;
	struct error *err = controls_init(c, &w->controls);

	if (!err)
		err = region_classes_find(w->regions, w->request->demand ? REGIONS_BY_ALL : REGIONS_BY_EFFECT,
					  &w->classes);
	if (err)
		return err;
	w->slice->why = calloc((size_t)c->instruction_count + 1, sizeof *w->slice->why);
	w->contexts = calloc((size_t)CONTEXT_FRAMES + w->request->frame_count, sizeof *w->contexts);
	if (!w->slice->why || !w->contexts)
		return &error_no_memory;
	err = sweep_init(c, &w->regions->calls, false, &w->blocks);
	if (!err)
		err = call_groups_find(w->memory, &w->groups);
	w->context_count = CONTEXT_FRAMES + w->request->frame_count;
	for (uint32_t i = 0; i < w->context_count && !err; i++) {
		struct context *x = &w->contexts[i];

		*x = (struct context){.range = all, .function_count = c->function_count, .first_place = place};
		if (i >= CONTEXT_FRAMES) {
			x->frame = &w->request->frames[i - CONTEXT_FRAMES];
			x->range = c->functions[x->frame->function];
			x->first_function = x->frame->function;
			x->function_count = 1;
		}
		place += x->range.instruction_count;
		err = open_context(x);
	}
	return err;
}

static void free_view(struct view *v)
{
	id_set_deinit(&v->wanted);
	id_set_deinit(&v->at_entry);
	id_set_deinit(&v->asking);
	id_set_deinit(&v->arguments);
}

static void close_context(struct context *c)
{
	for (uint32_t f = 0; c->views && f < c->function_count; f++)
		free_view(&c->views[f]);
	for (uint32_t b = 0; c->at_end && b < c->range.block_count; b++)
		id_set_deinit(&c->at_end[b]);
	for (uint32_t b = 0; c->more && b < c->range.block_count; b++)
		id_set_deinit(&c->more[b]);
	for (uint32_t i = 0; c->called && i < c->range.instruction_count; i++)
		id_set_deinit(&c->called[i]);
	free(c->views);
	free(c->called);
	free(c->at_end);
	free(c->more);
	free(c->is_in);
	free(c->is_waiting);
}

void slice_work_close(struct work *w)
{
	for (uint32_t i = 0; i < w->context_count; i++)
		close_context(&w->contexts[i]);
	free(w->contexts);
	free(w->effect_in_front);
	controls_deinit(&w->controls);
	region_classes_deinit(&w->classes);
	call_groups_deinit(&w->groups);
	id_set_deinit(&w->grouped);
	hashmap_deinit(&w->group_calls);
	for (size_t i = 0; i < w->left.count; i++)
		function_ids_deinit(&w->left.items[i]);
	function_ids_vec_deinit(&w->left);
	id_set_deinit(&w->changed);
	id_set_deinit(&w->at_jumps);
	id_set_deinit(&w->ever);
	id_set_deinit(&w->ever_async);
	async_deinit(&w->async);
	id_set_deinit(&w->landings);
	id_set_deinit(&w->jumps);
	sweep_deinit(&w->blocks);
	item_vec_deinit(&w->found);
}

/* ---- what is left for others ---- */

static struct error *open_demand(const struct work *w, struct slice_demand *ret)
{
	uint32_t count = w->request->frame_count + 1;

	*ret = (struct slice_demand){.at_end = calloc(count, sizeof *ret->at_end),
				     .block_counts = calloc(count, sizeof *ret->block_counts),
				     .count = count};
	if (ret->at_end && ret->block_counts)
		return NULL;
	slice_demand_deinit(ret);
	return &error_no_memory;
}

/* Those of CONTEXT_UP and CONTEXT_DOWN become one, and classes become regions, where control can go several ways: elsewhere nobody asks. */
static struct error *expand_demand(struct work *w)
{
	struct error *err = region_classes_expand(&w->classes, &w->ever);

	if (!err)
		err = region_classes_expand(&w->classes, &w->ever_async);
	for (uint32_t b = 0; b < w->code->block_count && !err; b++)
		err = id_set_add_all(end_of(w, CONTEXT_UP, b), end_of(w, CONTEXT_DOWN, b), NULL, NULL);
	for (uint32_t i = 0; i < w->context_count && !err; i++)
		for (uint32_t b = 0; i != CONTEXT_DOWN && b < w->contexts[i].range.block_count && !err; b++)
			if (w->code->blocks[w->contexts[i].range.first_block + b].successor_count > 1)
				err = region_classes_expand(&w->classes, &w->contexts[i].at_end[b]);
			else
				id_set_deinit(&w->contexts[i].at_end[b]);
	return err;
}

/* Takes the sets from the contexts. */
struct error *slice_work_take_demand(struct work *w, struct slice_demand *ret)
{
	struct error *err = open_demand(w, ret);

	if (!err)
		err = expand_demand(w);
	if (err)
		return err;
	for (uint32_t i = 0; i < ret->count; i++) {
		struct context *c = &w->contexts[i ? CONTEXT_FRAMES + i - 1 : CONTEXT_UP];

		ret->at_end[i] = c->at_end;
		ret->block_counts[i] = c->range.block_count;
		c->at_end = NULL;
	}
	ret->async = w->async;
	ret->ever = w->ever;
	ret->ever_async = w->ever_async;
	w->async = (struct async){0};
	w->ever = w->ever_async = (struct id_set){0};
	return NULL;
}

void slice_demand_deinit(struct slice_demand *d)
{
	for (uint32_t i = 0; i < d->count && d->at_end && d->block_counts; i++) {
		for (uint32_t b = 0; b < d->block_counts[i]; b++)
			id_set_deinit(&d->at_end[i][b]);
		free(d->at_end[i]);
	}
	free(d->at_end);
	free(d->block_counts);
	async_deinit(&d->async);
	id_set_deinit(&d->ever);
	id_set_deinit(&d->ever_async);
	*d = (struct slice_demand){0};
}
