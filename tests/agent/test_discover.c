/*
 * test_discover.c LIBRARY - random paths through a library's functions: the calls that the agent knows then are those that were made, each once,
 * with its callee, and with the edge that it has in the graph.
 */
#include <stdio.h>
#include <string.h>

#include "agent/context/discover.h"
#include "agent/program/calls.h"
#include "agent/program/program.h"
#include "agent/unit/unit.h"
#include "check.h"

static bool is_made[UNIT_FUNCTIONS][UNIT_FUNCTIONS + 1]; /* by whom, of whom; the last: `end` */
static unsigned ends;

static void end(int n)
{
	ends++;
	CHECK_U64(n, 12345);
}

static int index_of(uint32_t function)
{
	int i = 0;

	while (i < UNIT_FUNCTIONS && agent_function_at((uintptr_t)unit_functions[i]) != function)
		i++;
	return i;
}

static void test_known(void)
{
	bool is_known[UNIT_FUNCTIONS][UNIT_FUNCTIONS + 1] = {{false}};
	const struct agent_program *p = &agent_program;

	for (uint32_t c = 0; c < p->call_count; c++) {
		const struct agent_call *call = &p->calls[c];
		const struct agent_site *site = &p->sites[call->site];
		int from = index_of(site->function), to = index_of(call->callee);

		if (!CHECK(from < UNIT_FUNCTIONS))
			continue;
		CHECK(!is_known[from][to]);
		is_known[from][to] = true;
		CHECK_U64(call->target, to < UNIT_FUNCTIONS ? (uintptr_t)unit_functions[to] : (uintptr_t)end);
		CHECK(to == UNIT_FUNCTIONS || agent_resolve(site->target) == call->target);
		CHECK((to == UNIT_FUNCTIONS) == (call->edge == AGENT_NONE));
		CHECK(site->is_written && call->before && !call->is_gone);
		if (call->edge == AGENT_NONE)
			continue;
		CHECK_U64(p->edge_calls[call->edge], c);
		CHECK_U64(p->encoder.graph.edges[call->edge].caller, p->functions[site->function].node);
		CHECK_U64(p->encoder.graph.edges[call->edge].callee, p->functions[call->callee].node);
		CHECK_U64(agent_site_of_record(site->record), call->site);
	}
	CHECK(memcmp(is_known, is_made, sizeof is_made) == 0);
}

static void run(void)
{
	uint8_t path[UNIT_PATH_MAX + 1];
	size_t len = unit_path(path);
	int at = 0;

	len = len > 3 ? 3 : len; /* so that calls stay that were not made */
	path[len] = UNIT_FUNCTIONS;
	for (size_t i = 0; i <= len; i++) {
		is_made[at][path[i]] = true;
		at = path[i];
	}
	unit_run(path, end);
}

int main(int argc, char **argv)
{
	struct agent_guard guard;
	struct agent_call *call;
	uint32_t site;
	size_t calls;

	if (argc != 2 || !unit_start(argv[1]))
		return 1;
	CHECK(unit_reach());
	for (uint32_t seed = 1; seed <= 60 && !check_status(); seed++) {
		unit_seed(seed);
		run();
		test_known();
		if (check_status())
			fprintf(stderr, "    seed %u\n", seed);
	}
	CHECK_U64(ends, 60);
	/* A call that is known is the same one; a quiet function is none of the graph. */
	agent_lock(&guard);
	site = agent_program.calls[0].site;
	calls = agent_program.call_count;
	CHECK(discover_call(site, agent_program.calls[0].target) == &agent_program.calls[0]);
	CHECK_U64(agent_program.call_count, calls);
	call = discover_call(site, (uintptr_t)unit_leaf);
	if (CHECK(call)) {
		CHECK(call->never_calls_back && call->edge == AGENT_NONE);
		CHECK(agent_function_is(call->callee, AGENT_FUNCTION_NO_CALLBACK));
	}
	agent_unlock(&guard);
	return check_status();
}
