/*
 * ppp.c - preferential path profiling (Vaswani, Nori, Chilimbi, POPL'07, figure 10), and packing with Ball-Larus numbers.
 *
 * Nodes are taken in reverse topological order; the starts are the out-edges of an imaginary node that comes last. At a node
 * each prefix of an interesting path has an interval of partial sums on each out-edge; an edge gets the smallest weight that
 * keeps, for every prefix, its interval behind those of the edges before it (Lemma 5).
 *
 * Prefixes are the nodes of a trie of the interesting paths. Ball-Larus numbers order paths as a walk of that trie meets them,
 * so sorted paths build it one after the other. The interval of a prefix is the union of those of its children: paths
 * themselves are not needed after that, and a pass over all edges is linear in the size of the trie, at most E * I.
 *
 * Where intervals of several prefixes are joined the order of the edges decides how large the holes are. No order is always
 * the best, so several are tried (ppp_order.h) and the narrowest result is kept, the earlier one when they are equal. The
 * last two are not the paper's algorithm any more: ppp_sets.c lets intervals overlap where the sums in them differ.
 */
#include "core/paths/ppp.h"

#include <stdlib.h>
#include <string.h>

#include "core/paths/ppp_sets.h"
#include "core/paths/ppp_order.h"

/* ---- trie ---- */

static int number_compare(const void *left, const void *right)
{
	uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;

	return l < r ? -1 : l > r;
}

static struct error *sort_numbers(struct ppp_builder *p, const uint64_t *interesting, struct arena *scratch)
{
	p->numbers = arena_calloc(scratch, p->count, sizeof(*p->numbers));
	if (!p->numbers)
		return &error_no_memory;
	if (p->count)
		memcpy(p->numbers, interesting, p->count * sizeof(*p->numbers));
	qsort(p->numbers, p->count, sizeof(*p->numbers), number_compare);
	for (uint32_t i = 0; i < p->count; i++)
		if (p->numbers[i] >= p->n->path_count || (i && p->numbers[i] == p->numbers[i - 1]))
			return error_create(ERROR_ARGUMENT, "interesting path %llu is given twice or not below %llu",
					    (unsigned long long)p->numbers[i], (unsigned long long)p->n->path_count);
	return NULL;
}

/* The last path added: its prefixes by length. */
struct spine {
	uint32_t *prefixes;
	uint32_t len;
};

/* Appends the prefixes of the path that the path before it does not have. links: its start, its edges, its end edge. */
static struct error *add_path(struct ppp_builder *p, const uint32_t *links, uint32_t len, struct spine *spine)
{
	uint32_t common = 0;

	while (common < len && common < spine->len && p->trie.items[spine->prefixes[common]].link == links[common])
		common++;
	for (uint32_t i = common; i < len; i++) {
		struct ppp_prefix prefix = {.parent = i ? spine->prefixes[i - 1] : PPP_ROOT, .link = links[i]};
		struct error *err;

		if (p->trie.count == UINT32_MAX)
			return error_create(ERROR_OVERFLOW, "%u interesting paths have more than 2^32 prefixes",
					    p->count);
		err = ppp_prefixes_append(&p->trie, prefix);
		if (err)
			return err;
		spine->prefixes[i] = (uint32_t)p->trie.count - 1;
	}
	spine->len = len;
	return NULL;
}

static struct error *build_trie(struct ppp_builder *p, struct arena *scratch)
{
	size_t most = (size_t)p->g->node_count + 2;
	uint32_t *links = arena_calloc(scratch, most, sizeof(*links));
	struct spine spine = {arena_calloc(scratch, most, sizeof(uint32_t)), 0};
	struct path path = {.edges = links ? links + 1 : NULL};
	struct error *err;

	if (!links || !spine.prefixes)
		return &error_no_memory;
	err = ppp_prefixes_append(&p->trie, (struct ppp_prefix){.link = UINT32_MAX});
	for (uint32_t i = 0; !err && i < p->count; i++) {
		uint32_t len;

		path_regenerate(p->g, p->n, p->numbers[i], &path);
		links[0] = p->g->edge_count + path.start;
		len = 1 + path.edge_count;
		if (path.end_edge != NO_EDGE)
			links[len++] = path.end_edge;
		err = add_path(p, links, len, &spine);
	}
	return err;
}

static struct error *index_trie(struct ppp_builder *p, struct arena *scratch)
{
	uint32_t sum = 0, most = p->n->start_count;

	for (uint32_t n = 0; n < p->g->node_count; n++)
		if (p->g->first_edge[n + 1] - p->g->first_edge[n] > most)
			most = p->g->first_edge[n + 1] - p->g->first_edge[n];
	p->link_count = p->g->edge_count + p->n->start_count;
	p->first = arena_calloc(scratch, (size_t)p->link_count + 1, sizeof(*p->first));
	p->ending = arena_calloc(scratch, p->trie.count, sizeof(*p->ending));
	p->order = arena_calloc(scratch, p->g->node_count, sizeof(*p->order));
	p->weights = arena_calloc(scratch, p->link_count, sizeof(*p->weights));
	p->keys = arena_calloc(scratch, most, sizeof(*p->keys));
	p->best_keys = arena_calloc(scratch, most, sizeof(*p->best_keys));
	if (!p->first || !p->ending || !p->order || !p->weights || !p->keys || !p->best_keys)
		return &error_no_memory;
	for (size_t t = 1; t < p->trie.count; t++)
		p->first[p->trie.items[t].link]++;
	for (uint32_t i = 0; i <= p->link_count; i++)
		p->first[i] = sum += i < p->link_count ? p->first[i] : 0;
	for (size_t t = p->trie.count; t-- > 1;)
		p->ending[--p->first[p->trie.items[t].link]] = (uint32_t)t;
	return cfg_order(p->g, p->order);
}

/* ---- weights ---- */

/* Paths that end here end at 0: the prefixes no other goes on from. */
static void reset_intervals(struct ppp_builder *p)
{
	for (size_t t = 0; t < p->trie.count; t++) {
		p->trie.items[t].low = 0;
		p->trie.items[t].end = 1;
	}
	for (size_t t = 1; t < p->trie.count; t++)
		p->trie.items[p->trie.items[t].parent].end = 0;
}

/* Lines 3 to 20 of figure 10. No overflow: by induction all is within 0 and the paths from the node, at most 2^44. */
static void weigh_link(struct ppp_builder *p, uint32_t link)
{
	int64_t weight = INT64_MIN;

	for (uint32_t k = p->first[link]; k < p->first[link + 1]; k++) {
		const struct ppp_prefix *t = &p->trie.items[p->ending[k]];
		int64_t needed = p->trie.items[t->parent].end - t->low;

		if (needed > weight)
			weight = needed;
	}
	for (uint32_t k = p->first[link]; k < p->first[link + 1]; k++) {
		const struct ppp_prefix *t = &p->trie.items[p->ending[k]];
		struct ppp_prefix *parent = &p->trie.items[t->parent];

		if (!parent->end)
			parent->low = t->low + weight;
		parent->end = t->end + weight;
	}
	p->weights[link] = weight;
}

static int key_compare(const struct ppp_key *l, const struct ppp_key *r, enum ppp_order order)
{
	uint64_t left = l->link, right = r->link;

	if (order == PPP_WIDE_FIRST || order == PPP_NARROW_FIRST) {
		left = l->width;
		right = r->width;
	} else if (order == PPP_MANY_FIRST || order == PPP_FEW_FIRST) {
		left = l->prefixes;
		right = r->prefixes;
	}
	if (left == right) /* in the order of the graph */
		return l->link < r->link ? -1 : l->link > r->link;
	if (order == PPP_REVERSED || order == PPP_WIDE_FIRST || order == PPP_MANY_FIRST)
		return left > right ? -1 : 1;
	return left < right ? -1 : 1;
}

#define COMPARE_BY(name, order)                              \
	static int name(const void *left, const void *right) \
	{                                                    \
		return key_compare(left, right, order);      \
	}
COMPARE_BY(compare_given, PPP_GIVEN)
COMPARE_BY(compare_reversed, PPP_REVERSED)
COMPARE_BY(compare_wide, PPP_WIDE_FIRST)
COMPARE_BY(compare_narrow, PPP_NARROW_FIRST)
COMPARE_BY(compare_many, PPP_MANY_FIRST)
COMPARE_BY(compare_few, PPP_FEW_FIRST)

static int (*const comparisons[PPP_EACH_BEST])(const void *, const void *) = {
	[PPP_GIVEN] = compare_given,         [PPP_REVERSED] = compare_reversed, [PPP_WIDE_FIRST] = compare_wide,
	[PPP_NARROW_FIRST] = compare_narrow, [PPP_MANY_FIRST] = compare_many,   [PPP_FEW_FIRST] = compare_few,
};

uint32_t ppp_collect_links(struct ppp_builder *p, uint32_t first, uint32_t end)
{
	uint32_t count = 0;

	for (uint32_t link = first; link < end; link++) {
		struct ppp_key key = {.link = link, .prefixes = p->first[link + 1] - p->first[link]};

		for (uint32_t k = p->first[link]; k < p->first[link + 1]; k++) {
			const struct ppp_prefix *t = &p->trie.items[p->ending[k]];

			if ((uint64_t)(t->end - t->low) > key.width)
				key.width = (uint64_t)(t->end - t->low);
		}
		if (key.prefixes)
			p->keys[count++] = key;
	}
	return count;
}

static void weigh_keys(struct ppp_builder *p, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		weigh_link(p, p->keys[i].link);
}

/* Forgets the intervals that weigh_keys has made. */
static void forget_keys(struct ppp_builder *p, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = p->first[p->keys[i].link]; k < p->first[p->keys[i].link + 1]; k++)
			p->trie.items[p->trie.items[p->ending[k]].parent].end = 0;
}

/* How wide the intervals of the prefixes at the node are: the sum, each as often as links leave it. */
static double width_of_keys(const struct ppp_builder *p, uint32_t count)
{
	double sum = 0;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = p->first[p->keys[i].link]; k < p->first[p->keys[i].link + 1]; k++) {
			const struct ppp_prefix *parent = &p->trie.items[p->trie.items[p->ending[k]].parent];

			sum += (double)(parent->end - parent->low);
		}
	return sum;
}

static void weigh_best(struct ppp_builder *p, uint32_t count)
{
	double best = 0;

	for (unsigned int order = 0; order < PPP_EACH_BEST; order++) {
		double width;

		ppp_sort_keys(p, count, (enum ppp_order)order);
		weigh_keys(p, count);
		width = width_of_keys(p, count);
		forget_keys(p, count);
		if (!order || width < best) {
			best = width;
			memcpy(p->best_keys, p->keys, count * sizeof(*p->keys));
		}
	}
	memcpy(p->keys, p->best_keys, count * sizeof(*p->keys));
	weigh_keys(p, count);
}

void ppp_sort_keys(struct ppp_builder *p, uint32_t count, enum ppp_order order)
{
	if (count > 1 && order != PPP_GIVEN)
		qsort(p->keys, count, sizeof(*p->keys), comparisons[order]);
}

static void weigh_links(struct ppp_builder *p, uint32_t first, uint32_t end, enum ppp_order order)
{
	uint32_t count = ppp_collect_links(p, first, end);

	if (count > 1 && order == PPP_EACH_BEST) {
		weigh_best(p, count);
		return;
	}
	ppp_sort_keys(p, count, order);
	weigh_keys(p, count);
}

/* Weighs all links; false when that is not worth its time. */
static struct error *weigh(struct ppp_builder *p, enum ppp_order order, bool *is_done)
{
	*is_done = true;
	if (order == PPP_FIT_WIDE || order == PPP_FIT_MANY)
		return ppp_sum_sets(p, order == PPP_FIT_WIDE ? PPP_WIDE_FIRST : PPP_MANY_FIRST, is_done);
	reset_intervals(p);
	for (uint32_t i = p->g->node_count; i-- > 0;)
		weigh_links(p, p->g->first_edge[p->order[i]], p->g->first_edge[p->order[i] + 1], order);
	weigh_links(p, p->g->edge_count, p->link_count, order);
	return NULL;
}

static uint64_t interval_of(const struct ppp_builder *p)
{
	return (uint64_t)(p->trie.items[PPP_ROOT].end - p->trie.items[PPP_ROOT].low);
}

static void keep(const struct ppp_builder *p, struct ppp_numbering *ret)
{
	if (p->g->edge_count)
		memcpy(ret->edge_weights, p->weights, p->g->edge_count * sizeof(*p->weights));
	memcpy(ret->start_weights, p->weights + p->g->edge_count, p->n->start_count * sizeof(*p->weights));
	ret->lowest = p->trie.items[PPP_ROOT].low;
	ret->interval = interval_of(p);
	ret->alpha = (double)ret->interval / p->count;
}

/* ---- all of it ---- */

struct error *ppp_number_in_orders(const struct cfg *g, const struct path_numbering *n, const uint64_t *interesting,
				   uint32_t count, enum ppp_order first, enum ppp_order last, struct arena *arena,
				   struct ppp_numbering *ret)
{
	struct ppp_builder p = {.g = g, .n = n, .count = count};
	struct ppp_numbering made = {0};
	struct arena scratch;
	struct error *err;

	made.start_weights = arena_calloc(arena, n->start_count, sizeof(*made.start_weights));
	made.edge_weights = arena_calloc(arena, g->edge_count, sizeof(*made.edge_weights));
	if (!made.start_weights || !made.edge_weights)
		return &error_no_memory;
	arena_init(&scratch);
	err = sort_numbers(&p, interesting, &scratch);
	if (!err && count)
		err = build_trie(&p, &scratch);
	if (!err && count)
		err = index_trie(&p, &scratch);
	/* no order can do better than one number for each path */
	for (unsigned int order = first; !err && count && order <= last && made.interval != count; order++) {
		bool is_done = false;

		err = weigh(&p, (enum ppp_order)order, &is_done);
		if (!err && is_done && (!made.interval || interval_of(&p) < made.interval))
			keep(&p, &made);
	}
	if (!err)
		*ret = made;
	ppp_prefixes_deinit(&p.trie);
	arena_deinit(&scratch);
	return err;
}

struct error *ppp_number(const struct cfg *g, const struct path_numbering *n, const uint64_t *interesting,
			 uint32_t count, struct arena *arena, struct ppp_numbering *ret)
{
	return ppp_number_in_orders(g, n, interesting, count, 0, PPP_ORDERS - 1, arena, ret);
}

/* ---- packing ---- */

/* sums[i]: PPP number of interesting[i], from 0 on. */
static struct error *sum_paths(const struct cfg *g, const struct path_numbering *n, const struct ppp_numbering *p,
			       const uint64_t *interesting, uint32_t count, uint64_t *sums)
{
	struct path path = {.edges = malloc(g->node_count * sizeof(uint32_t))};

	if (!path.edges)
		return &error_no_memory;
	for (uint32_t i = 0; i < count; i++) {
		int64_t sum;

		path_regenerate(g, n, interesting[i], &path);
		sum = p->start_weights[path.start] - p->lowest;
		for (uint32_t k = 0; k < path.edge_count; k++)
			sum += p->edge_weights[path.edges[k]];
		if (path.end_edge != NO_EDGE)
			sum += p->edge_weights[path.end_edge];
		sums[i] = (uint64_t)sum;
	}
	free(path.edges);
	return NULL;
}

static uint64_t low_bits(uint64_t value, unsigned int bits)
{
	return value & ((UINT64_C(1) << bits) - 1);
}

/* is_used: zeroed, a bit for each of 2^bits; zeroed again after. */
static bool is_distinct(const uint64_t *sums, uint32_t count, unsigned int bits, uint8_t *is_used)
{
	uint32_t used = 0;

	for (; used < count; used++) {
		uint64_t index = low_bits(sums[used], bits);

		if (is_used[index / 8] & 1 << index % 8)
			break;
		is_used[index / 8] |= (uint8_t)(1 << index % 8);
	}
	for (uint32_t i = 0; i < used; i++)
		is_used[low_bits(sums[i], bits) / 8] = 0;
	return used == count;
}

/* How many bits number `count` things from 0 on. */
static unsigned int bits_for(uint64_t count)
{
	unsigned int bits = 0;

	while (UINT64_C(1) << bits < count)
		bits++;
	return bits;
}

/* The smallest number of bits, up to max_bits, that keep all sums apart, which are below interval. */
static struct error *find_bits(const uint64_t *sums, uint32_t count, uint64_t interval, unsigned int max_bits,
			       unsigned int *ret)
{
	unsigned int bits = bits_for(count), most = bits_for(interval);
	uint8_t *is_used;
	bool is_found = false;

	most = most < max_bits ? most : max_bits;
	is_used = calloc((UINT64_C(1) << most) / 8 + 1, 1);
	if (!is_used)
		return &error_no_memory;
	for (; bits <= most; bits++) {
		is_found = is_distinct(sums, count, bits, is_used);
		if (is_found)
			break;
	}
	free(is_used);
	if (!is_found)
		return error_create(ERROR_OVERFLOW, "%u interesting paths need a table of more than 2^%u entries",
				    count, max_bits);
	*ret = bits;
	return NULL;
}

static uint64_t pack(uint64_t value, int64_t weight, unsigned int bits)
{
	return value + (bits ? (uint64_t)weight << (64 - bits) : 0);
}

static struct error *fill_table(const struct cfg *g, const struct path_numbering *n, const struct ppp_numbering *p,
				const uint64_t *interesting, const uint64_t *sums, uint32_t count, struct arena *arena,
				struct ppp_table *t)
{
	t->start_values = arena_calloc(arena, n->start_count, sizeof(*t->start_values));
	t->edge_values = arena_calloc(arena, g->edge_count, sizeof(*t->edge_values));
	t->checks = arena_calloc(arena, (size_t)1 << t->bits, sizeof(*t->checks));
	if (!t->start_values || !t->edge_values || !t->checks)
		return &error_no_memory;
	for (uint32_t i = 0; i < n->start_count; i++)
		t->start_values[i] = pack(n->start_values[i] + 1, p->start_weights[i] - p->lowest, t->bits);
	for (uint32_t e = 0; e < g->edge_count; e++)
		t->edge_values[e] = pack(n->edge_values[e], p->edge_weights[e], t->bits);
	for (uint32_t i = 0; i < count; i++)
		t->checks[low_bits(sums[i], t->bits)] = pack(interesting[i] + 1, (int64_t)sums[i], t->bits);
	return NULL;
}

struct error *ppp_pack(const struct cfg *g, const struct path_numbering *n, const struct ppp_numbering *p,
		       const uint64_t *interesting, uint32_t count, unsigned int max_bits, struct arena *arena,
		       struct ppp_table *ret)
{
	struct ppp_table made = {0};
	uint64_t *sums = malloc(((size_t)count + 1) * sizeof(*sums));
	struct error *err;

	if (!sums)
		return &error_no_memory;
	err = sum_paths(g, n, p, interesting, count, sums);
	if (!err)
		err = find_bits(sums, count, p->interval, max_bits, &made.bits);
	if (!err && made.bits && n->path_count >= UINT64_C(1) << (64 - made.bits))
		err = error_create(ERROR_OVERFLOW, "%llu paths do not fit %u bits beside a table of 2^%u entries",
				   (unsigned long long)n->path_count, 64 - made.bits, made.bits);
	if (!err)
		err = fill_table(g, n, p, interesting, sums, count, arena, &made);
	free(sums);
	if (!err)
		*ret = made;
	return err;
}
