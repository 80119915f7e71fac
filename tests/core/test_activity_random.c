/*
 * test_activity_random.c - what can have run, against programs of which all is known.
 *
 * usage: test_activity_random [COUNT [SEED]]
 *
 * Nothing that ran may be called inactive, and all that is said to have run must have; over the whole run, and of
 * each frame. How much is said at all is counted, so that saying nothing fails.
 */
#include "activity_run.h"
#include "seeds.h"

/* Of what did not run: how much is known not to have. Of what ran: how much is known to have. */
struct counts {
	uint64_t idle;
	uint64_t no;
	uint64_t ran;
	uint64_t yes;
};

static void check_state(struct counts *c, uint8_t state, bool has_run, const char *of, const char *what, uint32_t f,
			uint32_t i)
{
	c->idle += !has_run;
	c->ran += has_run;
	c->no += !has_run && state == ACTIVITY_NO;
	c->yes += has_run && state == ACTIVITY_YES;
	if (CHECK(state <= ACTIVITY_YES) && CHECK(!has_run || state != ACTIVITY_NO) &&
	    CHECK(has_run || state != ACTIVITY_YES))
		return;
	fprintf(stderr, "%s: %s %u of function %u: state %u, but has %srun\n", of, what, i, f, state,
		has_run ? "" : "not ");
}

static void check_truth(struct counts *c, const struct cfg *g, const struct run_truth *truth, const uint8_t *nodes,
			const uint8_t *edges, uint32_t f, const char *of)
{
	for (uint32_t n = 0; n < g->node_count; n++)
		check_state(&c[0], nodes[n], truth->nodes[n], of, "node", f, n);
	for (uint32_t e = 0; e < g->edge_count; e++)
		check_state(&c[1], edges[e], truth->edges[e], of, "edge", f, e);
}

static void check_frames(struct run *r, const struct activity_result *result, struct counts *c)
{
	for (uint32_t s = 0; s < r->program.stack_count; s++)
		for (uint32_t i = 0; i < r->program.stacks[s].frame_count; i++) {
			const struct activity_frame *frame = &r->program.stacks[s].frames[i];
			uint8_t nodes[RUN_NODES], edges[RUN_EDGES];

			if (CHECK_OK(activity_of_frame(result, frame, nodes, edges)))
				check_truth(c, &r->cfgs[frame->function], &r->told[s][i]->truth, nodes, edges,
					    frame->function, "frame");
		}
}

static struct counts whole[2], frames[2]; /* of nodes and of edges */

static uint32_t probe(uint64_t seed)
{
	static struct run run;
	struct run *r = &run;
	uint32_t functions;
	struct activity_result result;
	struct arena arena;

	arena_init(&arena);
	run_random(r, seed);
	if (CHECK_OK(activity_analyse(&r->program, &arena, &result))) {
		for (uint32_t f = 0; f < r->program.function_count; f++) {
			check_truth(whole, &r->cfgs[f], &r->truth[f], result.nodes[f], result.edges[f], f, "program");
			CHECK_U64(result.functions[f], result.nodes[f][0]);
		}
		check_frames(r, &result, frames);
	}
	functions = r->program.function_count;
	run_deinit(r);
	arena_deinit(&arena);
	return functions;
}

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/* least_*: far below what it is now, and far above what an analysis that knows nothing has. */
static void check_counts(const char *what, const struct counts *c, double least_no, double least_yes)
{
	printf("%s: %.3f of %llu that did not run are no, %.3f of %llu that ran are yes\n", what, share(c->no, c->idle),
	       (unsigned long long)c->idle, share(c->yes, c->ran), (unsigned long long)c->ran);
	CHECK(share(c->no, c->idle) > least_no);
	CHECK(share(c->yes, c->ran) > least_yes);
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 15000, 20170801);

	seeds_run(&seeds, probe);
	check_counts("nodes", &whole[0], 0.85, 0.85);
	check_counts("edges", &whole[1], 0.85, 0.65);
	check_counts("nodes of frames", &frames[0], 0.95, 0.95);
	check_counts("edges of frames", &frames[1], 0.95, 0.8);
	return check_status();
}
