/* calls.c - searches the calls of a site, and keeps which site has which record. */
#include "agent/program/calls.h"

#include "agent/os/memory.h"
#include "waymark/abi.h"

/* 1 more than the site's number; 0: not a site's. Under the agent's lock. */
static uint32_t *site_by_record;
static size_t record_capacity;

struct agent_call *agent_call_find(uint32_t site, uintptr_t target)
{
	agent_for_each_present_call(c, agent_site(site))
		if (agent_call(c)->target == target)
			return agent_call(c);
	return NULL;
}

struct agent_call *agent_call_to(uint32_t site, uint32_t callee)
{
	bool is_gone = agent_function_is(callee, AGENT_FUNCTION_GONE);

	for (uint32_t c = agent_site(site)->first_call; c != AGENT_NONE && (is_gone || !agent_call(c)->is_gone);
	     c = agent_call(c)->next)
		if (agent_call(c)->callee == callee && agent_call(c)->edge != AGENT_NONE)
			return agent_call(c);
	return NULL;
}

uint32_t agent_site_of_record(uint32_t record)
{
	record &= ~WM1_SITE_ELIDED;
	return record < record_capacity ? site_by_record[record] - 1 : AGENT_NONE;
}

bool agent_site_note_record(uint32_t record, uint32_t site)
{
	if (!agent_reserve((void **)&site_by_record, &record_capacity, (size_t)record + 1, sizeof *site_by_record))
		return false;
	if (record)
		site_by_record[record] = site + 1;
	return true;
}

struct agent_call *agent_call_tail(uint32_t site_record, uint32_t callee)
{
	uint32_t site = agent_site_of_record(site_record);

	if (site == AGENT_NONE || !agent_site_is_tail(agent_site(site)))
		return NULL;
	agent_for_each_call(c, agent_site(site))
		if (agent_call(c)->callee == callee && agent_call(c)->edge != AGENT_NONE)
			return agent_call(c);
	return NULL;
}

uint64_t agent_entry_id(const struct agent_entry *entry)
{
	uint32_t site = agent_site_of_record(entry->site);

	return site == AGENT_NONE ? entry->id : entry->id - agent_site_addend(agent_site(site));
}

bool agent_function_knows_caller(uint32_t function, uintptr_t return_address)
{
	const struct agent_function *f = agent_function(function);

	for (int i = 0; i < AGENT_KNOWN_CALLERS && f->callers[i]; i++)
		if (f->callers[i] == return_address)
			return !(f->left_callers >> i & 1);
	return false;
}
