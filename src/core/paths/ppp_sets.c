/*
 * ppp_sets.c - preferential path numbers that fill holes: beyond the algorithm of figure 10.
 *
 * Nodes and edges are taken as in ppp.c. But for each prefix the set of its partial sums is known, not only their interval,
 * and an edge gets the weight that leaves the narrowest intervals among all with which, for every prefix, its sums are none of
 * those of the edges before it. So Lemma 4 holds, which is enough for numbers to differ, and Lemma 5 does not: figure 11's
 * holes are filled.
 *
 * Sets are bits from the lowest sum on. A prefix with one child shares its child's. The search costs about the size of the trie
 * times the interval; it is given up when that is too much.
 */
#include "core/paths/ppp_sets.h"

#include <stdlib.h>

enum {
	BUDGET = 1 << 25, /* words of sets looked at or made, and weights tried for a prefix */
	WORD_BITS = 64,
};

struct sum_of_sets {
	struct ppp_builder *p;
	struct arena arena;
	uint64_t **sets; /* of each prefix, its bit 0 is the sum `low`; NULL while no edge out of it has a weight */
	uint64_t used;   /* of BUDGET */
	bool is_short;   /* of memory */
};

static uint64_t word_count(int64_t span)
{
	return ((uint64_t)span + WORD_BITS - 1) / WORD_BITS;
}

/* WORD_BITS bits of a set from position at on, which may lie outside it. */
static uint64_t bits_at(const uint64_t *set, int64_t span, int64_t at)
{
	uint64_t index, shift, bits;

	if (at <= -WORD_BITS || at >= span)
		return 0;
	if (at < 0)
		return set[0] << -at;
	index = (uint64_t)at / WORD_BITS;
	shift = (uint64_t)at % WORD_BITS;
	bits = set[index] >> shift;
	if (shift && index + 1 < word_count(span))
		bits |= set[index + 1] << (WORD_BITS - shift);
	return bits;
}

static bool has_common(struct sum_of_sets *f, uint32_t parent, uint32_t child, int64_t weight)
{
	const struct ppp_prefix *a = &f->p->trie.items[parent], *b = &f->p->trie.items[child];
	int64_t offset = b->low + weight - a->low, span = a->end - a->low;
	uint64_t count = word_count(b->end - b->low);

	if (offset >= span || offset + (b->end - b->low) <= 0)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		f->used++;
		if (f->sets[child][i] & bits_at(f->sets[parent], span, offset + (int64_t)(i * WORD_BITS)))
			return true;
	}
	return false;
}

/* How wide the prefix's interval would be, with 0 in it: so that prefixes with nothing yet stay near the others. */
static int64_t cost_of(const struct sum_of_sets *f, uint32_t parent, uint32_t child, int64_t weight)
{
	const struct ppp_prefix *a = &f->p->trie.items[parent], *b = &f->p->trie.items[child];
	int64_t low = b->low + weight, end = b->end + weight;

	if (f->sets[parent]) {
		low = a->low < low ? a->low : low;
		end = a->end > end ? a->end : end;
	}
	return (end > 0 ? end : 0) - (low < 0 ? low : 0);
}

/* The range of weights that bring two sets together, over all prefixes of the link; false when no prefix has a set yet. */
static bool find_range(const struct sum_of_sets *f, uint32_t link, int64_t *from, int64_t *to)
{
	bool is_any = false;

	for (uint32_t k = f->p->first[link]; k < f->p->first[link + 1]; k++) {
		const struct ppp_prefix *b = &f->p->trie.items[f->p->ending[k]];
		const struct ppp_prefix *a = &f->p->trie.items[b->parent];

		if (!f->sets[b->parent])
			continue;
		if (!is_any || a->low - b->end < *from)
			*from = a->low - b->end;
		if (!is_any || a->end - b->low > *to)
			*to = a->end - b->low;
		is_any = true;
	}
	return is_any;
}

/* The smallest weight with which no interval begins below 0: figure 10's, where nothing has to be kept apart. */
static int64_t first_weight(const struct ppp_builder *p, uint32_t link)
{
	int64_t weight = INT64_MIN;

	for (uint32_t k = p->first[link]; k < p->first[link + 1]; k++)
		if (-p->trie.items[p->ending[k]].low > weight)
			weight = -p->trie.items[p->ending[k]].low;
	return weight;
}

/* The cost of a weight, -1 when it is not below `best` or sums would be the same. */
static int64_t try_weight(struct sum_of_sets *f, uint32_t link, int64_t weight, int64_t best)
{
	const struct ppp_builder *p = f->p;
	int64_t cost = 0;

	for (uint32_t k = p->first[link]; k < p->first[link + 1]; k++) {
		f->used++;
		cost += cost_of(f, p->trie.items[p->ending[k]].parent, p->ending[k], weight);
		if (cost >= best)
			return -1;
	}
	for (uint32_t k = p->first[link]; k < p->first[link + 1]; k++) {
		uint32_t parent = p->trie.items[p->ending[k]].parent;

		if (f->sets[parent] && has_common(f, parent, p->ending[k], weight))
			return -1;
	}
	return cost;
}

static int64_t choose_weight(struct sum_of_sets *f, uint32_t link)
{
	int64_t best = INT64_MAX, from = 0, to = 0, chosen;

	if (!find_range(f, link, &from, &to))
		return first_weight(f->p, link);
	chosen = to; /* keeps all apart */
	for (int64_t weight = from; weight <= to && f->used < BUDGET; weight++) {
		int64_t cost = try_weight(f, link, weight, best);

		if (cost >= 0) {
			best = cost;
			chosen = weight;
		}
	}
	return chosen;
}

static void merge(struct sum_of_sets *f, uint32_t parent, uint32_t child, int64_t weight)
{
	struct ppp_prefix *a = &f->p->trie.items[parent];
	const struct ppp_prefix *b = &f->p->trie.items[child];
	int64_t low = b->low + weight, end = b->end + weight;
	uint64_t count, *set;

	if (!f->sets[parent]) {
		f->sets[parent] = f->sets[child];
		a->low = low;
		a->end = end;
		return;
	}
	low = a->low < low ? a->low : low;
	end = a->end > end ? a->end : end;
	count = word_count(end - low);
	f->used += count;
	if (f->used >= BUDGET)
		return;
	set = arena_calloc(&f->arena, count, sizeof(*set));
	if (!set) {
		f->is_short = true;
		return;
	}
	for (uint64_t i = 0; i < count; i++) {
		int64_t at = low + (int64_t)(i * WORD_BITS);

		set[i] = bits_at(f->sets[parent], a->end - a->low, at - a->low) |
			 bits_at(f->sets[child], b->end - b->low, at - b->low - weight);
	}
	f->sets[parent] = set;
	a->low = low;
	a->end = end;
}

static bool can_go_on(const struct sum_of_sets *f)
{
	return f->used < BUDGET && !f->is_short;
}

static void sum_links(struct sum_of_sets *f, uint32_t first, uint32_t end, enum ppp_order order)
{
	struct ppp_builder *p = f->p;
	uint32_t count = ppp_collect_links(p, first, end);

	ppp_sort_keys(p, count, order);
	for (uint32_t i = 0; i < count && can_go_on(f); i++) {
		uint32_t link = p->keys[i].link;
		int64_t weight = choose_weight(f, link);

		for (uint32_t k = p->first[link]; k < p->first[link + 1] && can_go_on(f); k++)
			merge(f, p->trie.items[p->ending[k]].parent, p->ending[k], weight);
		p->weights[link] = weight;
	}
}

struct error *ppp_sum_sets(struct ppp_builder *p, enum ppp_order order, bool *is_done)
{
	struct sum_of_sets f = {.p = p};
	uint64_t *end_of_path;

	arena_init(&f.arena);
	f.sets = arena_calloc(&f.arena, p->trie.count, sizeof(*f.sets));
	end_of_path = arena_calloc(&f.arena, 1, sizeof(*end_of_path));
	f.is_short = !f.sets || !end_of_path;
	if (!f.is_short) {
		*end_of_path = 1;
		for (size_t t = 0; t < p->trie.count; t++) {
			f.sets[t] = end_of_path;
			p->trie.items[t].low = 0;
			p->trie.items[t].end = 1;
		}
		for (size_t t = 1; t < p->trie.count; t++)
			f.sets[p->trie.items[t].parent] = NULL;
	}
	for (uint32_t i = p->g->node_count; can_go_on(&f) && i-- > 0;)
		sum_links(&f, p->g->first_edge[p->order[i]], p->g->first_edge[p->order[i] + 1], order);
	if (can_go_on(&f))
		sum_links(&f, p->g->edge_count, p->link_count, order);
	*is_done = can_go_on(&f);
	arena_deinit(&f.arena);
	return f.is_short ? &error_no_memory : NULL;
}
