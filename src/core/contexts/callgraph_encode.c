/*
 * callgraph_encode.c - numbers the contexts of a call graph (Algorithms 1 and 3 of the paper) and cuts where numbers run out (section 4).
 *
 *      backedge_mark      cycles are opened, nodes get a topological order
 *      number             each node in that order: edges by falling weight, sums checked, cuts
 *      ball_larus         the other numbering, for its maximum only
 *
 * Selective reduction. A node whose sum passes the limit keeps the incoming edges that are worth most for the numbers they
 * take (a knapsack, filled once by weight / numbers and once by weight; the better filling wins) and the others become push
 * edges. If a node may fill the whole range, the next join below it overflows again, and so on: it can be better to cut
 * once and deep. So when anything overflows, the numbering is also tried with the overflowing nodes filled only to powers
 * 3/4, 1/2 and 1/4 of the limit, and of the four the one whose cut edges weigh least stays.
 */
#include "base/sort.h"
#include "base/sum.h"
#include "core/contexts/backedge.h"

enum {
	FILLINGS = 4,
};

/* An incoming edge of the node at work. */
struct candidate {
	uint64_t weight;
	uint64_t contexts; /* of the caller: the numbers it takes */
	uint32_t edge;
	bool is_bare;
	bool in_dense; /* kept by the filling by weight / numbers */
	bool in_heavy; /* kept by the filling by weight */
};

struct numbering {
	struct callgraph *g;
	const struct adjacency *in;
	const uint32_t *order;
	uint64_t limit; /* contexts a node may have */
	bool roots_set_id;
	bool small_addends;
	unsigned int weight_shift;
	struct candidate *candidates; /* room for all incoming edges of one node */
	struct candidate *scratch;    /* as much, for sorting them */
	uint64_t pushed_weight;       /* of the node at work: what its dummy stands for */
	uint64_t cut_cost;            /* of the present numbering */
};

static inline int compare_heavy(const struct candidate *l, const struct candidate *r)
{
	uint64_t l_worth = callgraph_worth(l->weight, l->is_bare), r_worth = callgraph_worth(r->weight, r->is_bare);

	if (l_worth != r_worth)
		return l_worth > r_worth ? -1 : 1;
	if (l->is_bare != r->is_bare)
		return l->is_bare ? -1 : 1;
	if (l->contexts != r->contexts)
		return l->contexts < r->contexts ? -1 : 1;
	return l->edge < r->edge ? -1 : l->edge > r->edge;
}

static inline int compare_dense(const struct candidate *l, const struct candidate *r)
{
	unsigned __int128 l_worth = (unsigned __int128)l->weight * r->contexts;
	unsigned __int128 r_worth = (unsigned __int128)r->weight * l->contexts;

	if (l_worth != r_worth)
		return l_worth > r_worth ? -1 : 1;
	if (l->contexts != r->contexts)
		return l->contexts < r->contexts ? -1 : 1;
	return l->edge < r->edge ? -1 : l->edge > r->edge;
}

static inline int compare_small(const struct candidate *l, const struct candidate *r)
{
	if (l->contexts != r->contexts)
		return l->contexts < r->contexts ? -1 : 1;
	return compare_heavy(l, r);
}

SORT_DECLARE(heavy, struct candidate, compare_heavy);
SORT_DECLARE(dense, struct candidate, compare_dense);
SORT_DECLARE(small, struct candidate, compare_small);

/* ---- one node ---- */

/* Fills room with candidates in the order they are in; returns the weight kept. */
static uint64_t fill(const struct numbering *nb, uint32_t count, uint64_t room, bool is_dense)
{
	uint64_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct candidate *c = &nb->candidates[i];
		bool fits = c->contexts <= room;

		if (fits) {
			room -= c->contexts;
			kept += (c->weight >> nb->weight_shift) + 1;
		}
		*(is_dense ? &c->in_dense : &c->in_heavy) = fits;
	}
	return kept;
}

/* Makes a candidate a cut edge: it goes to the end of the node's group, below *tail. */
static void cut(struct numbering *nb, const struct candidate *c, uint32_t *group, uint32_t *tail)
{
	nb->g->edges[c->edge].kind = EDGE_CUT;
	nb->pushed_weight = sum_limited(nb->pushed_weight, c->weight);
	group[--*tail] = c->edge;
}

/* Cuts bare edges: only the first of all edges can be encoded if bare. Leaves *count candidates, by falling weight. Any filling cuts
 * these edges, so this costs the numbering nothing. */
static void cut_bare(struct numbering *nb, const struct callgraph_node *node, uint32_t *group, uint32_t *tail,
		     uint32_t *count)
{
	bool has_zero = !node->is_root || nb->roots_set_id; /* else the dummy is 0 */
	uint32_t kept = 0;

	heavy_sort(nb->candidates, *count, nb->scratch);
	for (uint32_t i = 0; i < *count; i++) {
		struct candidate c = nb->candidates[i];

		if (c.is_bare && (i > 0 || !has_zero))
			cut(nb, &c, group, tail);
		else
			nb->candidates[kept++] = c;
	}
	*count = kept;
}

/* Cuts edges of node n until the rest take at most room numbers. The kept candidates stay in front, by falling weight, and
 * *count is how many; the cut edges go to the end of the node's group, below *tail. */
static void cut_candidates(struct numbering *nb, uint32_t *group, uint32_t *tail, uint32_t *count, uint64_t room)
{
	uint64_t dense, heavy;
	uint32_t kept = 0;

	dense_sort(nb->candidates, *count, nb->scratch);
	dense = fill(nb, *count, room, true);
	heavy_sort(nb->candidates, *count, nb->scratch);
	heavy = fill(nb, *count, room, false);
	for (uint32_t i = 0; i < *count; i++) {
		struct candidate c = nb->candidates[i];

		if (heavy >= dense ? c.in_heavy : c.in_dense) {
			nb->candidates[kept++] = c;
			continue;
		}
		nb->cut_cost += (c.weight >> nb->weight_shift) + 1;
		cut(nb, &c, group, tail);
	}
	*count = kept;
}

/* Does the dummy come before the candidate of this rank? */
static bool dummy_comes_first(const struct numbering *nb, const struct callgraph_node *node, uint32_t rank)
{
	if (node->is_root)
		return rank > 0 || !nb->roots_set_id;
	return rank > 0 && (nb->small_addends || nb->candidates[rank].weight < nb->pushed_weight);
}

/* Gives each kept candidate, and the dummy, its range. */
static void place(struct numbering *nb, struct callgraph_node *node, uint32_t *group, uint32_t count)
{
	bool is_waiting = node->has_dummy;
	uint64_t next = 0;

	if (nb->small_addends && count > 2)
		small_sort(nb->candidates + 1, count - 1, nb->scratch);
	for (uint32_t i = 0; i < count; i++) {
		const struct candidate *c = &nb->candidates[i];

		if (is_waiting && dummy_comes_first(nb, node, i)) {
			node->restart = next++;
			is_waiting = false;
		}
		nb->g->edges[c->edge].addend = next;
		group[i] = c->edge;
		next += c->contexts;
	}
	if (is_waiting)
		node->restart = next++;
	node->contexts = next;
}

/*
 * Numbers node n, whose callers are done. Afterwards its group of incoming edges is
 *      kept, by rising addend | cut | back, or to be pushed
 */
static void number_node(struct numbering *nb, uint32_t n, uint64_t filling)
{
	struct callgraph_node *node = &nb->g->nodes[n];
	uint32_t *group = nb->in->edges + nb->in->start[n];
	uint32_t degree = nb->in->start[n + 1] - nb->in->start[n];
	uint32_t count = 0, tail = degree;
	bool has_bare = false;
	uint64_t sum;

	nb->pushed_weight = 0;
	while (count < tail) {
		uint32_t e = group[count];
		struct callgraph_edge *edge = &nb->g->edges[e];

		if (edge->kind == EDGE_BACK || edge->is_pushed) {
			if (edge->kind != EDGE_BACK)
				edge->kind = EDGE_CUT;
			nb->pushed_weight = sum_limited(nb->pushed_weight, edge->weight);
			group[count] = group[--tail];
			group[tail] = e;
			continue;
		}
		edge->kind = EDGE_ENCODED;
		has_bare |= edge->is_bare;
		nb->candidates[count++] = (struct candidate){.weight = edge->weight,
							     .contexts = nb->g->nodes[edge->caller].contexts,
							     .edge = e,
							     .is_bare = edge->is_bare};
	}
	if (has_bare)
		cut_bare(nb, node, group, &tail, &count);
	node->has_dummy = node->is_root || tail < degree || count == 0;
	node->restart = 0;
	sum = node->has_dummy;
	for (uint32_t i = 0; i < count; i++)
		sum = sum_limited(sum, nb->candidates[i].contexts);
	if (sum > nb->limit) {
		/* One number is the dummy's, which a cut edge needs. */
		node->has_dummy = true;
		cut_candidates(nb, group, &tail, &count, filling < nb->limit ? filling : nb->limit - 1);
	} else {
		heavy_sort(nb->candidates, count, nb->scratch);
	}
	place(nb, node, group, count);
}

/* ---- the whole graph ---- */

/* Returns what the cut edges weigh. */
static uint64_t number_all(struct numbering *nb, uint64_t filling)
{
	nb->cut_cost = 0;
	for (uint32_t i = 0; i < nb->g->node_count; i++)
		number_node(nb, nb->order[i], filling);
	return nb->cut_cost;
}

/* Powers 4/4, 3/4, 1/2 and 1/4 of the limit, roughly. */
static uint64_t filling_of(const struct numbering *nb, unsigned int step)
{
	unsigned int bits = 63 - (unsigned int)__builtin_clzll(nb->limit);

	return step ? UINT64_C(1) << (bits * (FILLINGS - step) / FILLINGS) : nb->limit;
}

static struct error *number(struct numbering *nb)
{
	uint64_t best_cost, cost;
	unsigned int best = 0, tried = 0;
	uint32_t most = 1;

	for (uint32_t n = 0; n < nb->g->node_count; n++)
		if (nb->in->start[n + 1] - nb->in->start[n] > most)
			most = nb->in->start[n + 1] - nb->in->start[n];
	nb->candidates = allocator_alloc(nb->g->allocator, (size_t)most * 2, sizeof(*nb->candidates));
	if (!nb->candidates)
		return &error_no_memory;
	nb->scratch = nb->candidates + most;
	nb->weight_shift = backedge_weight_shift(nb->g);
	best_cost = number_all(nb, filling_of(nb, 0));
	while (best_cost && ++tried < FILLINGS) {
		cost = number_all(nb, filling_of(nb, tried));
		if (cost < best_cost) {
			best_cost = cost;
			best = tried;
		}
	}
	if (tried && best != FILLINGS - 1)
		number_all(nb, filling_of(nb, best));
	allocator_free(nb->g->allocator, nb->candidates);
	return NULL;
}

/* Paths from n on are 1 for a node without edges, else the sum over its callees; order backwards has the callees first. */
static struct error *ball_larus(const struct callgraph *g, const struct adjacency *out, const uint32_t *order,
				const struct adjacency *in, struct callgraph_stats *stats)
{
	uint64_t *paths = allocator_alloc(g->allocator, (size_t)g->node_count + 1, sizeof(*paths));
	uint64_t total = 0;

	if (!paths)
		return &error_no_memory;
	for (uint32_t i = g->node_count; i-- > 0;) {
		uint32_t n = order[i];
		bool is_start = g->nodes[n].is_root, has_caller = false;

		paths[n] = 0;
		for (uint32_t k = out->start[n]; k < out->start[n + 1]; k++) {
			const struct callgraph_edge *edge = &g->edges[out->edges[k]];

			if (edge->kind != EDGE_BACK)
				paths[n] = sum_limited(paths[n], paths[edge->callee]);
		}
		if (!paths[n])
			paths[n] = 1;
		for (uint32_t k = in->start[n]; k < in->start[n + 1]; k++) {
			if (g->edges[in->edges[k]].kind == EDGE_BACK)
				is_start = true;
			else
				has_caller = true;
		}
		if (is_start || !has_caller)
			total = sum_limited(total, paths[n]);
	}
	allocator_free(g->allocator, paths);
	stats->ball_larus_overflowed = total == UINT64_MAX;
	stats->ball_larus_max_id = stats->ball_larus_overflowed || !total ? total : total - 1;
	return NULL;
}

/* Turns the groups of incoming edges into ranges. */
static struct error *build_ranges(struct callgraph *g, const struct adjacency *in)
{
	size_t room = 1;
	uint32_t filled = 0;

	for (uint32_t n = 0; n < g->node_count; n++)
		room += g->nodes[n].has_dummy;
	for (uint32_t e = 0; e < g->edge_count; e++)
		room += g->edges[e].kind == EDGE_ENCODED;
	g->range_start = allocator_calloc(g->allocator, (size_t)g->node_count + 1, sizeof(*g->range_start));
	g->ranges = allocator_alloc(g->allocator, room, sizeof(*g->ranges));
	if (!g->range_start || !g->ranges)
		return &error_no_memory;
	g->range_start_capacity = g->node_count + 1;
	g->range_capacity = (uint32_t)room;
	for (uint32_t n = 0; n < g->node_count; n++) {
		const struct callgraph_range dummy = {g->nodes[n].restart, n, CALLGRAPH_DUMMY};
		bool is_waiting = g->nodes[n].has_dummy;

		for (uint32_t k = in->start[n]; k < in->start[n + 1]; k++) {
			const struct callgraph_edge *edge = &g->edges[in->edges[k]];

			if (edge->kind != EDGE_ENCODED)
				break;
			if (is_waiting && dummy.first < edge->addend) {
				g->ranges[filled++] = dummy;
				is_waiting = false;
			}
			g->ranges[filled++] = (struct callgraph_range){edge->addend, edge->caller, in->edges[k]};
		}
		if (is_waiting)
			g->ranges[filled++] = dummy;
		g->range_start[n + 1] = filled;
	}
	g->is_gapless = true;
	g->is_encoded = true;
	return NULL;
}

static struct error *count(const struct callgraph *g, struct callgraph_stats *stats)
{
	uint8_t *is_cut = allocator_calloc(g->allocator, (size_t)g->node_count + 1, 1);

	if (!is_cut)
		return &error_no_memory;
	for (uint32_t n = 0; n < g->node_count; n++)
		if (g->nodes[n].contexts - 1 > stats->max_id)
			stats->max_id = g->nodes[n].contexts - 1;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct callgraph_edge *edge = &g->edges[e];

		stats->back_edges += edge->kind == EDGE_BACK;
		stats->zero_edges += edge->kind == EDGE_ENCODED && edge->addend == 0;
		if (edge->kind == EDGE_CUT) {
			stats->cut_edges++;
			stats->cut_nodes += !is_cut[edge->callee];
			is_cut[edge->callee] = 1;
		}
	}
	allocator_free(g->allocator, is_cut);
	return NULL;
}

/* The working memory of callgraph_encode. */
struct encoding {
	struct adjacency out, in;
	uint32_t *order;
};

static void encoding_deinit(const struct callgraph *g, struct encoding *e)
{
	allocator_free(g->allocator, e->order);
	adjacency_deinit(&e->out);
	adjacency_deinit(&e->in);
}

static struct error *encode(struct callgraph *g, const struct callgraph_options *options, struct encoding *e,
			    struct callgraph_stats *stats)
{
	uint64_t max_id = options && options->max_id && options->max_id < INT64_MAX ? options->max_id : INT64_MAX;
	struct numbering nb = {
		.g = g,
		.in = &e->in,
		.limit = max_id + 1,
		.roots_set_id = options && options->roots_set_id,
		.small_addends = options && options->small_addends,
	};
	struct error *err = adjacency_by_caller(g, &e->out);

	if (err)
		return err;
	err = adjacency_by_callee(g, &e->in);
	if (err)
		return err;
	nb.order = e->order = allocator_alloc(g->allocator, (size_t)g->node_count + 1, sizeof(*e->order));
	if (!e->order)
		return &error_no_memory;
	err = backedge_mark(g, &e->out, &e->in, options ? options->sift_budget : 0, e->order);
	if (err)
		return err;
	err = number(&nb);
	if (err)
		return err;
	err = ball_larus(g, &e->out, e->order, &e->in, stats);
	if (err)
		return err;
	err = count(g, stats);
	return err ? err : build_ranges(g, &e->in);
}

struct error *callgraph_encode(struct callgraph *g, const struct callgraph_options *options,
			       struct callgraph_stats *ret)
{
	struct callgraph_stats stats = {0};
	struct encoding e = {0};
	struct error *err;

	callgraph_forget_encoding(g);
	err = encode(g, options, &e, &stats);
	if (err)
		callgraph_forget_encoding(g);
	else if (ret)
		*ret = stats;
	encoding_deinit(g, &e);
	return err;
}
