/* sweep.c - a heap of the blocks of this sweep, and a list of those of the next one (sweep.h). */
#include "analyze/sweep.h"

#include <stdlib.h>

struct error *sweep_init(const struct code *c, const struct call_order *calls, bool is_forward, struct sweep *ret)
{
	uint32_t next = c->block_count;

	*ret = (struct sweep){.order = calloc((size_t)c->block_count + 1, sizeof *ret->order),
			      .in_order = calloc((size_t)c->block_count + 1, sizeof *ret->in_order)};
	if (!ret->order || !ret->in_order)
		return &error_no_memory;
	for (uint32_t i = 0; i < calls->function_count; i++) {
		const struct code_function *f = &c->functions[calls->functions[i]];

		for (uint32_t k = 0; k < f->block_count; k++) {
			uint32_t block = f->first_block + (is_forward ? k : f->block_count - 1 - k);

			ret->order[block] = --next;
			ret->in_order[next] = block;
		}
	}
	return NULL;
}

void sweep_deinit(struct sweep *s)
{
	free(s->order);
	free(s->in_order);
	turn_vec_deinit(&s->now);
	turn_vec_deinit(&s->later);
	*s = (struct sweep){0};
}

static struct error *push(struct turn_vec *heap, uint64_t turn)
{
	struct error *err = turn_vec_append(heap, turn);
	size_t at;

	if (err)
		return err;
	for (at = heap->count - 1; at && heap->items[(at - 1) / 2] < turn; at = (at - 1) / 2)
		heap->items[at] = heap->items[(at - 1) / 2];
	heap->items[at] = turn;
	return NULL;
}

static uint64_t pop(struct turn_vec *heap)
{
	uint64_t first = heap->items[0], last;
	size_t count = --heap->count, at = 0;

	last = heap->items[count];
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && heap->items[child] < heap->items[child + 1])
			child++;
		if (heap->items[child] <= last)
			break;
		heap->items[at] = heap->items[child];
	}
	heap->items[at] = last;
	return first;
}

struct error *sweep_push(struct sweep *s, uint32_t block, uint32_t context)
{
	uint64_t turn = (uint64_t)s->order[block] << 32 | context;

	return turn < s->turn ? push(&s->now, turn) : turn_vec_append(&s->later, turn);
}

bool sweep_is_done(const struct sweep *s)
{
	return !s->now.count && !s->later.count;
}

struct error *sweep_pop(struct sweep *s, uint32_t *ret_block, uint32_t *ret_context)
{
	struct error *err = NULL;

	if (!s->now.count) {
		for (size_t i = 0; i < s->later.count && !err; i++)
			err = push(&s->now, s->later.items[i]);
		s->later.count = 0;
	}
	if (err)
		return err;
	s->turn = pop(&s->now);
	*ret_block = s->in_order[s->turn >> 32];
	*ret_context = (uint32_t)s->turn;
	return NULL;
}
