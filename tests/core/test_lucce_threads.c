/*
 * test_lucce_threads.c - threads that encode at once: each holds the lock for an entry and keeps steps of its own, which it reads without it.
 *
 * What each does depends on its seed alone; only the order among them differs from run to run, and any order must decode.
 */
#include <pthread.h>

#include "core/contexts/lucce_history.h"
#include "graphs.h"
#include "seeds.h"

enum {
	THREADS = 4,
	FUNCTIONS = 12,
	CALLS = 40,
	MAX_DEPTH = 50,
	STEPS = 20000,
	CAPTURES = 500,
};

struct capture {
	struct lucce_id id;
	uint32_t depth;
	uint32_t edges[MAX_DEPTH];
};

struct thread {
	pthread_t id;
	struct rng rng;
	uint64_t kept;
	struct lucce_step steps[CALLS];
	struct lucce_id ids[MAX_DEPTH + 1];
	uint32_t edges[MAX_DEPTH];
	uint32_t depth;
	struct capture captures[CAPTURES];
	uint32_t capture_count;
};

/* Written before the threads start. */
static struct {
	uint32_t caller, callee;
} calls[CALLS];
static struct thread threads[THREADS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Both under the lock. */
static struct lucce l;
static struct lucce_history history;

static void write_log(void)
{
	for (size_t i = 0; i < l.log.count; i++)
		CHECK_OK(lucce_history_add(&history, &l.log.items[i]));
	lucce_take(&l, l.log.count);
}

static void enter(struct thread *t, uint32_t edge)
{
	struct lucce_step *step = &t->steps[edge];
	struct lucce_id from = t->ids[t->depth];
	bool writes = rng_below(&t->rng, 50) == 0;

	if (lucce_step_fits(step, from)) {
		t->kept++;
	} else {
		pthread_mutex_lock(&lock);
		*step = lucce_enter(&l, edge, from);
		if (writes)
			write_log();
		pthread_mutex_unlock(&lock);
	}
	t->edges[t->depth++] = edge;
	t->ids[t->depth] = lucce_step_to(step, from);
}

static void capture(struct thread *t)
{
	struct capture *c = &t->captures[t->capture_count++];

	c->id = t->ids[t->depth];
	c->depth = t->depth;
	memcpy(c->edges, t->edges, sizeof(c->edges));
}

static void *run(void *arg)
{
	struct thread *t = arg;

	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t function = t->depth ? calls[t->edges[t->depth - 1]].callee : LUCCE_ROOT;
		uint32_t edge = (uint32_t)rng_below(&t->rng, CALLS);

		if (calls[edge].caller == function && t->depth < MAX_DEPTH)
			enter(t, edge);
		else if (t->depth && rng_below(&t->rng, 15) == 0)
			t->depth--;
		if (t->capture_count < CAPTURES && rng_below(&t->rng, STEPS / CAPTURES) == 0)
			capture(t);
	}
	return NULL;
}

static void check_captures(const struct thread *t)
{
	struct callgraph_edges edges = {0};

	for (uint32_t i = 0; i < t->capture_count; i++) {
		const struct capture *c = &t->captures[i];

		edges.count = 0;
		if (CHECK_OK(lucce_decode(&history, c->depth ? calls[c->edges[c->depth - 1]].callee : LUCCE_ROOT, c->id,
					  MAX_DEPTH, &edges)) &&
		    CHECK_U64(edges.count, c->depth) && c->depth)
			CHECK(!memcmp(edges.items, c->edges, c->depth * sizeof(*c->edges)));
	}
	callgraph_edges_deinit(&edges);
}

/* A tree from the root, so that everything can be reached, and calls between any two. */
static void make_program(struct rng *r)
{
	uint32_t ignored;

	for (uint32_t i = 0; i < CALLS; i++) {
		calls[i].callee = 1 + (i < FUNCTIONS ? i : (uint32_t)rng_below(r, FUNCTIONS));
		calls[i].caller = i < FUNCTIONS ? (uint32_t)rng_below(r, i + 1) : 1 + (uint32_t)rng_below(r, FUNCTIONS);
	}
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		CHECK_OK(lucce_add_node(&l, &ignored));
	for (uint32_t i = 0; i < CALLS; i++)
		CHECK_OK(lucce_add_edge(&l, calls[i].caller, calls[i].callee, i, &ignored));
}

static uint32_t probe(uint64_t seed)
{
	const struct lucce_limits limits = {.max_number = 1000};
	struct rng r = {seed};
	uint64_t kept = 0, captured = 0;

	CHECK_OK(lucce_init(&l, NULL, &limits));
	CHECK_OK(lucce_history_init(&history, NULL, 0));
	make_program(&r);
	memset(threads, 0, sizeof(threads));
	for (uint32_t i = 0; i < THREADS; i++)
		threads[i].rng.state = rng_next(&r);
	for (uint32_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i].id, NULL, run, &threads[i]));
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
	write_log();
	for (uint32_t i = 0; i < THREADS; i++) {
		check_captures(&threads[i]);
		kept += threads[i].kept;
		captured += threads[i].capture_count;
	}
	printf("%llu contexts decoded; %llu steps kept, %llu events, %llu boundaries\n", (unsigned long long)captured,
	       (unsigned long long)kept, (unsigned long long)l.version, (unsigned long long)l.boundaries);
	CHECK(captured > CAPTURES && kept && l.boundaries);
	lucce_deinit(&l);
	lucce_history_deinit(&history);
	return CALLS;
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 10, 20150707);

	seeds_run(&seeds, probe);
	return check_status();
}
