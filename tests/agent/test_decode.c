/*
 * test_decode.c LIBRARY - random call graphs that grow, and random chains of their calls: the id and entries that a chain is replayed to are
 * decoded to the same calls, in each encoding.
 */
#include <stdio.h>

#include "agent/context/decode.h"
#include "agent/context/discover.h"
#include "agent/epoch/epoch.h"
#include "agent/unit/unit.h"
#include "check.h"

enum {
	ROUNDS = 60,
	CHAINS = 20, /* of each round */
	ADDED = 2,   /* calls that each round adds */
	STEPS_MAX = 64,
};

static struct walk_step steps[STEPS_MAX];
static struct walk_state state;
static struct decoded decoded;

static void end(int n)
{
	CHECK_U64(n, 12345);
}

/* A call of a random function by another one is seen. */
static void add_call(void)
{
	const struct agent_program *p = &agent_program;
	const struct agent_function *f =
		&p->functions[agent_function_at((uintptr_t)unit_functions[unit_roll(UNIT_FUNCTIONS)])];
	uint32_t site = f->first_site + unit_roll(f->site_count);

	if (agent_site_is_direct(&p->sites[site]))
		CHECK(discover_call(site, agent_resolve(p->sites[site].target)));
}

/* A call of the graph that the function makes. AGENT_NONE: none was seen. */
static uint32_t random_call(uint32_t function)
{
	const struct agent_program *p = &agent_program;
	uint32_t calls[UNIT_FUNCTIONS], count = 0;

	for (uint32_t s = 0; s < p->functions[function].site_count; s++) {
		uint32_t call = p->sites[p->functions[function].first_site + s].first_call;

		if (call != AGENT_NONE && p->calls[call].edge != AGENT_NONE && count < UNIT_FUNCTIONS)
			calls[count++] = call;
	}
	return count ? calls[unit_roll(count)] : AGENT_NONE;
}

static void test_chain(void)
{
	const struct agent_program *p = &agent_program;
	const struct agent_entry base = {.frame_slot = UINT64_MAX};
	struct walk_chain chain = {.steps = steps};
	uint32_t root = agent_function_at((uintptr_t)unit_functions[unit_roll(UNIT_FUNCTIONS)]), function = root;
	uint32_t wanted = unit_roll(STEPS_MAX), call;

	steps[chain.count++] = (struct walk_step){.kind = WALK_START, .number = root, .frame_slot = 1};
	while (chain.count < wanted && (call = random_call(function)) != AGENT_NONE) {
		/* The frames of the callees are further down. */
		steps[chain.count] = (struct walk_step){
			.kind = WALK_CALL, .number = call, .frame_slot = 0x10000 - 32 * (uint64_t)chain.count};
		chain.count++;
		function = p->calls[call].callee;
	}
	if (!CHECK(walk_replay(&chain, &base, false, &state)) ||
	    !CHECK(decode_context(state.function, state.id, state.entries, state.count, &decoded)))
		return;
	CHECK_U64(state.function, function);
	CHECK_U64(decoded.root, root);
	if (!CHECK_U64(decoded.count, chain.count - 1))
		return;
	for (size_t i = 0; i < decoded.count; i++) {
		CHECK_U64(decoded.calls[i].call, steps[chain.count - 1 - i].number);
		CHECK_U64(decoded.calls[i].site, p->calls[decoded.calls[i].call].site);
	}
}

int main(int argc, char **argv)
{
	static const uint8_t none[] = {UNIT_FUNCTIONS};
	struct unwind_regs regs;
	struct agent_guard guard;
	struct lock_place place;
	uint32_t pieces = 0;

	if (argc != 2 || !unit_start(argv[1]))
		return 1;
	CHECK(unit_reach());
	unit_run(none, end); /* the thread has a context from now on */
	for (uint32_t round = 1; round <= ROUNDS && !check_status(); round++) {
		unit_seed(round);
		unit_lock(&guard, &regs, &place);
		for (int i = 0; i < ADDED; i++)
			add_call();
		for (int i = 0; i < CHAINS; i++) {
			test_chain();
			pieces += state.count == 1;
		}
		if (round % 4 == 0)
			CHECK(epoch_begin());
		agent_unlock(&guard);
		if (check_status())
			fprintf(stderr, "    seed %u\n", round);
	}
	CHECK(pieces > ROUNDS); /* chains that one id stands for */
	CHECK(agent_program.encoder.graph.edge_count > UNIT_FUNCTIONS);
	return check_status();
}
