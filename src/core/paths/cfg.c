/*
 * cfg.c - cuts the control flow of a function so that its paths are finitely many, and not too many.
 *
 * Cycles: the retreating edges of a depth-first search (Ball and Larus, MICRO'96, section 3.4). Numbers of paths: nodes are
 * taken in reverse topological order; where the paths from a node pass a limit, out-edges are cut, after which each counts
 * as one path. A cut makes its target a start, so the sum over all starts has to stay below the limit, too: when it does
 * not, all is done again with half the paths for each node. Both searches are iterative.
 */
#include "core/paths/cfg.h"

#include "core/paths/cfg_single_loops.h"

#include <stdlib.h>
#include <string.h>

bool cfg_node_ends(const struct cfg *g, uint32_t node)
{
	uint32_t first = g->first_edge[node];

	return first == g->first_edge[node + 1] || g->edges[first].cut == CFG_CUT_JUMP ||
	       g->edges[first].cut == CFG_CUT_TWICE;
}

/* ---- order ---- */

struct error *cfg_order(const struct cfg *g, uint32_t *order)
{
	uint32_t *waits = calloc(g->node_count, sizeof(*waits)); /* for how many kept edges */
	uint32_t count = 0;

	if (!waits)
		return &error_no_memory;
	for (uint32_t e = 0; e < g->edge_count; e++)
		waits[g->edges[e].to] += g->edges[e].cut == CFG_KEPT;
	for (uint32_t n = 0; n < g->node_count; n++)
		if (!waits[n])
			order[count++] = n;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t e = g->first_edge[order[i]]; e < g->first_edge[order[i] + 1]; e++)
			if (g->edges[e].cut == CFG_KEPT && --waits[g->edges[e].to] == 0)
				order[count++] = g->edges[e].to;
	free(waits);
	if (count < g->node_count)
		return error_create(ERROR_FORMAT,
				    "control flow: %u of %u nodes lie on or after a cycle that is not cut",
				    g->node_count - count, g->node_count);
	return NULL;
}

/* ---- check ---- */

static struct error *check_node(const struct cfg *g, uint32_t n)
{
	uint32_t first = g->first_edge[n], end = g->first_edge[n + 1], ends = 0;

	if (end < first || end > g->edge_count)
		return error_create(ERROR_FORMAT, "control flow: node %u has edges %u to %u of %u", n, first, end,
				    g->edge_count);
	for (uint32_t e = first; e < end; e++) {
		const struct cfg_edge *edge = &g->edges[e];

		if (edge->from != n || edge->to >= g->node_count || !edge->to)
			return error_create(ERROR_FORMAT, "control flow: edge %u of node %u leads from %u to %u of %u",
					    e, n, edge->from, edge->to, g->node_count);
		if ((unsigned int)edge->cut >= CFG_CUTS)
			return error_create(ERROR_FORMAT, "control flow: edge %u has unknown cut %u", e,
					    (unsigned int)edge->cut);
		if (edge->is_fixed && cfg_edge_ends(edge))
			return error_create(ERROR_FORMAT,
					    "control flow: a path ends on edge %u, which can have no code", e);
		if (edge->cut == CFG_CUT_TWICE && end - first != 1)
			return error_create(ERROR_FORMAT,
					    "control flow: edge %u of a call that returns twice is one of %u", e,
					    end - first);
		ends += edge->cut == CFG_CUT_JUMP;
	}
	if (ends && ends != end - first)
		return error_create(ERROR_FORMAT, "control flow: %u of the %u edges of node %u are jumps", ends,
				    end - first, n);
	return NULL;
}

static struct error *check_reach(const struct cfg *g)
{
	uint32_t *list = malloc(g->node_count * sizeof(*list));
	bool *is_reached = calloc(g->node_count, sizeof(*is_reached));
	struct error *err = NULL;
	uint32_t count = 0;

	if (!list || !is_reached) {
		err = &error_no_memory;
		goto out;
	}
	is_reached[0] = true;
	list[count++] = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t e = g->first_edge[list[i]]; e < g->first_edge[list[i] + 1]; e++)
			if (!is_reached[g->edges[e].to]) {
				is_reached[g->edges[e].to] = true;
				list[count++] = g->edges[e].to;
			}
	if (count < g->node_count)
		err = error_create(ERROR_FORMAT, "control flow: only %u of %u nodes can be reached", count,
				   g->node_count);
out:
	free(list);
	free(is_reached);
	return err;
}

struct error *cfg_check(const struct cfg *g)
{
	struct error *err;
	uint32_t *order;

	if (!g->node_count || g->node_count == UINT32_MAX || g->edge_count == UINT32_MAX)
		return error_create(ERROR_FORMAT, "control flow: %u nodes and %u edges", g->node_count, g->edge_count);
	if (g->first_edge[0] || g->first_edge[g->node_count] != g->edge_count)
		return error_create(ERROR_FORMAT, "control flow: edges %u to %u of %u have nodes", g->first_edge[0],
				    g->first_edge[g->node_count], g->edge_count);
	for (uint32_t n = 0; n < g->node_count; n++) {
		err = check_node(g, n);
		if (err)
			return err;
	}
	err = check_reach(g);
	if (err)
		return err;
	order = malloc(g->node_count * sizeof(*order));
	if (!order)
		return &error_no_memory;
	err = cfg_order(g, order);
	free(order);
	return err ? err : cfg_check_iterations(g);
}

/* ---- cycles ---- */

static void cut_all(struct cfg *g, uint32_t node)
{
	for (uint32_t e = g->first_edge[node]; e < g->first_edge[node + 1]; e++)
		g->edges[e].cut = CFG_CUT_JUMP;
}

enum search_state {
	NODE_UNSEEN = 0,
	NODE_PENDING, /* target of a cut edge, to be searched from */
	NODE_ON_PATH,
	NODE_DONE,
};

struct search {
	struct cfg *g;
	uint8_t *state;    /* enum search_state, of each node */
	uint32_t *next;    /* of each node: the next edge to follow */
	uint32_t *path;    /* nodes, from where the search began to where it is */
	uint32_t *pending; /* at most every node once */
	uint32_t pending_count;
};

static void search_edge(struct search *s, struct cfg_edge *edge, uint32_t *path_len)
{
	uint8_t *state = &s->state[edge->to];

	if (edge->cut == CFG_KEPT && *state == NODE_ON_PATH) {
		if (edge->is_fixed)
			cut_all(s->g, edge->from);
		else
			edge->cut = CFG_CUT_BACK;
	} else if (edge->cut == CFG_KEPT && *state != NODE_DONE) {
		*state = NODE_ON_PATH;
		s->path[(*path_len)++] = edge->to;
	} else if (*state == NODE_UNSEEN) {
		*state = NODE_PENDING;
		s->pending[s->pending_count++] = edge->to;
	}
}

static void search_from(struct search *s, uint32_t start)
{
	uint32_t path_len = 0;

	s->state[start] = NODE_ON_PATH;
	s->path[path_len++] = start;
	while (path_len) {
		uint32_t node = s->path[path_len - 1];

		if (s->next[node] < s->g->first_edge[node + 1]) {
			search_edge(s, &s->g->edges[s->next[node]++], &path_len);
		} else {
			s->state[node] = NODE_DONE;
			path_len--;
		}
	}
}

struct error *cfg_cut_cycles(struct cfg *g)
{
	uint32_t *scratch = malloc(3 * (size_t)g->node_count * sizeof(*scratch));
	struct search s = {.g = g, .state = calloc(g->node_count, 1)};

	if (!scratch || !s.state) {
		free(scratch);
		free(s.state);
		return &error_no_memory;
	}
	s.next = scratch;
	s.path = scratch + g->node_count;
	s.pending = scratch + 2 * (size_t)g->node_count;
	memcpy(s.next, g->first_edge, g->node_count * sizeof(*s.next));
	search_from(&s, 0);
	for (uint32_t i = 0; i < s.pending_count; i++)
		if (s.state[s.pending[i]] == NODE_PENDING)
			search_from(&s, s.pending[i]);
	free(scratch);
	free(s.state);
	return NULL;
}

/* ---- too many paths ---- */

/* Part of a node's frequency from which on a cut is warm: see reduce_node. */
static const double WARM = 1.0 / 64;

__extension__ typedef unsigned __int128 uint128;

struct candidate {
	uint32_t edge;
	bool is_fixed;
	double frequency;
};

struct splitter {
	struct cfg *g;
	uint32_t *order;
	uint64_t *paths; /* of each node, UINT64_MAX for more */
	enum cfg_cut *original;
	bool *is_start;
	struct candidate *candidates; /* room for the out-edges of any node */
};

static double frequency_of(const struct cfg_edge *edge)
{
	return edge->frequency > 0 ? edge->frequency : 0;
}

/* The order of cutting: edges that can have code first, then cold ones, then the later ones. */
static int candidate_compare(const void *left, const void *right)
{
	const struct candidate *l = left, *r = right;

	if (l->is_fixed != r->is_fixed)
		return l->is_fixed - r->is_fixed;
	if (l->frequency < r->frequency || l->frequency > r->frequency)
		return l->frequency < r->frequency ? -1 : 1;
	return l->edge < r->edge ? 1 : -1;
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t edge_paths(const struct splitter *s, uint32_t e)
{
	return s->g->edges[e].cut == CFG_KEPT ? s->paths[s->g->edges[e].to] : 1;
}

static uint64_t sum_of(const struct splitter *s, uint32_t node)
{
	uint64_t sum = 0;

	if (cfg_node_ends(s->g, node))
		return 1 + s->g->may_be_left;
	sum = s->g->may_be_left;
	for (uint32_t e = s->g->first_edge[node]; e < s->g->first_edge[node + 1]; e++)
		sum = add_saturated(sum, edge_paths(s, e));
	return sum;
}

static uint32_t collect(struct splitter *s, uint32_t node, double *total)
{
	uint32_t count = 0;

	*total = 0;
	for (uint32_t e = s->g->first_edge[node]; e < s->g->first_edge[node + 1]; e++) {
		*total += frequency_of(&s->g->edges[e]);
		/* one path now, one path when cut: nothing to gain */
		if (edge_paths(s, e) > 1)
			s->candidates[count++] =
				(struct candidate){e, s->g->edges[e].is_fixed, frequency_of(&s->g->edges[e])};
	}
	qsort(s->candidates, count, sizeof(*s->candidates), candidate_compare);
	return count;
}

/* Keeps again what there is room for, the hottest first: cold edges whose cut did not help. */
static uint64_t keep_again(struct splitter *s, uint64_t sum, uint32_t cut_count, uint64_t limit)
{
	while (cut_count-- > 0) {
		struct cfg_edge *edge = &s->g->edges[s->candidates[cut_count].edge];

		if (s->paths[edge->to] <= limit && sum - 1 <= limit - s->paths[edge->to]) {
			sum += s->paths[edge->to] - 1;
			edge->cut = CFG_KEPT;
		}
	}
	return sum;
}

/*
 * Brings the paths from a node down to the limit, which those from all later nodes keep.
 *
 * Cutting just enough leaves it near the limit, so the next branch above is cut as well, and the next: good as long as the
 * edges cut are cold. Where they are warm all long edges are cut at once, and the branches above have room again.
 */
static uint64_t reduce_node(struct splitter *s, uint32_t node, uint64_t limit)
{
	uint32_t first = s->g->first_edge[node], degree = s->g->first_edge[node + 1] - first;
	uint64_t target = limit;
	uint32_t count, cut_count = 0;
	double total, cut = 0;
	uint128 sum = s->g->may_be_left;

	if (degree + sum > limit) {
		cut_all(s->g, node);
		return 1 + s->g->may_be_left;
	}
	for (uint32_t e = first; e < first + degree; e++)
		sum += edge_paths(s, e);
	for (count = collect(s, node, &total); cut_count < count; cut_count++) {
		struct candidate *c = &s->candidates[cut_count];

		if (sum <= target && cut >= total * WARM)
			target = limit >> 32 > degree ? limit >> 32 : degree;
		if (sum <= target || (c->is_fixed && sum <= limit))
			break;
		if (c->is_fixed) {
			cut_all(s->g, node);
			return 1 + s->g->may_be_left;
		}
		sum -= edge_paths(s, c->edge) - 1;
		s->g->edges[c->edge].cut = CFG_CUT_SPLIT;
		cut += c->frequency;
	}
	return keep_again(s, (uint64_t)sum, cut_count, target);
}

/* At most node_limit paths from each node; returns how many paths there are. */
static uint64_t split_with(struct splitter *s, uint64_t node_limit)
{
	const struct cfg *g = s->g;
	uint64_t sum = 0;

	for (uint32_t e = 0; e < g->edge_count; e++)
		g->edges[e].cut = s->original[e];
	for (uint32_t i = g->node_count; i-- > 0;) {
		uint32_t n = s->order[i];

		s->paths[n] = sum_of(s, n);
		if (s->paths[n] > node_limit)
			s->paths[n] = reduce_node(s, n, node_limit);
	}
	memset(s->is_start, 0, g->node_count * sizeof(*s->is_start));
	s->is_start[0] = true;
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].cut != CFG_KEPT)
			s->is_start[g->edges[e].to] = true;
	for (uint32_t n = 0; n < g->node_count; n++)
		if (s->is_start[n])
			sum = add_saturated(sum, s->paths[n]);
	return sum;
}

/*
 * With limit / node_count paths from each node the sum is within the limit whatever is cut.
 *
 * Limits after the first are no powers of two: branches that double the number of paths then never use one up to the last, and
 * there is room for the paths that end on cold edges.
 */
static void split(struct splitter *s, uint64_t limit)
{
	uint64_t last = limit / s->g->node_count, node_limit = limit;

	if (last < 2)
		last = 2;
	while (split_with(s, node_limit) > limit && node_limit > last) {
		node_limit = node_limit == limit ? limit / 32 * 15 : node_limit / 2;
		if (node_limit < last)
			node_limit = last;
	}
}

static uint32_t largest_degree(const struct cfg *g)
{
	uint32_t degree = 1;

	for (uint32_t n = 0; n < g->node_count; n++)
		if (g->first_edge[n + 1] - g->first_edge[n] > degree)
			degree = g->first_edge[n + 1] - g->first_edge[n];
	return degree;
}

static struct error *splitter_init(struct splitter *s, struct cfg *g)
{
	*s = (struct splitter){.g = g};
	s->order = malloc(g->node_count * sizeof(*s->order));
	s->paths = malloc(g->node_count * sizeof(*s->paths));
	s->is_start = malloc(g->node_count * sizeof(*s->is_start));
	s->original = malloc(((size_t)g->edge_count + 1) * sizeof(*s->original));
	s->candidates = malloc(largest_degree(g) * sizeof(*s->candidates));
	if (!s->order || !s->paths || !s->is_start || !s->original || !s->candidates)
		return &error_no_memory;
	for (uint32_t e = 0; e < g->edge_count; e++)
		s->original[e] = g->edges[e].cut;
	return cfg_order(g, s->order);
}

static void splitter_deinit(struct splitter *s)
{
	free(s->order);
	free(s->paths);
	free(s->is_start);
	free(s->original);
	free(s->candidates);
}

struct error *cfg_split(struct cfg *g, uint64_t limit, uint32_t *ret)
{
	struct splitter s;
	struct error *err = splitter_init(&s, g);
	uint32_t count = 0;

	if (!err)
		split(&s, limit);
	for (uint32_t e = 0; !err && e < g->edge_count; e++)
		count += s.original[e] == CFG_KEPT && g->edges[e].cut != CFG_KEPT;
	if (!err)
		*ret = count;
	splitter_deinit(&s);
	return err;
}

static uint32_t cut_loop_entries(struct cfg *g, bool *is_head)
{
	uint32_t count = 0;

	memset(is_head, 0, g->node_count * sizeof(*is_head));
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].cut == CFG_CUT_BACK)
			is_head[g->edges[e].to] = true;
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].cut == CFG_KEPT && is_head[g->edges[e].to] && !g->edges[e].is_fixed) {
			g->edges[e].cut = CFG_CUT_SPLIT;
			count++;
		}
	return count;
}

struct error *cfg_split_loops(struct cfg *g, uint64_t limit, uint32_t *ret)
{
	struct splitter s;
	struct error *err = splitter_init(&s, g);

	if (!err)
		*ret = split_with(&s, UINT64_MAX) > limit ? cut_loop_entries(g, s.is_start) : 0;
	splitter_deinit(&s);
	return err;
}

uint32_t cfg_count_cuts(const struct cfg *g, enum cfg_cut cut)
{
	uint32_t count = 0;
	for (uint32_t e = 0; e < g->edge_count; e++)
		count += g->edges[e].cut == cut;
	return count;
}

unsigned int cfg_cuts_to(const struct cfg *g, uint32_t node)
{
	unsigned int cuts = 0;

	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].to == node)
			cuts |= 1u << g->edges[e].cut;
	return cuts & ~(1u << CFG_KEPT);
}
