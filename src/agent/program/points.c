/* points.c - forgets what was known by return addresses. */
#include "agent/program/points.h"

#include "agent/code/trampolines.h"
#include "agent/program/program.h"

struct address_map points_captures, points_calls;
_Atomic uint32_t points_generation;

/* Before and behind: what is found meanwhile is of a generation that is over. */
static void begin_generation(void)
{
	atomic_fetch_add(&points_generation, 1);
}

void points_forget_site(uint32_t site)
{
	const struct agent_site *s = agent_site(site);

	begin_generation();
	address_map_forget(&points_captures, s->address + s->len_bytes);
	if (s->trampoline)
		address_map_forget(&points_captures, s->trampoline + AGENT_TRAMPOLINE_BACK);
	begin_generation();
}

void points_forget_range(uintptr_t low, uintptr_t high)
{
	begin_generation();
	address_map_forget_range(&points_captures, low, high, 64);
	address_map_forget_range(&points_calls, low, high, POINTS_KIND_SHIFT);
	begin_generation();
}
