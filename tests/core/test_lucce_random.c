/*
 * test_lucce_random.c - Theorem 1 on random programs: every context that was entered decodes to the calls that led to it.
 *
 * usage: test_lucce_random [COUNT [SEED]]; every failure names the seed that repeats it with COUNT 1.
 *
 * A program is functions with call sites of one or several callees, without recursion, with any, or with any but direct recursion. Its
 * threads call and return at random, each with a stack of its own that is the truth: calls as the program has them, which the module
 * never sees. A function or call is added when it is first reached. Captures, taken at random, are decoded at once or at the
 * end from the log alone, which is written out piece by piece. Where nothing is kept or limited and no function calls itself
 * directly, the paper's algorithm runs beside it and has the same numbers.
 */
#include <stdlib.h>

#include "core/contexts/lucce_history.h"
#include "graphs.h"
#include "lucce_paper.h"
#include "seeds.h"

enum {
	MAX_FUNCTIONS = 24, /* 0 is the root */
	MAX_SITES = 4,
	MAX_CALLEES = 3,
	MAX_THREADS = 4,
	MAX_DEPTH = 80,
	MAX_CAPTURES = 200,
	MAX_CALLS = MAX_FUNCTIONS * MAX_SITES * MAX_CALLEES,
	UNKNOWN = UINT32_MAX,
};

enum recursion {
	RECURSION_NONE,
	RECURSION_MUTUAL, /* a function may call those above it */
	RECURSION_ANY,
	RECURSIONS,
};

enum keeping {
	KEEP_NONE,
	KEEP_SHARED, /* a step for each call */
	KEEP_OWN,    /* a step for each call and thread */
	KEEPINGS,
};

/* A call as the program has it. */
struct call {
	uint8_t caller, site, callee;
};

struct program {
	uint32_t function_count;
	uint32_t site_count[MAX_FUNCTIONS];
	uint32_t callee_count[MAX_FUNCTIONS][MAX_SITES];
	uint8_t callees[MAX_FUNCTIONS][MAX_SITES][MAX_CALLEES];
};

struct frame {
	struct call call;
	struct lucce_id id;
	struct paper_id paper;
};

struct thread {
	struct frame frames[MAX_DEPTH + 1]; /* [0] is the root */
	uint32_t depth;
	struct lucce_step steps[MAX_CALLS]; /* by edge */
};

struct capture {
	struct lucce_id id;
	struct paper_id paper;
	uint32_t node;
	uint32_t depth;
	struct call calls[MAX_DEPTH];
};

struct run {
	struct rng rng;
	enum recursion recursion;
	enum keeping keeping;
	bool has_paper;
	struct program program;
	struct lucce l;
	struct lucce_history history;
	struct paper paper;
	uint32_t node[MAX_FUNCTIONS]; /* of the module; UNKNOWN before the function first runs */
	uint32_t edge[MAX_FUNCTIONS][MAX_SITES][MAX_FUNCTIONS]; /* by callee, the same */
	uint8_t function_of[MAX_FUNCTIONS];                     /* by node */
	struct thread threads[MAX_THREADS];
	struct capture captures[MAX_CAPTURES];
	uint32_t capture_count;
};

/* Over all seeds: what never happened was not tested. */
static uint64_t decoded, lost, resets, boundaries, kept, by_paper, wide, deepest;
static uint64_t losses[LUCCE_LOSSES];

/* ---- the program ---- */

static uint8_t random_callee(struct run *r, uint32_t caller)
{
	uint32_t count = r->program.function_count;

	if (r->recursion == RECURSION_NONE || !caller)
		return (uint8_t)(caller + 1 + rng_below(&r->rng, count - 1 - caller));
	for (;;) {
		uint32_t callee = 1 + (uint32_t)rng_below(&r->rng, count - 1);

		/* mostly downwards */
		if (callee < caller && rng_below(&r->rng, 2))
			continue;
		if (callee != caller || r->recursion == RECURSION_ANY)
			return (uint8_t)callee;
	}
}

static void program_make(struct run *r)
{
	struct program *p = &r->program;

	p->function_count = 3 + (uint32_t)rng_below(&r->rng, rng_below(&r->rng, 2) ? 4 : MAX_FUNCTIONS - 3);
	for (uint32_t f = 0; f < p->function_count; f++) {
		if (f == p->function_count - 1 && r->recursion == RECURSION_NONE)
			break;
		p->site_count[f] = (f == 0) + (uint32_t)rng_below(&r->rng, MAX_SITES);
		for (uint32_t s = 0; s < p->site_count[f]; s++) {
			p->callee_count[f][s] =
				1 + (rng_below(&r->rng, 3) ? 0 : (uint32_t)rng_below(&r->rng, MAX_CALLEES));
			for (uint32_t i = 0; i < p->callee_count[f][s]; i++)
				p->callees[f][s][i] = random_callee(r, f);
		}
	}
}

/* ---- running ---- */

static bool is_lost(struct lucce_id id)
{
	return id.version == LUCCE_LOST;
}

static bool is_limited(const struct run *r)
{
	return r->l.limits.max_pending || r->l.limits.max_version != LUCCE_LOST - 1;
}

/* Takes err, which only a limit explains. */
static void check_limit(const struct run *r, struct error *err)
{
	CHECK(is_limited(r));
	CHECK_ERROR(err, ERROR_OVERFLOW, NULL);
}

/* LUCCE_NO_EDGE where a limit leaves no room. */
static uint32_t find_edge(struct run *r, struct call c)
{
	uint32_t *node = &r->node[c.callee], *edge = &r->edge[c.caller][c.site][c.callee];
	struct error *err;

	if (*node == UNKNOWN) {
		err = lucce_add_node(&r->l, node);
		if (err) {
			check_limit(r, err);
			return LUCCE_NO_EDGE;
		}
		r->function_of[*node] = c.callee;
	}
	/* A frame whose function could not be added has no node; neither has it a context. */
	if (*edge == UNKNOWN && r->node[c.caller] != UNKNOWN) {
		err = lucce_add_edge(&r->l, r->node[c.caller], *node, c.site, edge);
		if (err)
			check_limit(r, err);
	}
	return *edge;
}

static struct lucce_id enter(struct run *r, struct thread *t, uint32_t edge, struct lucce_id from)
{
	struct thread *keeper = r->keeping == KEEP_OWN ? t : &r->threads[0];
	uint64_t version = r->l.version;
	struct lucce_step step;

	if (edge != LUCCE_NO_EDGE && r->keeping && lucce_step_fits(&keeper->steps[edge], from)) {
		kept++;
		return lucce_step_to(&keeper->steps[edge], from);
	}
	step = lucce_enter(&r->l, edge, from);
	if (step.version == LUCCE_LOST)
		CHECK(is_limited(r) && r->l.version == version);
	else if (r->keeping)
		keeper->steps[edge] = step;
	return lucce_step_to(&step, from);
}

static void call(struct run *r, struct thread *t)
{
	const struct program *p = &r->program;
	const struct frame *from = &t->frames[t->depth];
	uint8_t caller = from->call.callee;
	struct frame *to = &t->frames[t->depth + 1];
	uint64_t site;

	if (t->depth == MAX_DEPTH || !p->site_count[caller])
		return;
	site = rng_below(&r->rng, p->site_count[caller]);
	to->call = (struct call){caller, (uint8_t)site,
				 p->callees[caller][site][rng_below(&r->rng, p->callee_count[caller][site])]};
	to->id = enter(r, t, find_edge(r, to->call), from->id);
	if (r->has_paper) {
		to->paper = paper_update(&r->paper, caller, to->call.callee, to->call.site, from->paper);
		if (!r->paper.is_outgrown)
			CHECK_U64(to->id.number, to->paper.number);
	}
	t->depth++;
	deepest = t->depth > deepest ? t->depth : deepest;
}

static void write_log(struct run *r, size_t count)
{
	for (size_t i = 0; i < count; i++)
		CHECK_OK(lucce_history_add(&r->history, &r->l.log.items[i]));
	lucce_take(&r->l, count);
}

/* ---- captures ---- */

static void check_by_paper(struct run *r, const struct capture *c)
{
	uint32_t edges[PAPER_CALLS], count;

	if (!CHECK(paper_decode(&r->paper, c->calls[c->depth - 1].callee, c->paper, edges, &count)) ||
	    !CHECK_U64(count, c->depth))
		return;
	for (uint32_t i = 0; i < count; i++)
		CHECK(r->paper.edges[edges[i]].caller == c->calls[i].caller &&
		      r->paper.edges[edges[i]].callee == c->calls[i].callee &&
		      r->paper.edges[edges[i]].site == c->calls[i].site);
	by_paper++;
}

static void check_capture(struct run *r, const struct capture *c)
{
	struct callgraph_edges edges = {0};

	if (CHECK_OK(lucce_decode(&r->history, c->node, c->id, MAX_DEPTH, &edges)) && CHECK_U64(edges.count, c->depth))
		for (uint32_t i = 0; i < c->depth; i++) {
			const struct lucce_edge *e = &r->history.edges.items[edges.items[i]];

			CHECK(r->function_of[e->caller] == c->calls[i].caller &&
			      r->function_of[e->callee] == c->calls[i].callee && e->site == c->calls[i].site);
		}
	callgraph_edges_deinit(&edges);
	decoded++;
	wide += c->id.version > UINT32_MAX;
}

static void capture(struct run *r, const struct thread *t)
{
	const struct frame *f = &t->frames[t->depth];
	struct capture *c = &r->captures[r->capture_count];

	if (is_lost(f->id)) {
		lost++;
		return;
	}
	if (!t->depth || r->capture_count == MAX_CAPTURES)
		return;
	*c = (struct capture){.id = f->id, .paper = f->paper, .node = r->node[f->call.callee], .depth = t->depth};
	for (uint32_t i = 0; i < t->depth; i++)
		c->calls[i] = t->frames[i + 1].call;
	r->capture_count++;
	if (c->id.version <= r->history.version)
		check_capture(r, c);
}

static void step(struct run *r)
{
	struct thread *t = &r->threads[rng_below(&r->rng, MAX_THREADS)];

	if (!t->depth || rng_below(&r->rng, 20) < 12)
		call(r, t);
	else
		t->depth -= 1 + (uint32_t)rng_below(&r->rng, rng_below(&r->rng, 8) ? 1 : t->depth);
	if (rng_below(&r->rng, 6) == 0)
		capture(r, t);
	if (rng_below(&r->rng, 12) == 0)
		write_log(r, rng_below(&r->rng, r->l.log.count + 1));
}

/* ---- runs ---- */

static void choose_limits(struct run *r, struct lucce_limits *limits)
{
	*limits = (struct lucce_limits){0};
	if (rng_below(&r->rng, 2))
		limits->max_number = 1 + rng_below(&r->rng, UINT64_C(1) << rng_below(&r->rng, 12));
	if (rng_below(&r->rng, 3) == 0)
		limits->first_version = UINT32_MAX - rng_below(&r->rng, 500);
	if (rng_below(&r->rng, 4) == 0)
		limits->max_pending = LUCCE_ENTRY_EVENTS + (size_t)rng_below(&r->rng, 30);
	if (rng_below(&r->rng, 4) == 0)
		limits->max_version = limits->first_version + rng_below(&r->rng, 1000);
}

static void run_init(struct run *r, uint64_t seed)
{
	struct lucce_limits limits;

	r->rng.state = seed;
	r->recursion = (enum recursion)rng_below(&r->rng, RECURSIONS);
	r->keeping = (enum keeping)rng_below(&r->rng, KEEPINGS);
	choose_limits(r, &limits);
	for (uint32_t f = 0; f < MAX_FUNCTIONS; f++)
		r->node[f] = f ? UNKNOWN : LUCCE_ROOT;
	memset(r->edge, 0xff, sizeof(r->edge));
	program_make(r);
	CHECK_OK(lucce_init(&r->l, NULL, &limits));
	CHECK_OK(lucce_history_init(&r->history, NULL, limits.first_version));
	r->has_paper = !r->keeping && r->recursion != RECURSION_ANY && !limits.max_number && !is_limited(r);
	paper_init(&r->paper);
}

static void run_check(struct run *r)
{
	write_log(r, r->l.log.count);
	CHECK_U64(r->history.version, r->l.version);
	CHECK_U64(r->history.nodes.count, r->l.nodes.count);
	CHECK_U64(r->history.edges.count, r->l.edges.count);
	for (uint32_t i = 0; i < r->capture_count; i++) {
		check_capture(r, &r->captures[i]);
		if (r->has_paper && !r->paper.is_outgrown)
			check_by_paper(r, &r->captures[i]);
	}
	for (size_t n = 1; n < r->l.nodes.count; n++)
		CHECK(r->l.nodes.items[n].count <= r->l.limits.max_number);
	resets += r->l.resets;
	boundaries += r->l.boundaries;
	for (int i = 0; i < LUCCE_LOSSES; i++)
		losses[i] += r->l.lost[i];
}

static uint32_t probe(uint64_t seed)
{
	struct run *r = calloc(1, sizeof(*r));
	uint32_t size;

	if (!r)
		abort();
	run_init(r, seed);
	for (uint64_t steps = 100 + rng_below(&r->rng, 1500); steps; steps--)
		step(r);
	run_check(r);
	size = (uint32_t)r->l.edges.count;
	lucce_deinit(&r->l);
	lucce_history_deinit(&r->history);
	paper_deinit(&r->paper);
	free(r);
	return size;
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 20000, 20150707);

	seeds_run(&seeds, probe);
	printf("%llu contexts decoded, %llu also by the paper, %llu of versions past 2^32, at most %llu calls deep\n",
	       (unsigned long long)decoded, (unsigned long long)by_paper, (unsigned long long)wide,
	       (unsigned long long)deepest);
	printf("%llu resets, %llu boundaries, %llu kept steps taken, %llu contexts lost\n", (unsigned long long)resets,
	       (unsigned long long)boundaries, (unsigned long long)kept, (unsigned long long)lost);
	if (seeds.count >= 100) {
		CHECK(decoded && by_paper && wide && resets && boundaries && kept && lost && deepest >= MAX_DEPTH / 2);
		for (int i = 0; i < LUCCE_LOSSES; i++)
			CHECK(i == LUCCE_LOST_MEMORY ? !losses[i] : losses[i] > 0);
	}
	return check_status();
}
