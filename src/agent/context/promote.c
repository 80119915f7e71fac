/* promote.c - makes eventless functions instrumented ones. */
#include "agent/context/promote.h"

#include "agent/context/segment.h"
#include "agent/patch/reach.h"
#include "agent/program/no_callback.h"
#include "agent/threads/stop.h"

static promote_stop_fn stop_between; /* written once, at start */

void promote_set_stop(promote_stop_fn stop)
{
	stop_between = stop;
}

static bool begin(void)
{
	/* What a handler has interrupted is asked for while its state can be read as it was kept. */
	segment_find_interrupted();
	return stop_others() && (!stop_between || stop_between());
}

/* States that were kept are old from now on. */
static void end(void)
{
	__atomic_add_fetch(&agent_program.promotions, 1, __ATOMIC_RELEASE);
}

bool promote_frames(const struct walk *w)
{
	bool has_begun = false, ok = true;

	for (size_t i = 0; ok && i < w->inside; i++) {
		uint32_t function = w->frames[i].function;

		if (!agent_function_is(function, AGENT_FUNCTION_EVENTLESS))
			continue;
		ok = (has_begun || begin()) && reach_promote(function);
		has_begun = true;
	}
	if (!has_begun)
		return ok;
	/* Until the caller has computed the thread's state anew. */
	agent_thread.id = AGENT_FOREIGN_ID;
	end();
	return ok;
}

bool promote_function(uint32_t function)
{
	bool ok;

	if (!agent_function_is(function, AGENT_FUNCTION_EVENTLESS))
		return agent_function_is(function, AGENT_FUNCTION_INSTRUMENTED);
	ok = begin() && reach_promote(function);
	end();
	return ok;
}

bool promote_is_due(uint32_t site, uintptr_t target)
{
	uint32_t callee;

	if (no_callback_is_known(target))
		return no_callback_is_event(target);
	callee = agent_function_entered(agent_resolve(target));
	if (callee != AGENT_NONE)
		reach_function(callee);
	if (agent_function_is(callee, AGENT_FUNCTION_SEEN)) /* it cannot be written now, nor can the site */
		return false;
	if (agent_function_is(callee, AGENT_FUNCTION_EVENTLESS))
		return agent_site_is_tail(agent_site(site));
	return !agent_function_is(callee, AGENT_FUNCTION_NO_CALLBACK);
}
