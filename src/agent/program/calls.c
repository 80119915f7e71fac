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

	agent_for_each_call(c, agent_site(site)) {
		if (!is_gone && agent_call(c)->is_gone)
			break;
		if (agent_call(c)->callee == callee && agent_call(c)->edge != AGENT_NONE)
			return agent_call(c);
	}
	return NULL;
}

void agent_call_list(uint32_t number)
{
	struct agent_call *call = agent_call(number);
	struct agent_site *site = agent_site(call->site);

	call->next = site->first_call;
	site->first_call = number;
	if (call->callee != AGENT_NONE) {
		call->next_caller = agent_function(call->callee)->first_caller;
		agent_function(call->callee)->first_caller = number + 1;
	}
}

void agent_call_unlist(uint32_t number)
{
	uint32_t *link = &agent_site(agent_call(number)->site)->first_call;

	while (*link != number && *link != AGENT_NONE)
		link = &agent_call(*link)->next;
	if (*link == number)
		*link = agent_call(number)->next;
}

void agent_call_list_gone(uint32_t number)
{
	uint32_t *link = &agent_site(agent_call(number)->site)->first_call;

	agent_call_unlist(number);
	while (*link != AGENT_NONE && !agent_call(*link)->is_gone)
		link = &agent_call(*link)->next;
	agent_call(number)->next = *link;
	*link = number;
}

void agent_program_invalidate_no_callback(void)
{
	struct agent_program *p = &agent_program;

	for (uint32_t c = 0; c < p->call_count; c++) {
		if (!agent_function_is(agent_call(c)->callee, AGENT_FUNCTION_NO_CALLBACK))
			continue;
		agent_call_unlist(c); /* as if the site had not called it yet */
		agent_call(c)->is_gone = true;
	}
	for (size_t i = 0; i < p->function_count; i++)
		if (agent_function(i)->state == AGENT_FUNCTION_NO_CALLBACK)
			agent_function(i)->state = AGENT_FUNCTION_SEEN;
	p->no_callback_count = 0;
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
