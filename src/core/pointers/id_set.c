/* id_set.c - sparse sets as sorted arrays of words. */
#include "core/pointers/id_set.h"

#include <stdlib.h>
#include <string.h>

enum {
	LOOKED_AT_ONE_BY_ONE = 4,
};

void id_set_deinit(struct id_set *set)
{
	free(set->words);
	*set = (struct id_set){0};
}

void id_set_clear(struct id_set *set)
{
	set->count = 0;
}

void id_set_trim(struct id_set *set)
{
	struct id_word *words = set->count ? realloc(set->words, set->count * sizeof *words) : NULL;

	if (!set->count) {
		id_set_deinit(set);
	} else if (words) {
		set->words = words;
		set->capacity = set->count;
	}
}

/*
 * Indices rise, so that a word's place is at most its index, and at least that less the number of indices that are missing: in a set that has most of
 * them there is little to search.
 */
static uint32_t skip_far(const struct id_set *set, uint32_t from, uint32_t index)
{
	uint32_t last, missing, low, high;

	if (from >= set->count)
		return from;
	last = set->words[set->count - 1].index;
	if (index > last)
		return set->count;
	missing = last - (set->count - 1);
	low = index > missing && index - missing > from ? index - missing : from;
	high = index < set->count ? index : set->count - 1;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (set->words[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The place of the word with that index, or where it would be. */
static uint32_t place_of(const struct id_set *set, uint32_t index)
{
	return skip_far(set, 0, index);
}

/*
 * The first place at or behind `from` whose word has at least that index. Most sets that are compared have many words in common, which follow each
 * other, and large ones most of all words: then the index is the place.
 */
static inline uint32_t skip(const struct id_set *set, uint32_t from, uint32_t index)
{
	if (from >= set->count || set->words[from].index >= index)
		return from;
	from++;
	if (from >= set->count || set->words[from].index >= index)
		return from;
	if (index < set->count && set->words[index].index == index)
		return index;
	return skip_far(set, from + 1, index);
}

bool id_set_has(const struct id_set *set, uint32_t id)
{
	uint32_t at = place_of(set, id / 64);

	return at < set->count && set->words[at].index == id / 64 && set->words[at].bits >> id % 64 & 1;
}

bool id_set_equal(const struct id_set *a, const struct id_set *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->words[i].index != b->words[i].index || a->words[i].bits != b->words[i].bits)
			return false;
	return true;
}

uint32_t id_set_size(const struct id_set *set)
{
	uint32_t size = 0;

	for (uint32_t i = 0; i < set->count; i++)
		size += (uint32_t)__builtin_popcountll(set->words[i].bits);
	return size;
}

bool id_set_meets(const struct id_set *a, const struct id_set *b)
{
	uint32_t i = 0, k = 0;

	while (i < a->count && k < b->count) {
		if (a->words[i].index < b->words[k].index)
			i = skip(a, i + 1, b->words[k].index);
		else if (a->words[i].index > b->words[k].index)
			k = skip(b, k + 1, a->words[i].index);
		else if (a->words[i++].bits & b->words[k++].bits)
			return true;
	}
	return false;
}

bool id_set_contains(const struct id_set *a, const struct id_set *b)
{
	uint32_t i = 0;

	for (uint32_t k = 0; k < b->count; k++) {
		i = skip(a, i, b->words[k].index);
		if (i == a->count || a->words[i].index != b->words[k].index || b->words[k].bits & ~a->words[i].bits)
			return false;
		i++;
	}
	return true;
}

/* Most sets have a word or two, and there are many: what vec_grow begins with would be most of their memory. */
static struct error *reserve(struct id_set *set, uint32_t count)
{
	size_t capacity = (size_t)set->capacity + set->capacity / 2 + 2;
	struct id_word *grown;

	if (count <= set->capacity)
		return NULL;
	if (capacity < count)
		capacity = count;
	grown = capacity > UINT32_MAX ? NULL : realloc(set->words, capacity * sizeof *grown);
	if (!grown)
		return &error_no_memory;
	set->words = grown;
	set->capacity = (uint32_t)capacity;
	return NULL;
}

struct error *id_set_add(struct id_set *set, uint32_t id, bool *ret_changed)
{
	uint32_t at = place_of(set, id / 64);
	uint64_t bit = UINT64_C(1) << id % 64;
	struct error *err;

	if (at < set->count && set->words[at].index == id / 64) {
		if (ret_changed && !(set->words[at].bits & bit))
			*ret_changed = true;
		set->words[at].bits |= bit;
		return NULL;
	}
	err = reserve(set, set->count + 1);
	if (err)
		return err;
	memmove(&set->words[at + 1], &set->words[at], (set->count - at) * sizeof *set->words);
	set->words[at] = (struct id_word){id / 64, bit};
	set->count++;
	if (ret_changed)
		*ret_changed = true;
	return NULL;
}

struct error *id_set_append_word(struct id_set *set, struct id_word word)
{
	struct error *err = reserve(set, set->count + 1);

	if (!err)
		set->words[set->count++] = word;
	return err;
}

void id_set_remove(struct id_set *set, uint32_t id)
{
	uint32_t at = place_of(set, id / 64);

	if (at == set->count || set->words[at].index != id / 64)
		return;
	set->words[at].bits &= ~(UINT64_C(1) << id % 64);
	if (set->words[at].bits)
		return;
	set->count--;
	memmove(&set->words[at], &set->words[at + 1], (set->count - at) * sizeof *set->words);
}

/* A word's bits less those of `but`, which may be NULL. *at: where to search there, of words whose indices rise. */
static inline uint64_t bits_without(const struct id_word *w, const struct id_set *but, uint32_t *at)
{
	if (!but)
		return w->bits;
	*at = skip(but, *at, w->index);
	if (*at == but->count || but->words[*at].index != w->index)
		return w->bits;
	return w->bits & ~but->words[(*at)++].bits;
}

/* Words of `other`, less those of `but`, that are not in the set; *ret_new: how many of them have no word in the set. */
static bool brings_more(const struct id_set *set, const struct id_set *other, const struct id_set *but,
			uint32_t *ret_new)
{
	uint32_t at = 0, out = 0;
	bool any = false;

	*ret_new = 0;
	for (uint32_t i = 0; i < other->count; i++) {
		const struct id_word *w = &other->words[i];
		uint64_t bits = bits_without(w, but, &out);

		if (!bits)
			continue;
		at = skip(set, at, w->index);
		if (at < set->count && set->words[at].index == w->index) {
			any |= (bits & ~set->words[at++].bits) != 0;
		} else {
			any = true;
			++*ret_new;
		}
	}
	return any;
}

/* As id_set_add_all, where the set has all the words. */
static void add_bits(struct id_set *set, const struct id_set *other, const struct id_set *but)
{
	uint32_t at = 0, out = 0;

	for (uint32_t i = 0; i < other->count; i++) {
		uint64_t bits = bits_without(&other->words[i], but, &out);

		if (!bits)
			continue;
		at = skip(set, at, other->words[i].index);
		set->words[at++].bits |= bits;
	}
}

/* Of the first `count` words those whose index is not above: most often nearly all, but in front of a word of a large set there can be few. */
static uint32_t not_above(const struct id_set *set, uint32_t count, uint32_t index)
{
	for (int i = 0; i < LOOKED_AT_ONE_BY_ONE; i++) {
		if (!count || set->words[count - 1].index <= index)
			return count;
		count--;
	}
	return skip(&(struct id_set){.words = set->words, .count = count}, 0, index + 1);
}

/* Moves the words in front of *at whose index is above to what is in front of *to. */
static void move_up(struct id_set *set, uint32_t index, uint32_t *at, uint32_t *to)
{
	uint32_t moved = *at - not_above(set, *at, index);

	*at -= moved;
	*to -= moved;
	if (moved && *to != *at)
		memmove(&set->words[*to], &set->words[*at], moved * sizeof *set->words);
}

struct error *id_set_add_all(struct id_set *set, const struct id_set *other, const struct id_set *but,
			     bool *ret_changed)
{
	uint32_t more, from = other->count, at = set->count, out = but ? but->count : 0, to;
	struct error *err;

	if (!brings_more(set, other, but, &more))
		return NULL;
	err = reserve(set, set->count + more);
	if (err)
		return err;
	if (ret_changed)
		*ret_changed = true;
	if (!more) {
		add_bits(set, other, but);
		return NULL;
	}
	/* From behind, so that nothing is overwritten that is still to be read. What is in front of the last new word stays where it is. */
	to = set->count + more;
	while (from) {
		struct id_word w = other->words[--from];

		out = out ? not_above(but, out, w.index) : 0;
		if (out && but->words[out - 1].index == w.index)
			w.bits &= ~but->words[out - 1].bits;
		if (to == at && at && set->words[at - 1].index > w.index)
			to = at = skip(set, 0, w.index + 1);
		move_up(set, w.index, &at, &to);
		if (at && set->words[at - 1].index == w.index) {
			set->words[--to] = set->words[--at];
			set->words[to].bits |= w.bits;
		} else if (w.bits) {
			set->words[--to] = w;
		}
	}
	set->count += more;
	return NULL;
}

void id_set_add_to_bits(const struct id_set *set, uint64_t *bits)
{
	for (uint32_t i = 0; i < set->count; i++)
		bits[set->words[i].index] |= set->words[i].bits;
}

struct error *id_set_take_bits(uint64_t *bits, uint32_t word_count, struct id_set *ret)
{
	struct id_set set = {0};
	uint32_t count = 0;
	struct error *err;

	for (uint32_t i = 0; i < word_count; i++)
		count += bits[i] != 0;
	err = reserve(&set, count);
	for (uint32_t i = 0; i < word_count; i++) {
		if (bits[i] && !err)
			set.words[set.count++] = (struct id_word){i, bits[i]};
		bits[i] = 0;
	}
	if (!err)
		*ret = set;
	return err;
}

void id_set_remove_all(struct id_set *set, const struct id_set *other)
{
	uint32_t from = 0, to = 0;

	for (uint32_t at = 0; at < set->count; at++) {
		struct id_word w = set->words[at];

		from = skip(other, from, w.index);
		if (from < other->count && other->words[from].index == w.index)
			w.bits &= ~other->words[from++].bits;
		if (w.bits)
			set->words[to++] = w;
	}
	set->count = to;
}

struct error *id_set_intersect(const struct id_set *a, const struct id_set *b, struct id_set *ret)
{
	uint32_t i = 0, k = 0;
	struct error *err = reserve(ret, a->count < b->count ? a->count : b->count);

	if (err)
		return err;
	ret->count = 0;
	while (i < a->count && k < b->count) {
		if (a->words[i].index < b->words[k].index) {
			i = skip(a, i + 1, b->words[k].index);
		} else if (a->words[i].index > b->words[k].index) {
			k = skip(b, k + 1, a->words[i].index);
		} else {
			uint64_t bits = a->words[i++].bits & b->words[k].bits;

			if (bits)
				ret->words[ret->count++] = (struct id_word){b->words[k].index, bits};
			k++;
		}
	}
	return NULL;
}
