/* land.c - where jumps over frames come down. */
#include "agent/land.h"

#include "agent/discover.h"
#include "agent/entry.h"
#include "agent/lock.h"
#include "agent/program.h"
#include "agent/segment.h"
#include "agent/thread.h"

/* Bit 63 of agent_thread.landing: it follows a call. No address of the program has it. */
#define IS_RETURN ((uintptr_t)1 << 63)

/* Called by entry.S. */
void agent_landed(struct agent_saved *saved);

uintptr_t land_at(uintptr_t pc, int is_return)
{
	agent_thread.landing = pc | (is_return ? IS_RETURN : 0);
	return (uintptr_t)agent_land;
}

void land(struct agent_saved *saved, uintptr_t pc, int is_return)
{
	struct agent_guard guard;
	struct unwind_regs regs;

	agent_thread.is_unwinding = false;
	saved->number = pc;
	agent_saved_regs(saved, pc, (uintptr_t)saved->stack, &regs);
	regs.is_return_address = is_return != 0;
	agent_lock(&guard);
	if (agent_is_on) {
		segment_enter_frame(&regs);
		if (!discover_repair(&regs))
			agent_thread.id = AGENT_LOST_ID;
	}
	agent_unlock_at_entry(&guard);
}

__attribute__((used)) void agent_landed(struct agent_saved *saved)
{
	uintptr_t landing = agent_thread.landing;

	land(saved, landing & ~IS_RETURN, (landing & IS_RETURN) != 0);
}
