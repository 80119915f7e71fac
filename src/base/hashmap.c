/* hashmap.c - open addressing, linear probing, at most half full; slots hold numbers only, so that growing is cheap. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hashmap.h"

struct key key_of_text(const char *text)
{
	return (struct key){{hash_bytes(HASH_START, text, strlen(text)), 0, 0}};
}

struct key key_of_text_safe(const char *text, uint32_t variant)
{
	size_t len = strlen(text);

	return (struct key){
		{hash_bytes(HASH_START, text, len), hash_bytes(~HASH_START, text, len), (uint64_t)len << 32 | variant}};
}

void hashmap_deinit(struct hashmap *map)
{
	free(map->keys);
	free(map->slots);
	*map = (struct hashmap){0};
}

/* Multiplication spreads low bits upwards, the shift brings them back down. */
static uint64_t hash_key(const struct key *key)
{
	uint64_t h = 0;

	for (size_t i = 0; i < 3; i++) {
		h = (h ^ key->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	return h;
}

static uint32_t *find_slot(const struct hashmap *map, const struct key *key)
{
	size_t i = hash_key(key) & (map->slot_count - 1);

	while (map->slots[i] && memcmp(&map->keys[map->slots[i] - 1], key, sizeof *key) != 0)
		i = (i + 1) & (map->slot_count - 1);
	return &map->slots[i];
}

static struct error *grow(struct hashmap *map)
{
	size_t slot_count = map->slot_count ? map->slot_count * 2 : 64;
	uint32_t *slots = calloc(slot_count, sizeof *slots);
	struct key *keys = realloc(map->keys, slot_count / 2 * sizeof *keys);

	if (keys)
		map->keys = keys;
	if (!slots || !keys || slot_count / 2 > UINT32_MAX - 1) {
		free(slots);
		return &error_no_memory;
	}
	free(map->slots);
	map->slots = slots;
	map->slot_count = slot_count;
	map->capacity = (uint32_t)(slot_count / 2);
	for (uint32_t i = 0; i < map->count; i++)
		*find_slot(map, &map->keys[i]) = i + 1;
	return NULL;
}

struct error *hashmap_add(struct hashmap *map, const struct key *key, uint32_t *ret)
{
	uint32_t *slot;

	if (map->count == map->capacity) {
		struct error *err = grow(map);

		if (err)
			return err;
	}
	slot = find_slot(map, key);
	if (!*slot) {
		map->keys[map->count] = *key;
		*slot = ++map->count;
	}
	*ret = *slot - 1;
	return NULL;
}

bool hashmap_find(const struct hashmap *map, const struct key *key, uint32_t *ret)
{
	uint32_t *slot = map->slot_count ? find_slot(map, key) : NULL;

	if (!slot || !*slot)
		return false;
	*ret = *slot - 1;
	return true;
}
