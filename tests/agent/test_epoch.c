/*
 * test_epoch.c LIBRARY - calls of random paths through a library's functions: in the first encoding each pushes, and is counted; after an epoch
 * those that are hot do not, and an epoch that begins in the middle of a path leaves what was begun to return as it should.
 */
#include <stdio.h>

#include "agent/epoch/epoch.h"
#include "agent/program/program.h"
#include "agent/threads/thread.h"
#include "agent/unit/unit.h"
#include "check.h"

enum {
	PATHS = 100,
};

static unsigned ends;
static bool is_epoch_due;

static void begin_epoch(void)
{
	uint32_t epoch = agent_epoch();
	struct unwind_regs regs;
	struct agent_guard guard;
	struct lock_place place;

	unit_lock(&guard, &regs, &place);
	if (CHECK(epoch_begin()))
		CHECK_U64(agent_epoch(), epoch + 1);
	agent_unlock(&guard);
}

static void end(int n)
{
	ends++;
	CHECK_U64(n, 12345);
	if (is_epoch_due)
		begin_epoch();
}

/* The same paths each time; how many calls of the graph they make. */
static uint64_t run(void)
{
	uint8_t path[UNIT_PATH_MAX + 1];
	uint64_t calls = 0;

	for (uint32_t seed = 1; seed <= PATHS; seed++) {
		ptrdiff_t depth = agent_thread.top - agent_thread.base;

		unit_seed(seed);
		calls += unit_path(path);
		unit_run(path, end);
		/* What the calls have pushed is taken off. */
		if (seed > 1 && !CHECK(agent_thread.top - agent_thread.base == depth))
			fprintf(stderr, "    seed %u\n", seed);
	}
	return calls;
}

static uint64_t counted_pushes(void)
{
	struct agent_guard guard;
	uint64_t before = epoch_stats.pushes;

	agent_lock(&guard);
	epoch_take_counts();
	agent_unlock(&guard);
	return epoch_stats.pushes - before;
}

int main(int argc, char **argv)
{
	const struct callgraph *g = &agent_program.encoder.graph;
	uint32_t encoded = 0;
	uint64_t calls, pushes;

	if (argc != 2 || !unit_start(argv[1]))
		return 1;
	CHECK(unit_reach());
	calls = run();
	CHECK_U64(counted_pushes(), calls);
	begin_epoch();
	for (uint32_t e = 0; e < g->edge_count; e++)
		encoded += g->edges[e].kind == EDGE_ENCODED;
	CHECK(encoded > 0 && encoded < g->edge_count); /* those that close a circle push */
	CHECK(epoch_stats.max_id > 0);
	CHECK_U64(run(), calls);
	pushes = counted_pushes();
	CHECK(pushes > 0 && pushes < calls);
	is_epoch_due = true;
	CHECK_U64(run(), calls);
	CHECK_U64(ends, 3 * PATHS);
	CHECK_U64(epoch_stats.mismatches, 0);
	return check_status();
}
