/* id_sets.c - a hash table of sets by what is in them (id_sets.h). */
#include "core/pointers/id_sets.h"

static uint64_t hash_of_set(const struct id_set *set)
{
	uint64_t hash = set->count;

	for (uint32_t i = 0; i < set->count; i++)
		hash = slotmap_hash(hash ^ set->words[i].index, set->words[i].bits);
	return hash;
}

static uint64_t hash_of(const void *keys, uint32_t number)
{
	return hash_of_set(&((const struct id_set *)keys)[number]);
}

static bool is_same(const void *keys, uint32_t number, const void *key)
{
	return id_set_equal(&((const struct id_set *)keys)[number], key);
}

struct error *id_sets_intern(struct id_set_vec *sets, struct slotmap *map, struct id_set *set, uint32_t *ret)
{
	struct error *err = slotmap_reserve(map, hash_of, sets->items);
	uint32_t *slot;

	if (err)
		return err;
	slot = slotmap_find(map, hash_of_set(set), is_same, sets->items, set);
	if (!*slot) {
		id_set_trim(set);
		err = id_set_vec_append(sets, *set);
		if (err)
			return err;
		*slot = ++map->count;
		*set = (struct id_set){0};
	} else {
		id_set_clear(set);
	}
	*ret = *slot - 1;
	return NULL;
}

void id_sets_deinit(struct id_set_vec *sets, struct slotmap *map)
{
	for (size_t i = 0; i < sets->count; i++)
		id_set_deinit(&sets->items[i]);
	id_set_vec_deinit(sets);
	slotmap_deinit(map);
}
