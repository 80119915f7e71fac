/*
 * id_set.h - sets of small numbers, sparse: pairs of a word's index and its bits, in rising order. All zero is the empty set.
 *
 * A union costs the length of both. Memory is malloc's; the owner deinits. Not thread-safe.
 */
#ifndef WM_CORE_POINTERS_ID_SET_H
#define WM_CORE_POINTERS_ID_SET_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Without padding: sets are most of what an analysis needs. */
struct __attribute__((packed, aligned(4))) id_word {
	uint32_t index; /* of 64 numbers each */
	uint64_t bits;
};
static_assert(sizeof(struct id_word) == 12, "no padding");

struct id_set {
	struct id_word *words;
	uint32_t count;
	uint32_t capacity;
};

/* for (struct id_iterator i = id_set_begin(set); id_set_next(set, &i);) i.id. The set must not change meanwhile. */
struct id_iterator {
	uint32_t id;
	uint32_t word;
	uint64_t left;
};

void id_set_deinit(struct id_set *set);
void id_set_clear(struct id_set *set);
/* Gives back memory that the set does not need. */
void id_set_trim(struct id_set *set);
bool id_set_has(const struct id_set *set, uint32_t id);
bool id_set_equal(const struct id_set *a, const struct id_set *b);
uint32_t id_set_size(const struct id_set *set);
/* They have a number in common. */
bool id_set_meets(const struct id_set *a, const struct id_set *b);
/* Each number of b is in a. */
bool id_set_contains(const struct id_set *a, const struct id_set *b);

/* *ret_changed is made true if the set has grown, else left alone; it may be NULL. */
struct error *id_set_add(struct id_set *set, uint32_t id, bool *ret_changed);
/* A word whose index is above those that the set has. */
struct error *id_set_append_word(struct id_set *set, struct id_word word);
void id_set_remove(struct id_set *set, uint32_t id);
/* Adds those of `other` that are not in `but`, which may be NULL. */
struct error *id_set_add_all(struct id_set *set, const struct id_set *other, const struct id_set *but,
			     bool *ret_changed);
void id_set_remove_all(struct id_set *set, const struct id_set *other);
/* For a union of many sets: the set's numbers among the bits. */
void id_set_add_to_bits(const struct id_set *set, uint64_t *bits);
/* *ret: those whose bits are set, among so many words. The bits are cleared, also on failure. */
struct error *id_set_take_bits(uint64_t *bits, uint32_t word_count, struct id_set *ret);
/* Those of a that are in b, too. ret is overwritten. */
struct error *id_set_intersect(const struct id_set *a, const struct id_set *b, struct id_set *ret);

static inline struct id_iterator id_set_begin(const struct id_set *set)
{
	return (struct id_iterator){.left = set->count ? set->words[0].bits : 0};
}

static inline bool id_set_next(const struct id_set *set, struct id_iterator *i)
{
	while (!i->left) {
		if (++i->word >= set->count)
			return false;
		i->left = set->words[i->word].bits;
	}
	i->id = set->words[i->word].index * 64 + (uint32_t)__builtin_ctzll(i->left);
	i->left &= i->left - 1;
	return true;
}

#endif
