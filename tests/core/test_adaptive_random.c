/*
 * test_adaptive_random.c - random programs run while their calls are found and encoded: every context of every epoch decodes to itself.
 *
 * usage: test_adaptive_random [COUNT [SEED]]; every failure names the seed that repeats it with COUNT 1.
 *
 * A program is functions with call sites: direct, indirect with several callees, tail calls. Its threads call and return at random,
 * each with a stack of its own that is the truth. Nothing is known of it before it runs: a function or call is added when it is first
 * reached. Epochs begin when one is due and at random; then every thread's context is translated. Captures, taken at random,
 * are decoded at the very end, each with the dictionary of its epoch, which was copied when that epoch ended.
 */
#include <stdlib.h>

#include "callcontext.h"
#include "core/contexts/adaptive.h"
#include "core/contexts/callgraph_ranks.h"
#include "graphs.h"
#include "seeds.h"

enum {
	MAX_FUNCTIONS = 40,
	MAX_SITES = 6, /* of a function */
	MAX_THREADS = 3,
	MAX_DEPTH = 70,
	MAX_CAPTURES = 160,
	MAX_EPOCHS = 400,
	UNKNOWN = UINT32_MAX,
};

struct site {
	bool is_tail, is_indirect;
	uint32_t callee;  /* of a direct one */
	uint32_t callees; /* found so far */
	uint32_t *edges;  /* by callee: UNKNOWN before it is first called */
};

struct program {
	uint32_t function_count;
	uint32_t node[MAX_FUNCTIONS]; /* UNKNOWN before the function first runs */
	struct site sites[MAX_FUNCTIONS][MAX_SITES];
	uint32_t site_count[MAX_FUNCTIONS];
	uint32_t favourite; /* site number that is taken most; changes as the program runs */
};

/* What a thread has called, outermost first. */
struct truth {
	uint32_t start; /* node */
	uint32_t count;
	uint32_t edges[MAX_DEPTH];
};

struct thread {
	struct truth truth;
	uint32_t functions[MAX_DEPTH + 1]; /* of the program */
	bool is_tail[MAX_DEPTH];
	struct callcontext context;
	bool is_running;
};

struct capture {
	uint32_t epoch;
	uint32_t node;
	uint64_t id;
	struct callgraph_push *stack;
	size_t stack_len;
	struct truth truth;
};

struct history {
	struct rng rng;
	struct program program;
	struct adaptive a;
	struct callgraph began; /* the graph as it was when the epoch began */
	struct thread threads[MAX_THREADS];
	struct capture captures[MAX_CAPTURES];
	uint32_t capture_count;
	struct callgraph dictionaries[MAX_EPOCHS];
	uint32_t first_epoch;
};

static uint64_t triggers_seen[ADAPTIVE_STACK_BUSY + 1];
static uint64_t pushes_seen, runs_seen, cuts_seen, bare_zeros_seen;

/* ---- the program ---- */

static void program_make(struct program *p, struct rng *r)
{
	p->function_count = 1 + (uint32_t)rng_below(r, rng_below(r, 3) ? 8 : MAX_FUNCTIONS);
	for (uint32_t f = 0; f < p->function_count; f++) {
		p->node[f] = UNKNOWN;
		p->site_count[f] = (uint32_t)rng_below(r, MAX_SITES + 1);
		for (uint32_t i = 0; i < p->site_count[f]; i++) {
			struct site *s = &p->sites[f][i];

			s->is_tail = rng_below(r, 6) == 0;
			s->is_indirect = rng_below(r, 4) == 0;
			/* mostly downwards */
			s->callee = (uint32_t)rng_below(r, p->function_count);
			if (s->callee <= f && f + 1 < p->function_count && rng_below(r, 3))
				s->callee = f + 1 + (uint32_t)rng_below(r, p->function_count - f - 1);
			s->edges = malloc(p->function_count * sizeof(*s->edges));
			memset(s->edges, 0xff, p->function_count * sizeof(*s->edges));
		}
	}
}

static void program_free(struct program *p)
{
	for (uint32_t f = 0; f < p->function_count; f++)
		for (uint32_t i = 0; i < p->site_count[f]; i++)
			free(p->sites[f][i].edges);
}

static uint32_t node_of(struct history *h, uint32_t function)
{
	uint32_t *node = &h->program.node[function];

	if (*node == UNKNOWN)
		CHECK_OK(adaptive_add_function(&h->a, node));
	return *node;
}

/* The edge of a call, found now or before. An indirect site with a second callee has room for no addend at any of them. */
static uint32_t edge_of(struct history *h, uint32_t caller, uint32_t number, uint32_t callee)
{
	struct site *s = &h->program.sites[caller][number];
	uint32_t *edge = &s->edges[callee];

	if (*edge != UNKNOWN)
		return *edge;
	if (++s->callees == 2)
		for (uint32_t f = 0; f < h->program.function_count; f++)
			if (s->edges[f] != UNKNOWN)
				h->a.graph.edges[s->edges[f]].is_bare = true;
	CHECK_OK(adaptive_add_edge(&h->a, node_of(h, caller), node_of(h, callee), number, s->is_tail || s->callees > 1,
				   edge));
	return *edge;
}

/* ---- threads ---- */

static void thread_start(struct history *h, struct thread *t)
{
	uint32_t function = rng_below(&h->rng, 3) ? 0 : (uint32_t)rng_below(&h->rng, h->program.function_count);

	t->functions[0] = function;
	t->truth = (struct truth){.start = node_of(h, function)};
	t->is_running = CHECK_OK(callcontext_init(&t->context, &h->a.graph, t->truth.start));
}

static void thread_end(struct thread *t)
{
	if (t->is_running)
		callcontext_deinit(&t->context);
	t->is_running = false;
}

static void thread_call(struct history *h, struct thread *t)
{
	uint32_t function = t->functions[t->truth.count];
	uint32_t sites = h->program.site_count[function], number, callee, edge;
	const struct site *s;

	if (!sites || t->truth.count == MAX_DEPTH)
		return;
	number = rng_below(&h->rng, 4) ? h->program.favourite % sites : (uint32_t)rng_below(&h->rng, sites);
	s = &h->program.sites[function][number];
	callee = s->is_indirect ? (uint32_t)rng_below(&h->rng, h->program.function_count) : s->callee;
	edge = edge_of(h, function, number, callee);
	t->is_tail[t->truth.count] = s->is_tail;
	t->truth.edges[t->truth.count++] = edge;
	t->functions[t->truth.count] = callee;
	CHECK_OK(callcontext_call(&t->context, edge));
	adaptive_count(&h->a, edge, 1);
}

/* A function that was tail called returns to the caller of its caller. */
static void thread_return(struct thread *t)
{
	while (t->truth.count) {
		CHECK_OK(callcontext_return(&t->context, t->truth.edges[--t->truth.count]));
		if (!t->is_tail[t->truth.count])
			return;
	}
	CHECK_U64(t->context.node, t->truth.start);
	CHECK_U64(t->context.id, t->context.g->nodes[t->truth.start].restart);
	CHECK_U64(t->context.stack.count, 0);
	thread_end(t);
}

/* ---- what is checked ---- */

static void check_decodes(const struct callgraph *g, const struct callcontext_view *view, const struct truth *truth,
			  struct callgraph_edges *edges)
{
	uint32_t start = UNKNOWN;

	edges->count = 0;
	if (!CHECK_OK(callcontext_decode(g, view, MAX_DEPTH, edges, &start)))
		return;
	CHECK_U64(start, truth->start);
	CHECK(edges->count == truth->count &&
	      (!truth->count || memcmp(edges->items, truth->edges, truth->count * sizeof(uint32_t)) == 0));
}

static struct callcontext_view view_of(const struct callcontext *c)
{
	return (struct callcontext_view){c->stack.items, c->stack.count, c->node, c->id};
}

static void capture(struct history *h, const struct thread *t)
{
	struct capture *c = &h->captures[h->capture_count];

	if (h->capture_count == MAX_CAPTURES)
		return;
	h->capture_count++;
	*c = (struct capture){.epoch = h->a.epoch,
			      .node = t->context.node,
			      .id = t->context.id,
			      .stack_len = t->context.stack.count,
			      .truth = t->truth};
	c->stack = malloc((c->stack_len + 1) * sizeof(*c->stack));
	if (c->stack_len)
		memcpy(c->stack, t->context.stack.items, c->stack_len * sizeof(*c->stack));
	for (size_t i = 0; i < c->stack_len; i++) {
		pushes_seen++;
		runs_seen += c->stack[i].run > 1;
	}
}

static bool is_same_capture(const struct capture *l, const struct capture *r)
{
	if (l->epoch != r->epoch || l->node != r->node || l->id != r->id || l->stack_len != r->stack_len)
		return false;
	for (size_t i = 0; i < l->stack_len; i++)
		if (l->stack[i].id != r->stack[i].id || l->stack[i].edge != r->stack[i].edge ||
		    l->stack[i].run != r->stack[i].run)
			return false;
	return true;
}

static bool is_same_truth(const struct truth *l, const struct truth *r)
{
	return l->start == r->start && l->count == r->count &&
	       memcmp(l->edges, r->edges, l->count * sizeof(*l->edges)) == 0;
}

static void check_captures(struct history *h)
{
	struct callgraph_edges edges = {0};

	for (uint32_t i = 0; i < h->capture_count; i++) {
		const struct capture *c = &h->captures[i];
		const struct callcontext_view view = {c->stack, c->stack_len, c->node, c->id};

		check_decodes(&h->dictionaries[c->epoch - h->first_epoch], &view, &c->truth, &edges);
		for (uint32_t k = 0; k < i; k++)
			if (is_same_capture(&h->captures[k], c) !=
			    (h->captures[k].epoch == c->epoch && is_same_truth(&h->captures[k].truth, &c->truth)))
				CHECK(false);
	}
	callgraph_edges_deinit(&edges);
}

/* Nodes and edges, as a reader has them: weights and sites are not kept. */
static void copy_dictionary(const struct callgraph *g, struct callgraph *ret)
{
	uint32_t ignored;

	callgraph_init(ret, NULL);
	for (uint32_t n = 0; n < g->node_count; n++) {
		CHECK_OK(callgraph_add_node(ret, false, &ignored));
		ret->nodes[n] = g->nodes[n];
	}
	for (uint32_t e = 0; e < g->edge_count; e++) {
		CHECK_OK(callgraph_add_edge(ret, g->edges[e].caller, g->edges[e].callee, 0, 0, &ignored));
		ret->edges[e].kind = g->edges[e].kind;
		ret->edges[e].addend = g->edges[e].addend;
	}
}

/* What was numbered when the epoch began still has these numbers; what came later has one id and pushes. */
static void check_epoch(const struct history *h)
{
	const struct callgraph *g = &h->a.graph, *began = &h->began;

	CHECK_U64(h->a.numbered_functions, began->node_count);
	CHECK_U64(h->a.numbered_edges, began->edge_count);
	for (uint32_t n = 0; n < g->node_count; n++) {
		const struct callgraph_node *node = &g->nodes[n];

		CHECK(node->has_dummy && node->is_root);
		if (n < began->node_count)
			CHECK(node->restart == began->nodes[n].restart && node->contexts == began->nodes[n].contexts);
		else
			CHECK(node->restart == 0 && node->contexts == 1);
		CHECK(!h->a.max_id || node->contexts - 1 <= h->a.max_id);
	}
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct callgraph_edge *edge = &g->edges[e];

		if (e < began->edge_count)
			CHECK(edge->kind == began->edges[e].kind && edge->addend == began->edges[e].addend);
		else
			CHECK(edge->kind == EDGE_NEW);
	}
}

/* Nothing is new, and bare edges have no addend. */
static void check_numbering(const struct callgraph *g)
{
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct callgraph_edge *edge = &g->edges[e];

		CHECK(edge->kind != EDGE_NEW);
		if (edge->is_bare && edge->kind == EDGE_ENCODED)
			CHECK_U64(edge->addend, 0);
		cuts_seen += edge->kind == EDGE_CUT && !edge->is_bare;
		bare_zeros_seen += edge->is_bare && edge->kind == EDGE_ENCODED;
	}
}

/* ---- epochs ---- */

/* All numbers of an encoding follow from the ranks of its edges; of ranks that are none there are no numbers. */
static void check_ranks(const struct callgraph *g, struct rng *rng)
{
	struct callgraph ranked;
	uint32_t edge = UNKNOWN;

	copy_dictionary(g, &ranked);
	for (uint32_t n = 0; n < g->node_count; n++) {
		uint64_t rank = 0;

		ranked.nodes[n].contexts = ranked.nodes[n].restart = 0;
		for (uint32_t i = g->range_start[n]; i < g->range_start[n + 1]; i++)
			if (g->ranges[i].edge != CALLGRAPH_DUMMY)
				ranked.edges[edge = g->ranges[i].edge].addend = rank++;
	}
	CHECK_OK(callgraph_number_ranks(&ranked));
	for (uint32_t n = 0; n < g->node_count; n++) {
		CHECK_U64(ranked.nodes[n].contexts, g->nodes[n].contexts);
		CHECK_U64(ranked.nodes[n].restart, g->nodes[n].restart);
	}
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].kind == EDGE_ENCODED)
			CHECK_U64(ranked.edges[e].addend, g->edges[e].addend);
	if (edge != UNKNOWN) {
		struct error *err;

		ranked.edges[edge].addend = 1000 + rng_below(rng, 9);
		err = callgraph_number_ranks(&ranked);
		CHECK(err && err->code == ERROR_FORMAT);
		error_destroy(err);
	}
	callgraph_deinit(&ranked);
}

static void begin_epoch(struct history *h)
{
	struct callgraph *dictionary = &h->dictionaries[h->a.epoch - h->first_epoch];
	struct callgraph_edges edges[MAX_THREADS] = {{0}};

	check_epoch(h);
	copy_dictionary(&h->a.graph, dictionary);
	CHECK_OK(callgraph_adopt(dictionary));
	for (uint32_t i = 0; i < MAX_THREADS; i++) {
		const struct callcontext_view view = view_of(&h->threads[i].context);

		if (h->threads[i].is_running)
			check_decodes(&h->a.graph, &view, &h->threads[i].truth, &edges[i]);
	}
	CHECK_OK(adaptive_encode(&h->a, NULL));
	CHECK(adaptive_due(&h->a) == ADAPTIVE_NONE);
	check_numbering(&h->a.graph);
	check_ranks(&h->a.graph, &h->rng);
	callgraph_deinit(&h->began);
	copy_dictionary(&h->a.graph, &h->began);
	for (uint32_t i = 0; i < MAX_THREADS; i++) {
		struct thread *t = &h->threads[i];

		if (t->is_running) {
			callcontext_deinit(&t->context);
			t->is_running = CHECK_OK(callcontext_translate(&h->a.graph, t->truth.start, edges[i].items,
								       edges[i].count, &t->context));
		}
		callgraph_edges_deinit(&edges[i]);
	}
}

static void step(struct history *h)
{
	struct thread *t = &h->threads[rng_below(&h->rng, MAX_THREADS)];
	enum adaptive_trigger due;

	if (!t->is_running)
		thread_start(h, t);
	else if (rng_below(&h->rng, 5) < 3)
		thread_call(h, t);
	else
		thread_return(t);
	if (t->is_running && rng_below(&h->rng, 12) == 0)
		capture(h, t);
	if (rng_below(&h->rng, 300) == 0)
		h->program.favourite = (uint32_t)rng_below(&h->rng, MAX_SITES);
	due = adaptive_due(&h->a);
	if (h->a.epoch - h->first_epoch < MAX_EPOCHS - 2 && (due || rng_below(&h->rng, 150) == 0)) {
		triggers_seen[due]++;
		begin_epoch(h);
	}
}

static void history_free(struct history *h)
{
	for (uint32_t i = 0; i < MAX_THREADS; i++)
		thread_end(&h->threads[i]);
	for (uint32_t i = 0; i < h->capture_count; i++)
		free(h->captures[i].stack);
	for (uint32_t i = 0; i < MAX_EPOCHS; i++)
		callgraph_deinit(&h->dictionaries[i]);
	callgraph_deinit(&h->began);
	adaptive_deinit(&h->a);
	program_free(&h->program);
	free(h);
}

static uint32_t probe(uint64_t seed)
{
	struct history *h = calloc(1, sizeof(*h));
	uint64_t steps;

	h->rng.state = seed;
	h->first_epoch = (uint32_t)rng_below(&h->rng, 100);
	program_make(&h->program, &h->rng);
	adaptive_init(&h->a, NULL, h->first_epoch);
	h->a.thresholds = (struct adaptive_thresholds){.new_edges = (uint32_t)rng_below(&h->rng, 10),
						       .new_edges_share = 1 + (uint32_t)rng_below(&h->rng, 4),
						       .calls = 1 + rng_below(&h->rng, 100),
						       .hot_share = 4,
						       .busy_share = 4};
	if (rng_below(&h->rng, 2))
		h->a.max_id = 1 + rng_below(&h->rng, UINT64_C(1) << (1 + rng_below(&h->rng, 8)));
	for (steps = 100 + rng_below(&h->rng, 1200); steps; steps--)
		step(h);
	begin_epoch(h);
	check_captures(h);
	steps = h->a.graph.edge_count;
	history_free(h);
	return (uint32_t)steps;
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 3000, 20140215);

	seeds_run(&seeds, probe);
	printf("epochs: %llu at random, %llu for new edges, %llu for hot ones, %llu for a busy stack\n",
	       (unsigned long long)triggers_seen[ADAPTIVE_NONE], (unsigned long long)triggers_seen[ADAPTIVE_NEW_EDGES],
	       (unsigned long long)triggers_seen[ADAPTIVE_HOT_CHANGED],
	       (unsigned long long)triggers_seen[ADAPTIVE_STACK_BUSY]);
	printf("%llu pushes captured, %llu runs; %llu cuts, %llu bare edges at 0\n", (unsigned long long)pushes_seen,
	       (unsigned long long)runs_seen, (unsigned long long)cuts_seen, (unsigned long long)bare_zeros_seen);
	/* What never happened was not tested. */
	for (int i = 0; i <= ADAPTIVE_STACK_BUSY && seeds.count >= 100; i++)
		CHECK(triggers_seen[i] > 0);
	CHECK(seeds.count < 100 || (pushes_seen && runs_seen && cuts_seen && bare_zeros_seen));
	return check_status();
}
