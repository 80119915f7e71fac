/*
 * test_random.c - properties of encodings of random call graphs.
 *
 * usage: test_random [COUNT [SEED]]; every failure names the seed that repeats it with COUNT 1.
 *
 * Small graphs: all acyclic pieces are enumerated by brute force, and all contexts with pushes to a depth. Large ones: the
 * structure of the encoding is checked at every node, random walks are compared with a shadow stack, random ids are decoded
 * and added up again. Nothing here uses the core to know what is right.
 */
#include <stdlib.h>

#include "callcontext.h"
#include "graphs.h"
#include "seeds.h"

enum {
	MAX_PIECES = 200000, /* of one small graph */
	MAX_DEPTH = 7,       /* of contexts with pushes that are enumerated */
};

struct probe {
	struct callgraph g;
	struct callgraph_stats stats;
	uint64_t max_id;
	bool roots_set_id;
	bool small_addends;
	uint32_t *scratch; /* room for node_count edges */
	struct rng rng;
};

/* ---- structure ---- */

struct range {
	uint64_t first, count, weight;
	bool is_dummy;
};

static int range_compare(const void *left, const void *right)
{
	const struct range *l = left, *r = right;

	return l->first < r->first ? -1 : l->first > r->first;
}

/* Of two edges the one that comes first, when one of them can. */
static uint64_t worth(const struct callgraph_edge *edge)
{
	uint64_t ret;

	return __builtin_mul_overflow(edge->weight, edge->is_bare ? CALLGRAPH_BARE_COSTS : 1, &ret) ? UINT64_MAX : ret;
}

/* The ranges of node n, taken from the edges, fill [0, contexts) without a gap; the edge of most worth comes first, and behind it the others by worth or
 * by length. */
static void check_node(const struct probe *p, uint32_t n, struct range *ranges, uint32_t count, uint64_t pushed)
{
	const struct callgraph_node *node = &p->g.nodes[n];
	uint64_t next = 0, hottest = UINT64_MAX, largest = 0;
	bool has_first = false;

	qsort(ranges, count, sizeof(*ranges), range_compare);
	for (uint32_t i = 0; i < count; i++) {
		CHECK_U64(ranges[i].first, next);
		next += ranges[i].count;
		if (ranges[i].is_dummy) {
			if (node->is_root)
				CHECK_U64(i, p->roots_set_id && count > 1 ? 1 : 0);
			else
				CHECK((i > 0 || count == 1) &&
				      (i < 2 || (!p->small_addends && ranges[i - 1].weight >= pushed)));
			continue;
		}
		CHECK(ranges[i].weight <= hottest);
		if (p->small_addends && has_first) {
			CHECK(ranges[i].count >= largest);
			largest = ranges[i].count;
		} else {
			hottest = ranges[i].weight;
		}
		has_first = true;
	}
	CHECK_U64(node->contexts, next);
	CHECK(next > 0 && next - 1 <= p->max_id);
	CHECK(next - 1 <= p->stats.max_id);
}

/* Takes away nodes without encoded callers until none is left. */
static void check_acyclic(const struct callgraph *g)
{
	uint32_t *callers = calloc(g->node_count, sizeof(*callers)), *list = malloc(g->node_count * sizeof(*list));
	uint32_t *head = malloc(g->node_count * sizeof(*head)), *next = malloc((g->edge_count + 1) * sizeof(*next));
	uint32_t listed = 0;

	memset(head, 0xff, g->node_count * sizeof(*head));
	for (uint32_t e = 0; e < g->edge_count; e++) {
		if (g->edges[e].kind != EDGE_ENCODED)
			continue;
		callers[g->edges[e].callee]++;
		next[e] = head[g->edges[e].caller];
		head[g->edges[e].caller] = e;
	}
	for (uint32_t n = 0; n < g->node_count; n++)
		if (!callers[n])
			list[listed++] = n;
	for (uint32_t i = 0; i < listed; i++)
		for (uint32_t e = head[list[i]]; e != UINT32_MAX; e = next[e])
			if (--callers[g->edges[e].callee] == 0)
				list[listed++] = g->edges[e].callee;
	CHECK_U64(listed, g->node_count);
	free(callers);
	free(list);
	free(head);
	free(next);
}

/* Edges without room for an addend have none; where numbers suffice, the edge of most worth into a node is encoded if one is. */
static void check_bare(const struct probe *p)
{
	const struct callgraph *g = &p->g;
	uint32_t *hottest = malloc(g->node_count * sizeof(*hottest));

	memset(hottest, 0xff, g->node_count * sizeof(*hottest));
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct callgraph_edge *edge = &g->edges[e];
		uint32_t *best = &hottest[edge->callee];

		if (edge->is_bare && edge->kind == EDGE_ENCODED)
			CHECK_U64(edge->addend, 0);
		if (p->max_id == INT64_MAX && edge->kind == EDGE_CUT)
			CHECK(edge->is_bare || edge->is_pushed || p->stats.max_id > INT64_MAX / 4);
		CHECK(!edge->is_pushed || edge->kind != EDGE_ENCODED);
		if (edge->kind == EDGE_BACK || edge->is_pushed)
			continue;
		if (*best == UINT32_MAX || worth(edge) > worth(&g->edges[*best]) ||
		    (worth(edge) == worth(&g->edges[*best]) && edge->is_bare && !g->edges[*best].is_bare))
			*best = e;
	}
	for (uint32_t n = 0; n < g->node_count; n++)
		if (hottest[n] != UINT32_MAX && g->edges[hottest[n]].is_bare && p->max_id == INT64_MAX &&
		    p->stats.max_id < INT64_MAX / 4) {
			bool is_taken = g->nodes[n].is_root && !p->roots_set_id;
			const struct callgraph_range *first = &g->ranges[g->range_start[n]];

			CHECK((first->edge == CALLGRAPH_DUMMY) == is_taken);
			CHECK(is_taken || g->edges[first->edge].is_bare);
			CHECK(is_taken || worth(&g->edges[first->edge]) == worth(&g->edges[hottest[n]]));
		}
	free(hottest);
}

static void check_counts(const struct probe *p)
{
	struct callgraph_stats counted = {0};
	bool *is_cut = calloc(p->g.node_count, sizeof(*is_cut));

	for (uint32_t e = 0; e < p->g.edge_count; e++) {
		const struct callgraph_edge *edge = &p->g.edges[e];

		counted.back_edges += edge->kind == EDGE_BACK;
		counted.cut_edges += edge->kind == EDGE_CUT;
		counted.zero_edges += edge->kind == EDGE_ENCODED && edge->addend == 0;
		counted.cut_nodes += edge->kind == EDGE_CUT && !is_cut[edge->callee];
		is_cut[edge->callee] |= edge->kind == EDGE_CUT;
		if (edge->caller == edge->callee)
			CHECK(edge->kind == EDGE_BACK);
		if (edge->kind != EDGE_ENCODED)
			CHECK(p->g.nodes[edge->callee].has_dummy);
	}
	CHECK_U64(p->stats.back_edges, counted.back_edges);
	CHECK_U64(p->stats.cut_edges, counted.cut_edges);
	CHECK_U64(p->stats.cut_nodes, counted.cut_nodes);
	CHECK_U64(p->stats.zero_edges, counted.zero_edges);
	free(is_cut);
}

static void check_structure(const struct probe *p)
{
	const struct callgraph *g = &p->g;
	uint32_t *start = calloc((size_t)g->node_count + 1, sizeof(*start));
	struct range *ranges = malloc(((size_t)g->edge_count + g->node_count) * sizeof(*ranges));
	uint64_t *pushed = calloc(g->node_count, sizeof(*pushed));
	uint32_t end = 0;

	/* room for each node: its edges and its dummy, then filled from the back */
	for (uint32_t e = 0; e < g->edge_count; e++)
		start[g->edges[e].callee]++;
	for (uint32_t n = 0; n < g->node_count; n++) {
		end += start[n] + 1;
		start[n] = end;
	}
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct callgraph_edge *edge = &g->edges[e];

		if (edge->kind == EDGE_ENCODED)
			ranges[--start[edge->callee]] =
				(struct range){edge->addend, g->nodes[edge->caller].contexts, worth(edge), false};
		else if (__builtin_add_overflow(pushed[edge->callee], edge->weight, &pushed[edge->callee]))
			pushed[edge->callee] = UINT64_MAX;
	}
	for (uint32_t n = 0; n < g->node_count; n++) {
		const struct callgraph_node *node = &g->nodes[n];
		uint32_t count = g->range_start[n + 1] - g->range_start[n];

		if (node->has_dummy)
			ranges[--start[n]] = (struct range){node->restart, 1, 0, true};
		CHECK(count > 0);
		CHECK(!node->is_root || (node->has_dummy && (node->restart == 0 || p->roots_set_id)));
		check_node(p, n, ranges + start[n], count, pushed[n]);
		/* now sorted: the graph must have the same */
		for (uint32_t i = 0; i < count; i++) {
			const struct callgraph_range *range = &g->ranges[g->range_start[n] + i];

			CHECK_U64(range->first, ranges[start[n] + i].first);
			CHECK((range->edge == CALLGRAPH_DUMMY) == ranges[start[n] + i].is_dummy);
			CHECK(range->caller == (range->edge == CALLGRAPH_DUMMY ? n : g->edges[range->edge].caller));
		}
	}
	check_acyclic(g);
	check_counts(p);
	check_bare(p);
	free(start);
	free(ranges);
	free(pushed);
}

/* ---- small graphs: everything ---- */

struct piece {
	uint64_t id;
	uint32_t node;
};

VEC_DECLARE(pieces, struct piece);

static int piece_compare(const void *left, const void *right)
{
	const struct piece *l = left, *r = right;

	if (l->node != r->node)
		return l->node < r->node ? -1 : 1;
	return l->id < r->id ? -1 : l->id > r->id;
}

/* Depth-first over all acyclic pieces from `start`, which path[0 .. depth) has led away from. */
static void enumerate_pieces(const struct probe *p, uint32_t start, uint32_t node, uint64_t id, uint32_t *path,
			     uint32_t depth, struct pieces *found)
{
	uint32_t count = 0, from = 0;

	if (found->count == MAX_PIECES)
		return;
	CHECK_OK(pieces_append(found, (struct piece){id, node}));
	if (CHECK_OK(callgraph_decode(&p->g, node, id, p->scratch, &count, &from))) {
		CHECK_U64(from, start);
		CHECK_U64(count, depth);
		CHECK(count == depth && (!depth || memcmp(p->scratch, path, depth * sizeof(*path)) == 0));
	}
	for (uint32_t e = 0; e < p->g.edge_count; e++) {
		if (p->g.edges[e].caller != node || p->g.edges[e].kind != EDGE_ENCODED)
			continue;
		path[depth] = e;
		enumerate_pieces(p, start, p->g.edges[e].callee, id + p->g.edges[e].addend, path, depth + 1, found);
	}
}

/* A whole encoding uses every id; one with gaps does not. */
static void check_all_pieces(const struct probe *p, bool is_whole)
{
	struct pieces found = {0};
	uint32_t *path = malloc(((size_t)p->g.node_count + 1) * sizeof(*path));
	uint64_t contexts = 0;
	uint32_t count, start;

	for (uint32_t n = 0; n < p->g.node_count; n++)
		if (p->g.nodes[n].has_dummy)
			enumerate_pieces(p, n, n, p->g.nodes[n].restart, path, 0, &found);
	if (found.count && found.count < MAX_PIECES) {
		qsort(found.items, found.count, sizeof(*found.items), piece_compare);
		for (size_t i = 1; i < found.count; i++)
			CHECK(piece_compare(&found.items[i - 1], &found.items[i]) != 0);
		for (uint32_t n = 0; n < p->g.node_count && is_whole; n++) {
			contexts += p->g.nodes[n].contexts;
			CHECK_ERROR(callgraph_decode(&p->g, n, p->g.nodes[n].contexts, p->scratch, &count, &start),
				    ERROR_FORMAT, NULL);
		}
		CHECK(!is_whole || found.count == contexts);
	}
	pieces_deinit(&found);
	free(path);
}

static void check_context(const struct probe *p, const struct callcontext *c, uint32_t start, const uint32_t *path,
			  uint32_t depth)
{
	struct callcontext_view view = {c->stack.items, c->stack.count, c->node, c->id};
	struct callgraph_edges edges = {0};
	uint32_t from = UINT32_MAX;

	if (CHECK_OK(callcontext_decode(&p->g, &view, depth, &edges, &from))) {
		CHECK_U64(from, start);
		CHECK(edges.count == depth && (!depth || memcmp(edges.items, path, depth * sizeof(*path)) == 0));
	}
	callgraph_edges_deinit(&edges);
}

/* All contexts over edges of any kind, to a depth. */
static void enumerate_contexts(const struct probe *p, struct callcontext *c, uint32_t start, uint32_t *path,
			       uint32_t depth, uint32_t *budget)
{
	check_context(p, c, start, path, depth);
	if (depth == MAX_DEPTH || !*budget)
		return;
	--*budget;
	for (uint32_t e = 0; e < p->g.edge_count; e++) {
		uint32_t node = c->node;
		uint64_t id = c->id;

		if (p->g.edges[e].caller != c->node || !CHECK_OK(callcontext_call(c, e)))
			continue;
		path[depth] = e;
		enumerate_contexts(p, c, start, path, depth + 1, budget);
		CHECK_OK(callcontext_return(c, e));
		CHECK(c->node == node && c->id == id);
	}
}

static void check_all_contexts(const struct probe *p)
{
	uint32_t path[MAX_DEPTH + 1];

	for (uint32_t n = 0; n < p->g.node_count; n++) {
		uint32_t budget = 400;
		struct callcontext c;

		if (!p->g.nodes[n].has_dummy)
			continue;
		CHECK_OK(callcontext_init(&c, &p->g, n));
		enumerate_contexts(p, &c, n, path, 0, &budget);
		CHECK_U64(c.stack.count, 0);
		callcontext_deinit(&c);
	}
}

static uint64_t count_paths(const struct callgraph *g, uint32_t node)
{
	uint64_t paths = 0;

	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].caller == node && g->edges[e].kind != EDGE_BACK)
			paths += count_paths(g, g->edges[e].callee);
	return paths ? paths : 1;
}

static void check_ball_larus(const struct probe *p)
{
	uint64_t paths = 0;

	for (uint32_t n = 0; n < p->g.node_count; n++) {
		bool is_start = p->g.nodes[n].is_root, has_caller = false;

		for (uint32_t e = 0; e < p->g.edge_count; e++) {
			is_start |= p->g.edges[e].callee == n && p->g.edges[e].kind == EDGE_BACK;
			has_caller |= p->g.edges[e].callee == n && p->g.edges[e].kind != EDGE_BACK;
		}
		if (is_start || !has_caller)
			paths += count_paths(&p->g, n);
	}
	CHECK(!p->stats.ball_larus_overflowed);
	CHECK_U64(p->stats.ball_larus_max_id, paths - 1);
}

/* Depth-first: can `from` reach `to` over any edges? */
static bool reaches(const struct callgraph *g, uint32_t from, uint32_t to, bool *seen)
{
	if (from == to)
		return true;
	seen[from] = true;
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].caller == from && !seen[g->edges[e].callee] && reaches(g, g->edges[e].callee, to, seen))
			return true;
	return false;
}

static void check_back_edges(const struct probe *p)
{
	bool seen[64];

	for (uint32_t e = 0; e < p->g.edge_count; e++) {
		memset(seen, 0, sizeof(seen));
		if (p->g.edges[e].kind == EDGE_BACK)
			CHECK(reaches(&p->g, p->g.edges[e].callee, p->g.edges[e].caller, seen));
	}
}

/* ---- large graphs: samples ---- */

static void check_ids(struct probe *p, unsigned int count)
{
	while (count--) {
		uint32_t node = (uint32_t)rng_below(&p->rng, p->g.node_count);
		uint64_t id = rng_below(&p->rng, p->g.nodes[node].contexts);
		uint32_t edges = 0, at = 0;
		uint64_t sum;

		if (!CHECK_OK(callgraph_decode(&p->g, node, id, p->scratch, &edges, &at)))
			return;
		CHECK(p->g.nodes[at].has_dummy);
		sum = p->g.nodes[at].restart;
		for (uint32_t i = 0; i < edges; i++) {
			const struct callgraph_edge *edge = &p->g.edges[p->scratch[i]];

			CHECK(edge->caller == at && edge->kind == EDGE_ENCODED);
			sum += edge->addend;
			at = edge->callee;
		}
		CHECK_U64(at, node);
		CHECK_U64(sum, id);
		CHECK_ERROR(callgraph_decode(&p->g, node, p->g.nodes[node].contexts + rng_below(&p->rng, 9), p->scratch,
					     &edges, &at),
			    ERROR_FORMAT, NULL);
	}
}

/* Calls and returns at random; the shadow stack is the truth. Sometimes the same call is preferred, so that runs form. */
static void check_walk(struct probe *p, unsigned int steps)
{
	const struct callgraph *g = &p->g;
	uint32_t *head = malloc(g->node_count * sizeof(*head)), *next = malloc((g->edge_count + 1) * sizeof(*next));
	struct callgraph_edges shadow = {0};
	struct callcontext c;
	uint32_t start = 0;

	memset(head, 0xff, g->node_count * sizeof(*head));
	for (uint32_t e = 0; e < g->edge_count; e++) {
		next[e] = head[g->edges[e].caller];
		head[g->edges[e].caller] = e;
	}
	CHECK_OK(callcontext_init(&c, g, start));
	for (unsigned int i = 0; i < steps; i++) {
		uint32_t e = head[c.node];

		if (shadow.count && (e == UINT32_MAX || rng_below(&p->rng, 3) == 0)) {
			CHECK_OK(callcontext_return(&c, shadow.items[--shadow.count]));
			continue;
		}
		while (e != UINT32_MAX && next[e] != UINT32_MAX && rng_below(&p->rng, 2))
			e = next[e];
		if (e == UINT32_MAX)
			break;
		if (!CHECK_OK(callcontext_call(&c, e)) || !CHECK_OK(callgraph_edges_append(&shadow, e)))
			break;
		if (rng_below(&p->rng, 8) == 0)
			check_context(p, &c, start, shadow.items, (uint32_t)shadow.count);
	}
	while (shadow.count)
		CHECK_OK(callcontext_return(&c, shadow.items[--shadow.count]));
	CHECK(c.node == start && c.stack.count == 0 && c.id == g->nodes[start].restart);
	callgraph_edges_deinit(&shadow);
	callcontext_deinit(&c);
	free(head);
	free(next);
}

/* ---- stored encodings ---- */

static void copy_graph(const struct callgraph *g, struct callgraph *copy)
{
	uint32_t ignored;

	callgraph_init(copy, NULL);
	for (uint32_t n = 0; n < g->node_count; n++) {
		CHECK_OK(callgraph_add_node(copy, false, &ignored));
		copy->nodes[n] = g->nodes[n];
	}
	for (uint32_t e = 0; e < g->edge_count; e++) {
		CHECK_OK(callgraph_add_edge(copy, g->edges[e].caller, g->edges[e].callee, 0, 0, &ignored));
		copy->edges[e] = g->edges[e];
	}
}

static void check_adopt(const struct probe *p)
{
	struct callgraph copy;

	copy_graph(&p->g, &copy);
	if (CHECK_OK(callgraph_adopt(&copy))) {
		CHECK(copy.is_encoded && copy.is_gapless);
		CHECK(memcmp(copy.range_start, p->g.range_start, (p->g.node_count + 1) * sizeof(uint32_t)) == 0);
		CHECK(memcmp(copy.ranges, p->g.ranges, p->g.range_start[p->g.node_count] * sizeof(*copy.ranges)) == 0);
	}
	callgraph_deinit(&copy);
}

/* Changes one number to a likely or a random other one. */
static void damage(struct rng *r, struct callgraph *g)
{
	struct callgraph_node *node = &g->nodes[rng_below(r, g->node_count)];
	struct callgraph_edge *edge = &g->edges[rng_below(r, g->edge_count)]; /* there is always one */
	uint64_t v = rng_below(r, 2) ? rng_below(r, 6) : rng_next(r) >> rng_below(r, 64);

	switch (rng_below(r, 8)) {
	case 0:
		node->contexts = v;
		break;
	case 1:
		node->restart = v;
		break;
	case 2:
		node->has_dummy = !node->has_dummy;
		break;
	case 3:
		node->is_root = !node->is_root;
		break;
	case 4:
		edge->addend = v;
		break;
	case 5:
		edge->kind = (enum edge_kind)(v % 5);
		break;
	case 6:
		edge->caller = (uint32_t)(v % g->node_count);
		break;
	default:
		edge->callee = (uint32_t)(v % g->node_count);
		break;
	}
}

/* A damaged encoding is refused, or what it decodes is still unambiguous and safe. */
static void check_damaged(struct probe *p)
{
	struct probe damaged = *p;
	uint32_t edges, at;

	copy_graph(&p->g, &damaged.g);
	for (uint64_t times = 1 + rng_below(&p->rng, 3); times; times--)
		damage(&p->rng, &damaged.g);
	error_destroy(callgraph_adopt(&damaged.g));
	if (!damaged.g.is_encoded) {
		CHECK(!damaged.g.range_start && !damaged.g.ranges);
		callgraph_deinit(&damaged.g);
		return;
	}
	for (uint32_t n = 0; n < damaged.g.node_count; n++) {
		for (uint64_t id = 0; id < 40; id++) {
			struct error *err = callgraph_decode(&damaged.g, n, id, p->scratch, &edges, &at);

			if (!err) {
				uint64_t sum = damaged.g.nodes[at].restart;

				for (uint32_t i = 0; i < edges; i++)
					sum += damaged.g.edges[p->scratch[i]].addend;
				CHECK_U64(sum, id);
			}
			error_destroy(err);
		}
	}
	check_all_pieces(&damaged, false);
	callgraph_deinit(&damaged.g);
}

/* ---- driver ---- */

static uint32_t probe_run(uint64_t seed)
{
	const bool is_small = seed % 25 != 0;
	struct probe p = {.rng = {seed}};
	enum graph_shape shape = (enum graph_shape)rng_below(&p.rng, GRAPH_SHAPES);
	uint32_t most_edges = is_small ? 16 : (uint32_t)1 << (7 + rng_below(&p.rng, 11));
	uint32_t edges = 1 + (uint32_t)rng_below(&p.rng, most_edges < 100000 ? most_edges : 100000);
	uint32_t nodes = 1 + (uint32_t)rng_below(&p.rng, is_small ? 9 : (uint64_t)edges * 2);
	struct callgraph_options options = {0};

	if (rng_below(&p.rng, 2))
		options.max_id = 1 + rng_below(&p.rng, is_small ? 12 : UINT64_C(1) << rng_below(&p.rng, 62));
	p.max_id = options.max_id ? options.max_id : INT64_MAX;
	p.scratch = malloc(nodes * sizeof(*p.scratch));
	callgraph_init(&p.g, NULL);
	CHECK_OK(graph_generate(&p.rng, shape, nodes, edges, &p.g));
	p.roots_set_id = options.roots_set_id = rng_below(&p.rng, 2);
	p.small_addends = options.small_addends = rng_below(&p.rng, 2);
	if (rng_below(&p.rng, 3) == 0)
		for (uint32_t e = 0; e < edges; e++)
			p.g.edges[e].is_bare = rng_below(&p.rng, 2);
	if (rng_below(&p.rng, 4) == 0)
		for (uint32_t e = 0; e < edges; e++)
			p.g.edges[e].is_pushed = rng_below(&p.rng, 8) == 0;
	if (CHECK_OK(callgraph_encode(&p.g, &options, &p.stats))) {
		check_structure(&p);
		check_ids(&p, is_small ? 20 : 200);
		check_walk(&p, is_small ? 60 : 600);
		check_adopt(&p);
		if (is_small) {
			check_all_pieces(&p, true);
			check_all_contexts(&p);
			check_ball_larus(&p);
			check_back_edges(&p);
			for (int i = 0; i < 10; i++)
				check_damaged(&p);
		}
	}
	callgraph_deinit(&p.g);
	free(p.scratch);
	return edges;
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 1500, 20100502);

	seeds_run(&seeds, probe_run);
	return check_status();
}
