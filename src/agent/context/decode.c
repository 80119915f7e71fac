/* decode.c - from ids and entries to calls. */
#include "agent/context/decode.h"

#include "agent/program/calls.h"
#include "agent/os/memory.h"

/* Under the agent's lock. */
static struct decoded decoded;
static struct walk_chain taken;

static bool add(struct decoded *d, uint32_t site, uint32_t call)
{
	if (!agent_reserve((void **)&d->calls, &d->capacity, d->count + 1, sizeof *d->calls))
		return false;
	d->calls[d->count++] = (struct decoded_call){site, call};
	return true;
}

/* The piece that ends at *function, which becomes the function that it begins at. */
static bool add_piece(struct decoded *d, uint32_t *function, uint64_t id)
{
	const struct agent_program *p = &agent_program;
	const struct callgraph *g = &p->encoder.graph;
	uint32_t count, start;
	struct error *err;

	if (!agent_reserve((void **)&d->edges, &d->edge_capacity, (size_t)g->node_count + 1, sizeof *d->edges))
		return false;
	err = callgraph_decode(g, agent_function(*function)->node, id, d->edges, &count, &start);
	if (err) {
		error_destroy(err);
		return false;
	}
	*function = p->node_functions[start];
	while (count > 0) {
		uint32_t call = p->edge_calls[d->edges[--count]];

		if (!add(d, agent_call(call)->site, call))
			return false;
	}
	return true;
}

static uint32_t call_of(const struct agent_site *site, uint32_t record, uint32_t callee)
{
	if (site->record != record)
		return AGENT_NONE;
	agent_for_each_call(c, site)
		if (agent_call(c)->callee == callee && agent_call(c)->edge != AGENT_NONE)
			return c;
	return AGENT_NONE;
}

bool decode_context(uint32_t function, uint64_t id, const struct agent_entry *entries, size_t count,
		    struct decoded *ret)
{
	ret->count = 0;
	for (;;) {
		const struct agent_entry *entry = &entries[count - 1];
		uint32_t start = function, site;

		ret->root = AGENT_NONE;
		if (function == AGENT_NONE)
			return true;
		if (!agent_id_is_foreign(id)) {
			if (!add_piece(ret, &start, id))
				return false;
			ret->root = start;
		}
		if (count <= 1)
			return true;
		site = agent_site_of_record(entry->site);
		if (site == AGENT_NONE || !add(ret, site, call_of(agent_site(site), entry->site, start)))
			return false;
		function = agent_site(site)->function;
		id = agent_entry_id(entry);
		count--;
	}
}

static bool take(enum walk_step_kind kind, uint32_t number, uint64_t frame_slot, uint32_t function)
{
	if (!agent_reserve((void **)&taken.steps, &taken.capacity, taken.count + 1, sizeof *taken.steps))
		return false;
	taken.steps[taken.count++] =
		(struct walk_step){.kind = (uint8_t)kind, .number = number, .frame_slot = frame_slot};
	taken.function = function;
	return true;
}

/* The next step of the chain, from *i on, that is no tail call. */
static const struct walk_step *next_shown(const struct walk_chain *chain, size_t *i)
{
	while (*i < chain->count) {
		const struct walk_step *step = &chain->steps[(*i)++];

		if (step->kind != WALK_CALL || !agent_site_is_tail(agent_site(agent_call(step->number)->site)))
			return step;
	}
	return NULL;
}

bool decode_take_tails(const struct agent_thread *thread, struct walk_chain *chain)
{
	const struct walk_step *step;
	struct walk_chain was;
	uint64_t frame_slot = 0;
	size_t i = 0;

	if (!decode_context(chain->function, thread->id, thread->base, (size_t)(thread->top - thread->base), &decoded))
		return false;
	step = next_shown(chain, &i);
	if (!step || step->kind != WALK_START || step->number != decoded.root)
		return false;
	taken.count = 0;
	taken.innermost = chain->innermost;
	taken.no_callback_tail = chain->no_callback_tail;
	if (!take(WALK_START, step->number, step->frame_slot, step->number))
		return false;
	for (size_t n = decoded.count; n-- > 0;) {
		const struct decoded_call *c = &decoded.calls[n];

		if (c->call == AGENT_NONE)
			return false;
		if (!agent_site_is_tail(agent_site(c->site))) {
			step = next_shown(chain, &i);
			if (!step || step->kind != WALK_CALL || agent_call(step->number)->site != c->site)
				return false;
			frame_slot = step->frame_slot;
		}
		if (!take(WALK_CALL, c->call, frame_slot, agent_call(c->call)->callee))
			return false;
	}
	if (next_shown(chain, &i))
		return false;
	was = *chain;
	*chain = taken;
	taken = was;
	return true;
}
