/*
 * test_hybrid.c - hybrid encoding: the paper's figure 8, and properties of random call graphs with random sizes of frames.
 *
 * usage: test_hybrid [COUNT [SEED]]; every failure names the seed that repeats it with COUNT 1.
 *
 * All contexts of small graphs are enumerated by brute force: their pairs are added up along the path, must differ at each node, and
 * decode to the path. Beside it Algorithm 4 of the paper is carried out as it is written, on sets of contexts: it must give the
 * figure's answers, and the share of its edges that need code is what the encoding is compared with.
 */
#include <stdlib.h>

#include "core/contexts/hybrid.h"
#include "graphs.h"
#include "seeds.h"

enum {
	CONTEXTS_MAX = 3000, /* of one graph */
	DEPTH_MAX = 32,
	NODES_MAX = 24,
};

/* One context: its edges from a start. */
struct context {
	uint32_t node, start;
	uint32_t count;
	uint64_t number, offset; /* offset: HYBRID_NO_OFFSET as in the core */
	uint32_t edges[DEPTH_MAX];
};
VEC_DECLARE(contexts, struct context);

struct probe {
	struct callgraph g;
	struct hybrid h;
	uint32_t *offsets;
	bool *is_placed;
	bool *needs_addend;
	struct contexts all;
	bool is_cut; /* more contexts than are enumerated */
};

static void probe_deinit(struct probe *p)
{
	hybrid_deinit(&p->h);
	callgraph_deinit(&p->g);
	contexts_deinit(&p->all);
	free(p->offsets);
	free(p->is_placed);
	free(p->needs_addend);
}

/* ---- brute force ---- */

static void enumerate(struct probe *p, struct context *c)
{
	if (p->all.count == CONTEXTS_MAX || c->count == DEPTH_MAX) {
		p->is_cut = true;
		return;
	}
	CHECK_OK(contexts_append(&p->all, *c));
	for (uint32_t e = 0; e < p->g.edge_count; e++) {
		struct context next;

		if (p->g.edges[e].caller != c->node || p->g.edges[e].kind != EDGE_ENCODED)
			continue;
		next = *c;
		next.edges[next.count++] = e;
		next.node = p->g.edges[e].callee;
		next.number += p->g.edges[e].addend;
		if (next.offset != HYBRID_NO_OFFSET)
			next.offset += p->offsets[e];
		enumerate(p, &next);
	}
}

static void enumerate_all(struct probe *p)
{
	for (uint32_t n = 0; n < p->g.node_count; n++) {
		struct context c = {.node = n, .start = n, .number = p->g.nodes[n].restart};

		c.offset = p->is_placed[n] ? 0 : HYBRID_NO_OFFSET;
		if (p->g.nodes[n].has_dummy)
			enumerate(p, &c);
	}
}

static int by_pair(const void *left, const void *right)
{
	const struct context *l = left, *r = right;

	if (l->node != r->node)
		return l->node < r->node ? -1 : 1;
	if (l->offset != r->offset)
		return l->offset < r->offset ? -1 : 1;
	return l->number < r->number ? -1 : l->number > r->number;
}

static void check_decodes(const struct hybrid *h, const struct context *c)
{
	uint32_t edges[NODES_MAX + 1], count = 0, start = 0;

	if (!CHECK_OK(hybrid_decode(h, c->node, c->number, (uint32_t)c->offset, edges, &count, &start)))
		return;
	CHECK_U64(start, c->start);
	if (CHECK_U64(count, c->count))
		CHECK(memcmp(edges, c->edges, count * sizeof *edges) == 0);
}

/* All pairs differ and decode; a pair that no context has does not. */
static void check_all(struct probe *p, const struct hybrid *h)
{
	struct context none;

	if (!p->all.count)
		return;
	qsort(p->all.items, p->all.count, sizeof *p->all.items, by_pair);
	for (size_t i = 0; i < p->all.count; i++) {
		const struct context *c = &p->all.items[i];

		CHECK(!i || by_pair(c - 1, c));
		CHECK(c->number < p->g.nodes[c->node].contexts);
		check_decodes(h, c);
	}
	none = p->all.items[0];
	for (none.number = 0; none.number < 8; none.number++) {
		uint32_t edges[NODES_MAX + 1], count = 0, start = 0;
		bool is_one = false;

		for (size_t i = 0; i < p->all.count && p->all.items[i].node == none.node; i++)
			is_one |= by_pair(&p->all.items[i], &none) == 0;
		if (!is_one && !p->is_cut)
			CHECK_ERROR(hybrid_decode(h, none.node, none.number, (uint32_t)none.offset, edges, &count,
						  &start),
				    ERROR_FORMAT, "has no context");
	}
}

/* ---- Algorithm 4, on sets of contexts ---- */

struct paper {
	uint64_t *imcc[NODES_MAX]; /* offsets of the implicit contexts */
	uint32_t imcc_count[NODES_MAX];
	uint64_t numcc[NODES_MAX];
	uint64_t addend[4096]; /* of an explicit or a guarded edge */
	char how[4096];        /* 'a' explicit, 'b' no code, 'c' guarded */
};

static bool paper_conflicts(const struct paper *q, uint32_t n, const uint64_t *offsets, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < q->imcc_count[n]; k++)
			if (q->imcc[n][k] == offsets[i])
				return true;
	return false;
}

static void paper_edge(struct paper *q, const struct probe *p, uint32_t e, uint64_t *s)
{
	const uint32_t n = p->g.edges[e].callee, from = p->g.edges[e].caller, count = q->imcc_count[from];
	uint64_t *extended = calloc(count + 1, sizeof *extended);

	for (uint32_t i = 0; i < count; i++)
		extended[i] = q->imcc[from][i] + p->offsets[e];
	q->addend[e] = *s;
	if (paper_conflicts(q, n, extended, count)) {
		q->how[e] = 'a';
	} else {
		q->how[e] = count == q->numcc[from] ? 'b' : 'c';
		q->imcc[n] = realloc(q->imcc[n], (q->imcc_count[n] + count + 1) * sizeof *extended);
		memcpy(q->imcc[n] + q->imcc_count[n], extended, count * sizeof *extended);
		q->imcc_count[n] += count;
	}
	free(extended);
	*s += q->numcc[from];
}

/* Nodes are numbered callers first, edges into a node by falling weight. */
static void paper_instrument(struct paper *q, const struct probe *p)
{
	for (uint32_t n = 0; n < p->g.node_count; n++) {
		uint64_t s = 0;

		if (p->g.nodes[n].has_dummy) { /* the root: one context, at offset 0 */
			q->imcc[n] = calloc(1, sizeof **q->imcc);
			q->imcc_count[n] = 1;
			s = 1;
		}
		for (uint32_t k = p->g.range_start[n]; k < p->g.range_start[n + 1]; k++)
			if (p->g.ranges[k].edge != CALLGRAPH_DUMMY)
				paper_edge(q, p, p->g.ranges[k].edge, &s);
		q->numcc[n] = s ? s : 1;
	}
}

static void paper_deinit(struct paper *q)
{
	for (uint32_t n = 0; n < NODES_MAX; n++)
		free(q->imcc[n]);
}

/*
 * ---- figure 8 ----
 *
 * The graph of figure 4 (test_figures.c) with frames. The text gives: the offset of AJ is 1, that of AJG is 4, which meets another
 * context of G, so that J->G is explicit; the two calls of F in D meet; those of I do not, and G->I is guarded. The digits of
 * the other offsets are not legible: these are the least that make it so.
 */
static const struct {
	char calls[3];
	uint32_t offset;
} figure[] = {{"AB", 1}, {"AJ", 1}, {"BD", 2}, {"JD", 1}, {"BE", 1}, {"DF", 2},
	      {"DF", 2}, {"DG", 1}, {"JG", 3}, {"FI", 1}, {"GI", 5}, {"JI", 1}};
enum {
	FIGURE_EDGES = sizeof figure / sizeof *figure,
	JD = 3,
	DF2 = 6,
	JG = 8,
	FI = 9,
	GI = 10,
	JI = 11,
};

static void figure_build(struct probe *p)
{
	static const char nodes[] = "ABJDEFGI"; /* callers first */
	uint32_t ignored;

	callgraph_init(&p->g, NULL);
	for (uint32_t n = 0; nodes[n]; n++)
		CHECK_OK(callgraph_add_node(&p->g, n == 0, &ignored));
	p->offsets = calloc(FIGURE_EDGES, sizeof *p->offsets);
	p->is_placed = calloc(strlen(nodes), sizeof *p->is_placed);
	p->is_placed[0] = true;
	for (uint32_t e = 0; e < FIGURE_EDGES; e++) {
		p->offsets[e] = figure[e].offset;
		CHECK_OK(callgraph_add_edge(&p->g, (uint32_t)(strchr(nodes, figure[e].calls[0]) - nodes),
					    (uint32_t)(strchr(nodes, figure[e].calls[1]) - nodes), e, 1000 - e,
					    &ignored));
	}
	CHECK_OK(callgraph_encode(&p->g, NULL, NULL));
}

/* The number and the offset of a path given by its edges. */
static void check_pair(const struct probe *p, const uint32_t *edges, uint32_t count, uint64_t number, uint32_t offset)
{
	struct context c = {.count = count, .number = number, .offset = offset};
	uint64_t sum = 0, way = 0;

	for (uint32_t i = 0; i < count; i++) {
		c.edges[i] = edges[i];
		c.node = p->g.edges[edges[i]].callee;
		sum += p->g.edges[edges[i]].addend;
		way += p->offsets[edges[i]];
	}
	CHECK_U64(sum, number);
	CHECK_U64(way, offset);
	check_decodes(&p->h, &c);
}

static void test_figure(void)
{
	static const char how[] = "bbbbbbabaccb"; /* by edge; the guard of F->I would add 0 */
	static struct paper q;
	struct probe p = {0};

	figure_build(&p);
	CHECK_U64(p.g.edges[JD].addend, 1); /* explicit encoding has code on five edges */
	CHECK_U64(p.g.edges[JI].addend, 7);
	paper_instrument(&q, &p);
	for (uint32_t e = 0; e < FIGURE_EDGES; e++)
		CHECK_U64(q.how[e], how[e]);
	CHECK_U64(q.addend[DF2], 2);
	CHECK_U64(q.addend[JG], 2); /* AJG: id 2 at G */
	CHECK_U64(q.addend[GI], 4); /* and 6 at I */
	CHECK_OK(hybrid_encode(&p.g, &(struct hybrid_frames){p.offsets, p.is_placed, NULL}, &p.h));
	for (uint32_t e = 0; e < FIGURE_EDGES; e++) /* the same explicit edges, and no guard */
		CHECK_U64(p.g.edges[e].addend, e == DF2 || e == JG);
	CHECK_U64(p.h.zero_edges, FIGURE_EDGES - 2);
	check_pair(&p, (const uint32_t[]){1, JD, 7}, 3, 0, 3);      /* AJDG */
	check_pair(&p, (const uint32_t[]){0, 2, 7}, 3, 0, 4);       /* ABDG */
	check_pair(&p, (const uint32_t[]){1, JG}, 2, 1, 4);         /* AJG */
	check_pair(&p, (const uint32_t[]){1, JG, GI}, 3, 1, 9);     /* AJGI */
	check_pair(&p, (const uint32_t[]){0, 2, DF2, FI}, 4, 1, 6); /* ABD2FI */
	check_pair(&p, (const uint32_t[]){1, JI}, 2, 0, 2);         /* AJI */
	enumerate_all(&p);
	CHECK_U64(p.all.count, 1 + 1 + 1 + 2 + 1 + 4 + 3 + 8);
	check_all(&p, &p.h);
	paper_deinit(&q);
	probe_deinit(&p);
}

/* ---- random graphs ---- */

static uint64_t edges_seen, edges_plain, edges_hybrid, edges_paper;

static void random_frames(struct probe *p, struct rng *r)
{
	static const uint32_t kinds[] = {1, 2, 4, 16, 256};
	const uint32_t sizes = kinds[rng_below(r, 5)];

	p->offsets = calloc(p->g.edge_count + 1, sizeof *p->offsets);
	p->needs_addend = calloc(p->g.edge_count + 1, sizeof *p->needs_addend);
	p->is_placed = calloc(p->g.node_count + 1, sizeof *p->is_placed);
	for (uint32_t e = 0; e < p->g.edge_count; e++) {
		/* The same in each function, but where a call becomes a jump. */
		p->offsets[e] = rng_below(r, 16) ? 16 + 16 * (p->g.edges[e].caller * 7 % sizes) : 0;
		p->needs_addend[e] = rng_below(r, 32) == 0;
	}
	for (uint32_t n = 0; n < p->g.node_count; n++)
		p->is_placed[n] = rng_below(r, 3) != 0;
}

/* A stored encoding is the same one; with an addend changed it is refused, or still tells all contexts apart. */
static void check_adopted(struct probe *p, struct rng *r)
{
	const struct hybrid_frames frames = {p->offsets, p->is_placed, NULL};
	struct hybrid h = {0};
	struct error *err;
	uint32_t e;

	if (CHECK_OK(hybrid_adopt(&p->g, &frames, &h)))
		check_all(p, &h);
	hybrid_deinit(&h);
	e = (uint32_t)rng_below(r, p->g.edge_count);
	if (p->is_cut || p->g.edges[e].kind != EDGE_ENCODED || !p->g.edges[e].addend)
		return;
	p->g.edges[e].addend--;
	p->all.count = 0;
	enumerate_all(p);
	err = hybrid_adopt(&p->g, &frames, &h);
	if (!err)
		check_all(p, &h);
	error_destroy(err);
	hybrid_deinit(&h);
	p->g.edges[e].addend++;
}

static uint32_t probe_random(uint64_t seed)
{
	struct rng r = {seed};
	struct probe p = {0};
	const uint32_t nodes = 1 + (uint32_t)rng_below(&r, NODES_MAX);
	const uint32_t edges = 1 + (uint32_t)rng_below(&r, nodes * 3);
	struct callgraph_stats stats;

	callgraph_init(&p.g, NULL);
	CHECK_OK(graph_generate(&r, (enum graph_shape)rng_below(&r, GRAPH_SHAPES), nodes, edges, &p.g));
	CHECK_OK(callgraph_encode(&p.g, NULL, &stats));
	random_frames(&p, &r);
	if (CHECK_OK(hybrid_encode(&p.g, &(struct hybrid_frames){p.offsets, p.is_placed, p.needs_addend}, &p.h))) {
		for (uint32_t e = 0; e < p.g.edge_count; e++)
			CHECK(p.g.edges[e].kind != EDGE_ENCODED || !p.needs_addend[e] || p.g.edges[e].addend);
		enumerate_all(&p);
		check_all(&p, &p.h);
		check_adopted(&p, &r);
	}
	probe_deinit(&p);
	return edges;
}

/* Acyclic, one root, as the paper has it. */
static uint32_t probe_paper(uint64_t seed)
{
	static struct paper q;
	struct rng r = {seed};
	struct probe p = {0};
	struct callgraph_stats stats;
	uint32_t ignored;

	memset(&q, 0, sizeof q);
	callgraph_init(&p.g, NULL);
	for (uint32_t n = 0; n < 16; n++)
		CHECK_OK(callgraph_add_node(&p.g, n == 0, &ignored));
	for (uint32_t n = 1; n < 16; n++)
		for (uint64_t k = 1 + rng_below(&r, 3); k-- > 0;)
			CHECK_OK(callgraph_add_edge(&p.g, (uint32_t)rng_below(&r, n), n, p.g.edge_count,
						    rng_below(&r, 1000), &ignored));
	CHECK_OK(callgraph_encode(&p.g, NULL, &stats));
	random_frames(&p, &r);
	p.is_placed[0] = true;
	paper_instrument(&q, &p);
	for (uint32_t e = 0; e < p.g.edge_count; e++) {
		edges_seen++;
		edges_plain += p.g.edges[e].addend != 0;
		edges_paper += q.how[e] == 'a' || (q.how[e] == 'c' && q.addend[e]);
	}
	if (CHECK_OK(hybrid_encode(&p.g, &(struct hybrid_frames){p.offsets, p.is_placed, NULL}, &p.h)))
		edges_hybrid += p.g.edge_count - p.h.zero_edges;
	paper_deinit(&q);
	probe_deinit(&p);
	return 16;
}

static void test_limits(void)
{
	struct probe p = {0};
	uint32_t n;

	callgraph_init(&p.g, NULL);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_OK(callgraph_add_node(&p.g, i == 0, &n));
	for (uint32_t i = 0; i < 2; i++)
		CHECK_OK(callgraph_add_edge(&p.g, i, i + 1, i, 1, &n));
	CHECK_OK(callgraph_encode(&p.g, NULL, NULL));
	p.offsets = calloc(2, sizeof *p.offsets);
	p.is_placed = calloc(3, sizeof *p.is_placed);
	p.is_placed[0] = true;
	p.offsets[0] = HYBRID_OFFSET_MAX;
	p.offsets[1] = 8;
	CHECK_ERROR(hybrid_encode(&p.g, &(struct hybrid_frames){p.offsets, p.is_placed, NULL}, &p.h), ERROR_OVERFLOW,
		    "bytes of stack");
	p.offsets[1] = 0;
	CHECK_OK(hybrid_encode(&p.g, &(struct hybrid_frames){p.offsets, p.is_placed, NULL}, &p.h));
	hybrid_deinit(&p.h);
	/* A cycle of encoded calls in what is stored. */
	p.g.edges[1].callee = 0;
	CHECK_ERROR(hybrid_adopt(&p.g, &(struct hybrid_frames){p.offsets, p.is_placed, NULL}, &p.h), ERROR_FORMAT,
		    "cycle");
	probe_deinit(&p);
}

int main(int argc, char **argv)
{
	struct seeds s = seeds_parse(argc, argv, 1000, 1);

	test_figure();
	test_limits();
	seeds_run(&s, probe_random);
	seeds_run(&s, probe_paper);
	printf("of %llu edges have code: %llu with explicit encoding, %llu by Algorithm 4, %llu here\n",
	       (unsigned long long)edges_seen, (unsigned long long)edges_plain, (unsigned long long)edges_paper,
	       (unsigned long long)edges_hybrid);
	CHECK(edges_hybrid <= edges_paper);
	return check_status();
}
