/*
 * addends.c - chooses which calls of a site may have an addend.
 *
 * A direct call to whose return address control comes from elsewhere, too, makes its call from a trampoline (trampolines.S) when it has one. There is
 * a limited number of trampolines, so it is given one once it has pushed often.
 */
#include "agent/epoch/addends.h"

#include "agent/program/calls.h"
#include "agent/code/trampolines.h"

enum {
	TRAMPOLINE_PUSHES = 10000,
	TRAMPOLINES_KEPT = AGENT_TRAMPOLINES / 2, /* for calls that have no room */
	OUTWEIGHS = 2,                            /* times: all other calls of the site */
};

/* ---- the next epoch ---- */

/* The one call of an indirect site that is worth an addend. AGENT_NONE: each is to have addend 0 or to push. */
static uint32_t call_to_add(const struct agent_site *site)
{
	uint32_t best = AGENT_NONE;
	uint64_t most = 0, all = 0;
	bool is_only = true;

	if (site->is_entered && !site->needs_trampoline)
		return AGENT_NONE;
	agent_for_each_call(c, site) {
		const struct callgraph_edge *edge = agent_call_edge(agent_call(c));

		if (agent_call(c)->never_calls_back && !agent_call(c)->is_gone)
			return AGENT_NONE;
		if (agent_call(c)->is_gone) {
			is_only = false;
			break;
		}
		if (!edge) {
			is_only = false;
			continue;
		}
		is_only &= best == AGENT_NONE || edge == agent_call_edge(agent_call(best));
		if (best == AGENT_NONE || edge->weight > most) {
			best = c;
			most = edge->weight;
		}
		all += edge->weight;
	}
	if (best == AGENT_NONE || is_only)
		return best;
	if (agent_call_edge(agent_call(best))->kind == EDGE_ENCODED && site->added_call == AGENT_NONE)
		return AGENT_NONE;
	return most / OUTWEIGHS >= all - most ? best : AGENT_NONE;
}

static void prepare_indirect(const struct agent_site *site)
{
	uint32_t added = call_to_add(site);

	agent_for_each_call(c, site) {
		struct callgraph_edge *edge = agent_call_edge(agent_call(c));

		if (!edge)
			continue;
		edge->is_bare = added == AGENT_NONE;
		edge->is_pushed = added != AGENT_NONE && edge != agent_call_edge(agent_call(added));
	}
}

/* *trampolines: how many are left. */
static void prepare_entered(const struct agent_site *site, uint32_t *trampolines)
{
	struct callgraph_edge *edge = agent_call_edge(agent_call(site->first_call));

	if (!edge || !edge->is_bare || edge->weight < TRAMPOLINE_PUSHES || *trampolines <= TRAMPOLINES_KEPT)
		return;
	edge->is_bare = false;
	--*trampolines;
}

void addends_prepare(void)
{
	uint32_t trampolines = trampoline_left();

	for (size_t i = 0; i < agent_program.site_count; i++) {
		const struct agent_site *site = agent_site(i);

		if (site->first_call == AGENT_NONE)
			continue;
		if (site->kind == SCAN_CALL_INDIRECT)
			prepare_indirect(site);
		else if (site->kind == SCAN_CALL && site->is_entered && !site->needs_trampoline)
			prepare_entered(site, &trampolines);
	}
}

void addends_settle(void)
{
	struct agent_program *p = &agent_program;

	for (size_t i = 0; i < p->site_count; i++)
		agent_site(i)->added_call = AGENT_NONE;
	for (uint32_t e = 0; e < p->encoder.graph.edge_count; e++) {
		const struct callgraph_edge *edge = &p->encoder.graph.edges[e];
		struct agent_site *site = agent_site(agent_call(p->edge_calls[e])->site);

		if (edge->kind != EDGE_ENCODED || !edge->addend)
			continue;
		site->added_call = p->edge_calls[e];
		site->needs_trampoline |= site->is_entered;
	}
}
