/* call_groups.c - finds calls whose functions are the same ones, by a hash of their list (call_groups.h). */
#include "analyze/call_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/slotmap.h"

static uint64_t hash_of_list(const struct function_ids *list)
{
	uint64_t hash = list->count;

	for (size_t i = 0; i < list->count; i++)
		hash = slotmap_hash(hash, list->items[i]);
	return hash;
}

static uint64_t hash_of_group(const void *groups, uint32_t number)
{
	return hash_of_list(((const struct call_group *)groups)[number].callees);
}

static bool is_same(const void *groups, uint32_t number, const void *key)
{
	const struct function_ids *a = ((const struct call_group *)groups)[number].callees, *b = key;

	return a->count == b->count && memcmp(a->items, b->items, a->count * sizeof *a->items) == 0;
}

VEC_DECLARE(call_group_vec, struct call_group);

struct error *call_groups_find(const struct memory *m, struct call_groups *ret)
{
	struct call_group_vec groups = {0};
	struct slotmap map = {0};
	struct error *err;

	*ret = (struct call_groups){.of = calloc((size_t)m->code->instruction_count + 1, sizeof *ret->of)};
	if (!ret->of)
		return &error_no_memory;
	err = call_group_vec_reserve(&groups, 1);
	for (uint32_t i = 0; i < m->code->instruction_count && !err; i++) {
		const struct function_ids *callees = &m->callees[i];
		uint32_t *slot;

		ret->of[i] = CODE_NONE;
		if (callees->count < CALLEES_OF_GROUP_MIN)
			continue;
		err = slotmap_reserve(&map, hash_of_group, groups.items);
		if (err)
			break;
		slot = slotmap_find(&map, hash_of_list(callees), is_same, groups.items, callees);
		if (!*slot) {
			err = call_group_vec_append(&groups, (struct call_group){.callees = callees});
			*slot = ++map.count;
		}
		ret->of[i] = *slot - 1;
	}
	slotmap_deinit(&map);
	ret->items = groups.items;
	ret->count = (uint32_t)groups.count;
	return err;
}

void call_groups_deinit(struct call_groups *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		id_set_deinit(&g->items[i].changes);
		id_set_deinit(&g->items[i].asked);
	}
	free(g->items);
	free(g->of);
	*g = (struct call_groups){0};
}
