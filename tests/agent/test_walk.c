/*
 * test_walk.c LIBRARY - random paths through a library's functions: the calls that the stack shows are those that were made, and replayed they
 * give the id and the entries that the code in place has kept; in the first encoding and in later ones.
 */
#include <stdio.h>
#include <string.h>

#include "agent/context/walk.h"
#include "agent/epoch/epoch.h"
#include "agent/unit/unit.h"
#include "check.h"

static struct walk walk;
static struct walk_chain chain;
static struct walk_state state;
static uint8_t path[UNIT_PATH_MAX + 1];
static size_t len;
static unsigned ends;

static void end(int n)
{
	const struct agent_program *p = &agent_program;
	struct unwind_regs regs;
	struct agent_guard guard;
	struct lock_place place;
	size_t calls = 0, count;

	ends++;
	CHECK_U64(n, 12345);
	unit_lock(&guard, &regs, &place);
	count = (size_t)(agent_thread.top - agent_thread.base);
	if (CHECK(walk_stack(&walk, &regs, &agent_thread)) && CHECK(walk.is_whole) &&
	    CHECK(walk_find_chain(&walk, 0, &agent_thread, &chain)) &&
	    CHECK(walk_replay(&chain, agent_thread.base, false, &state))) {
		for (size_t i = 0; i < chain.count; i++) {
			if (chain.steps[i].kind != WALK_CALL)
				continue;
			if (CHECK(calls < len))
				CHECK_U64(p->calls[chain.steps[i].number].target,
					  (uintptr_t)unit_functions[path[calls]]);
			calls++;
		}
		CHECK_U64(calls, len);
		CHECK_U64(state.id, agent_thread.id);
		CHECK_U64(state.count, count);
		for (size_t i = 1; i < count && i < state.count; i++) {
			CHECK_U64(state.entries[i].id, agent_thread.base[i].id);
			CHECK_U64(state.entries[i].frame_slot, agent_thread.base[i].frame_slot);
			CHECK_U64(state.entries[i].site, agent_thread.base[i].site);
		}
	}
	agent_unlock(&guard);
}

static void begin_epoch(void)
{
	struct unwind_regs regs;
	struct agent_guard guard;
	struct lock_place place;

	unit_lock(&guard, &regs, &place);
	CHECK(epoch_begin());
	agent_unlock(&guard);
}

int main(int argc, char **argv)
{
	if (argc != 2 || !unit_start(argv[1]))
		return 1;
	CHECK(unit_reach());
	for (uint32_t seed = 1; seed <= 300 && !check_status(); seed++) {
		unit_seed(seed);
		len = unit_path(path);
		unit_run(path, end);
		if (seed % 50 == 0)
			begin_epoch();
		if (check_status())
			fprintf(stderr, "    seed %u\n", seed);
	}
	CHECK_U64(ends, 300);
	return check_status();
}
