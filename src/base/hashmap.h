/*
 * hashmap.h - a hash map from three 64-bit words to the order in which they came: 0, 1, 2 ... All zero is an empty map.
 */
#ifndef WM_BASE_HASHMAP_H
#define WM_BASE_HASHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct key {
	uint64_t words[3];
};

/* The key of a text: its hash alone. */
struct key key_of_text(const char *text);
/* By two hashes and the length: no program has two texts with one key. variant: of several keys for the text; 0 for the first. */
struct key key_of_text_safe(const char *text, uint32_t variant);

struct hashmap {
	struct key *keys; /* by number */
	uint32_t count;
	uint32_t capacity;
	uint32_t *slots; /* number + 1; 0: free */
	size_t slot_count;
};

void hashmap_deinit(struct hashmap *map);
/* The number of key, which is new if it equals the count before. */
struct error *hashmap_add(struct hashmap *map, const struct key *key, uint32_t *ret);
/* False when key is not in the map. */
bool hashmap_find(const struct hashmap *map, const struct key *key, uint32_t *ret);

#endif
