/* state.c - the flags of state.h, and for how long a detach waits. */
#include "agent/os/state.h"

#include "recorder/clock.h"

bool agent_is_on;
bool agent_has_left;
bool agent_is_seccomp_frozen;
bool agent_is_unloading;
_Atomic uint32_t agent_stubs_held;

/* Written under the agent's lock, and by the thread that finds the time over; read by any thread, relaxed: a record more is no harm. */
static bool is_leaving;
static uint64_t leaving_until_ns;

bool agent_leaves(void)
{
	if (!__atomic_load_n(&is_leaving, __ATOMIC_RELAXED))
		return false;
	if (wmrt_now_ns() < leaving_until_ns)
		return true;
	__atomic_store_n(&is_leaving, false, __ATOMIC_RELAXED);
	return false;
}

void agent_leaves_until(uint64_t ns)
{
	leaving_until_ns = ns;
	__atomic_store_n(&is_leaving, true, __ATOMIC_RELAXED);
}

void agent_leaves_no_more(void)
{
	__atomic_store_n(&is_leaving, false, __ATOMIC_RELAXED);
}
