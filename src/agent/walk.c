/*
 * walk.c - walks by .eh_frame, and replays the calls of the frames in the encoding in force.
 *
 * A frame whose caller is instrumented was entered over a call of the site it returns to; or over tail calls in between, which the
 * stack does not show. Those that pushed have left an entry with the frame's key. One that did not is the one edge with addend 0
 * into its callee.
 */
#include "agent/walk.h"

#include <string.h>

#include "agent/cells.h"
#include "agent/coroutine.h"
#include "agent/discover.h"
#include "agent/memory.h"

enum {
	MAX_TAILS = 64,
	MAX_FRAMES = 1 << 24,
};

/* Under the agent's lock. */
static struct unwind_cache cache;

static bool add_frame(struct walk *w, const struct unwind_regs *regs)
{
	uint32_t number = AGENT_NONE;
	struct walk_frame *frame;

	if (w->count == MAX_FRAMES ||
	    !agent_reserve((void **)&w->frames, &w->capacity, w->count + 1, sizeof *w->frames))
		return false;
	frame = &w->frames[w->count++];
	*frame = (struct walk_frame){
		.pc = regs->pc, .function = AGENT_NONE, .site = AGENT_NONE, .is_interrupted = !regs->is_return_address};
	if (cells_find(regs->pc, &number) || regs->is_return_address)
		number = number == AGENT_NONE ? agent_site_returning_to(regs->pc) : number;
	if (number != AGENT_NONE) {
		const struct agent_site *site = &agent_program.sites[number];

		/* A thread that was interrupted in a cell is in no call: in front of it, or behind it. */
		if (regs->is_return_address)
			frame->site = number;
		frame->pc = site->address + site->len_bytes;
		frame->function = site->function;
	} else {
		frame->function = agent_function_at(regs->pc - regs->is_return_address);
	}
	return true;
}

bool walk_stack(struct walk *w, const struct unwind_regs *from)
{
	struct unwind_regs regs = *from;
	struct unwind_frame left;

	w->count = w->inside = 0;
	w->is_whole = false;
	while (add_frame(w, &regs)) {
		struct walk_frame *frame = &w->frames[w->count - 1];
		const struct agent_image *image;
		struct unwind_stack stack;
		enum unwind_result result;

		regs.pc = frame->pc; /* of a detour: as if the site itself had called */
		image = agent_image_at(regs.pc - regs.is_return_address);
		if (!agent_thread_stack(regs.r[CFI_RSP], &stack.low, &stack.high)) {
			w->inside = w->inside ? w->inside : w->count;
			return w->count > 1;
		}
		result = unwind_step(image ? &image->table : NULL, &stack, &cache, &regs, &left);
		if (result != UNWIND_OK) {
			w->is_whole |= result == UNWIND_END || coroutine_is_end(frame->pc);
			w->inside = w->inside ? w->inside : w->count;
			return true;
		}
		frame->slot = left.return_slot;
		if (agent_thread.root && frame->slot == agent_thread.root && !w->inside) {
			w->inside = w->count;
			w->is_whole = true;
		}
	}
	return false;
}

/* ---- from frames to a context ---- */

static bool add_entry(struct walk_state *s, uint64_t id, uint64_t key, uint32_t site)
{
	if (!agent_reserve((void **)&s->entries, &s->capacity, s->count + 1, sizeof *s->entries))
		return false;
	s->entries[s->count++] = (struct agent_entry){.id = id, .key = key, .site = site};
	return true;
}

static struct agent_call *call_to(uint32_t site, uint32_t callee)
{
	for (uint32_t c = agent_program.sites[site].first_call; c != AGENT_NONE; c = agent_program.calls[c].next)
		if (agent_program.calls[c].callee == callee && agent_program.calls[c].edge != AGENT_NONE)
			return &agent_program.calls[c];
	return NULL;
}

/* A call of what is not instrumented and may call back. */
static struct agent_call *foreign_call(uint32_t site)
{
	for (uint32_t c = agent_program.sites[site].first_call; c != AGENT_NONE; c = agent_program.calls[c].next)
		if (agent_program.calls[c].edge == AGENT_NONE && !agent_program.calls[c].is_quiet)
			return &agent_program.calls[c];
	return NULL;
}

/* What is not instrumented and inside of the site is a function that is quiet. */
static bool calls_quietly(uint32_t site)
{
	for (uint32_t c = agent_program.sites[site].first_call; c != AGENT_NONE; c = agent_program.calls[c].next)
		if (!agent_program.calls[c].is_quiet)
			return false;
	return agent_program.sites[site].first_call != AGENT_NONE;
}

/* The tail call at 0 into the function, NULL if its edge at 0 is none. */
static struct agent_call *zero_tail_into(uint32_t function)
{
	const struct callgraph *g = &agent_program.encoder.graph;
	uint32_t node = agent_program.functions[function].node, first;
	struct agent_call *call;

	if (node >= agent_program.encoder.numbered_functions)
		return NULL;
	first = g->range_start[node];
	if (first == g->range_start[node + 1] || g->ranges[first].edge == CALLGRAPH_DUMMY ||
	    g->ranges[first].first != 0)
		return NULL;
	call = &agent_program.calls[agent_program.edge_calls[g->ranges[first].edge]];
	return agent_program.sites[call->site].kind == SCAN_TAIL ||
			       agent_program.sites[call->site].kind == SCAN_TAIL_INDIRECT
		       ? call
		       : NULL;
}

static bool add_step(struct walk_chain *c, enum walk_step_kind kind, uint32_t number, uint64_t key, uint32_t function)
{
	if (!agent_reserve((void **)&c->steps, &c->capacity, c->count + 1, sizeof *c->steps))
		return false;
	c->steps[c->count++] = (struct walk_step){.kind = (uint8_t)kind, .number = number, .key = key};
	c->function = function;
	return true;
}

static uint32_t call_number(const struct agent_call *call)
{
	return (uint32_t)(call - agent_program.calls);
}

/* The newest entries of the thread with that key that a site other than `site` pushed; lowest first from *ret on. */
static size_t tails_of(const struct agent_thread *old, uint64_t key, uint32_t site, const struct agent_entry **ret)
{
	const struct agent_entry *entry = old->top;
	size_t count = 0;

	while (entry && entry > old->base + 1 && entry[-1].key < key)
		entry--;
	while (entry && entry > old->base + 1 && entry[-1].key == key &&
	       (site == AGENT_NONE || entry[-1].site != agent_program.sites[site].record)) {
		entry--;
		count++;
	}
	*ret = entry;
	return count;
}

/*
 * The calls that led to `callee`, innermost first: over site, or, AGENT_NONE, over tail calls alone, from the function that foreign code
 * has entered. 0: they cannot be known, or there are none.
 */
static size_t find_calls(uint32_t site, uint32_t callee, uint64_t key, const struct agent_thread *old,
			 const struct agent_call **calls)
{
	const struct agent_entry *tails;
	size_t tail_count = tails_of(old, key, site, &tails), n = 0;
	uint32_t at = callee;

	/* Backwards: what entered `at`? */
	while (tail_count || site != AGENT_NONE) {
		const struct agent_call *call = tail_count ? NULL : call_to(site, at);
		bool is_first = call != NULL;

		if (n == MAX_TAILS)
			return 0;
		if (!call && tail_count && (call = discover_tail(tails[tail_count - 1].site, at)) != NULL)
			tail_count--;
		else if (!call)
			call = zero_tail_into(at);
		if (!call)
			return 0;
		calls[n++] = call;
		if (is_first)
			break;
		at = agent_program.sites[call->site].function;
	}
	return n;
}

static bool add_calls(struct walk_chain *c, const struct agent_call *const *calls, size_t n, uint64_t key)
{
	while (n > 0) {
		const struct agent_call *call = calls[--n];

		if (!add_step(c, WALK_CALL, call_number(call), key, call->callee))
			return false;
	}
	return true;
}

static bool is_tail_site(const struct agent_site *site)
{
	return site->kind == SCAN_TAIL || site->kind == SCAN_TAIL_INDIRECT;
}

/* The tail calls that lead from the end of path[0 .. n) to `callee`, depth first: how many ways there are, up to 2. *ret: the first's length. */
static unsigned find_ways(uint32_t callee, const struct agent_call **path, size_t n, const struct agent_call **found,
			  size_t *ret)
{
	const struct agent_call *last = path[n - 1];
	const struct agent_function *f;
	unsigned ways = 0;

	if (last->callee == callee && n > 1) {
		memcpy(found, path, n * sizeof(const struct agent_call *));
		*ret = n;
		return 1;
	}
	if (n == WALK_MAX_TAILS || !agent_function_is(last->callee, AGENT_FUNCTION_INSTRUMENTED))
		return 0;
	f = &agent_program.functions[last->callee];
	for (uint32_t s = f->first_site; s < f->first_site + f->site_count; s++) {
		if (!is_tail_site(&agent_program.sites[s]))
			continue;
		for (uint32_t c = agent_program.sites[s].first_call; c != AGENT_NONE && ways < 2;
		     c = agent_program.calls[c].next) {
			path[n] = &agent_program.calls[c];
			ways += find_ways(callee, path, n + 1, ways ? path : found, ret);
		}
	}
	return ways;
}

/* The calls from site to callee over tail calls that left nothing, since what they were called from was not known: if one way leads there. */
static size_t find_only_way(uint32_t site, uint32_t callee, const struct agent_call **calls)
{
	const struct agent_call *path[WALK_MAX_TAILS];
	unsigned ways = 0;
	size_t n = 0;

	for (uint32_t c = agent_program.sites[site].first_call; c != AGENT_NONE && ways < 2;
	     c = agent_program.calls[c].next) {
		path[0] = &agent_program.calls[c];
		ways += find_ways(callee, path, 1, ways ? path : calls, &n);
	}
	return ways == 1 ? n : 0;
}

bool walk_finds_tails(uint32_t site, uint32_t callee)
{
	const struct agent_call *calls[WALK_MAX_TAILS];

	return find_only_way(site, callee, calls) != 0;
}

/* From the function that the chain is at, over site, to callee. */
static bool enter(struct walk_chain *c, uint32_t site, uint32_t callee, uint64_t key, const struct agent_thread *old)
{
	const struct agent_call *calls[MAX_TAILS], *way[WALK_MAX_TAILS];
	size_t n = find_calls(site, callee, key, old, calls);

	if (n)
		return add_calls(c, calls, n, key);
	n = find_only_way(site, callee, way);
	for (size_t i = 0; i < n; i++)
		if (!add_step(c, WALK_CALL, call_number(way[i]), key, way[i]->callee))
			return false;
	return n > 0;
}

/* Foreign code at return_address has entered the frame's function, or one that led to it by tail calls. */
static bool start(struct walk_chain *c, const struct walk_frame *f, uintptr_t return_address,
		  const struct agent_thread *old)
{
	const struct agent_call *calls[MAX_TAILS];
	uint64_t key = f->slot - 8;
	size_t n = find_calls(AGENT_NONE, f->function, key, old, calls);
	uint32_t root = n ? agent_program.sites[calls[n - 1]->site].function : f->function;

	/* Where the entry of the root is not hooked, nothing has taken off what earlier tail calls left there. */
	if (n && !discover_is_known_caller(root, return_address)) {
		root = f->function;
		n = 0;
	}
	return add_step(c, WALK_START, root, discover_is_known_caller(root, return_address), root) &&
	       add_calls(c, calls, n, key);
}

static bool enter_foreign(struct walk_chain *c, uint32_t site, uint64_t key)
{
	const struct agent_call *call = foreign_call(site);

	return call && add_step(c, WALK_FOREIGN, call_number(call), key, AGENT_NONE);
}

/* Tail calls on from the function, depth first, to the target; path[0 .. n) leads to the function. */
static size_t find_tail_path(uint32_t function, uintptr_t target, const struct agent_call **path, size_t n)
{
	const struct agent_function *f = &agent_program.functions[function];

	if (n == WALK_MAX_TAILS || !agent_function_is(function, AGENT_FUNCTION_INSTRUMENTED))
		return 0;
	for (uint32_t s = f->first_site; s < f->first_site + f->site_count; s++) {
		if (!is_tail_site(&agent_program.sites[s]))
			continue;
		for (uint32_t c = agent_program.sites[s].first_call; c != AGENT_NONE; c = agent_program.calls[c].next) {
			const struct agent_call *call = &agent_program.calls[c];
			size_t found;

			path[n] = call;
			if (call->edge == AGENT_NONE && call->target == target)
				return n + 1;
			found = call->edge == AGENT_NONE ? 0 : find_tail_path(call->callee, target, path, n + 1);
			if (found)
				return found;
		}
	}
	return 0;
}

size_t walk_tail_path(uint32_t site, uintptr_t target, const struct agent_call **path)
{
	for (uint32_t c = agent_program.sites[site].first_call; c != AGENT_NONE; c = agent_program.calls[c].next) {
		const struct agent_call *call = &agent_program.calls[c];
		size_t n;

		path[0] = call;
		n = call->edge == AGENT_NONE ? 0 : find_tail_path(call->callee, target, path, 1);
		if (n)
			return n;
	}
	return 0;
}

/* The site's callee is gone from the stack by a tail call of code that is not instrumented, whose frame this is. */
static bool enter_tail_caller(struct walk_chain *c, uint32_t site, const struct walk_frame *f, uint64_t key,
			      bool *ret_end)
{
	const struct agent_call *path[WALK_MAX_TAILS];
	size_t n =
		f->function == AGENT_NONE ? 0 : walk_tail_path(site, agent_program.functions[f->function].start, path);

	if (!n)
		return false;
	for (size_t i = 0; i + 1 < n; i++)
		if (!add_step(c, WALK_CALL, call_number(path[i]), key, path[i]->callee))
			return false;
	*ret_end = path[n - 1]->is_quiet;
	return path[n - 1]->is_quiet || add_step(c, WALK_FOREIGN, call_number(path[n - 1]), key, AGENT_NONE);
}

/* The frame outside is of the chain's function, at site (AGENT_NONE: a signal interrupted it). *ret_end: nothing inside counts. */
static bool step_in(struct walk_chain *c, const struct walk_frame *f, uint32_t site, const struct agent_thread *old,
		    bool *ret_end)
{
	bool is_instrumented = agent_function_is(f->function, AGENT_FUNCTION_INSTRUMENTED);
	uint64_t key = f->slot - 8;

	if (site == AGENT_NONE)
		return !is_instrumented && add_step(c, WALK_SIGNAL, 0, 0, AGENT_NONE);
	if (agent_function_is(f->function, AGENT_FUNCTION_QUIET) || (!is_instrumented && calls_quietly(site))) {
		*ret_end = true;
		return true;
	}
	if (!is_instrumented)
		return enter_foreign(c, site, key) || enter_tail_caller(c, site, f, key, ret_end);
	if (!call_to(site, f->function) && foreign_call(site) && !zero_tail_into(f->function))
		return enter_foreign(c, site, key) &&
		       add_step(c, WALK_START, f->function, 0, f->function); /* not at its entry */
	return enter(c, site, f->function, key, old);
}

bool walk_find_chain(const struct walk *w, size_t frame, const struct agent_thread *old, struct walk_chain *c)
{
	uint32_t site = AGENT_NONE; /* of the frame outside */
	bool is_end = false;

	c->count = 0;
	c->function = AGENT_NONE;
	if (!w->is_whole)
		return false;
	for (size_t i = w->inside; i-- > frame && !is_end;) {
		const struct walk_frame *f = &w->frames[i];

		if (c->function != AGENT_NONE) {
			if (!step_in(c, f, site, old, &is_end))
				return false;
		} else if (agent_function_is(f->function, AGENT_FUNCTION_INSTRUMENTED)) {
			if (!start(c, f, i + 1 < w->inside ? w->frames[i + 1].pc : 0, old))
				return false;
		}
		site = f->site;
	}
	return true;
}

static bool replay_call(struct walk_state *s, const struct agent_call *call, uint64_t key)
{
	const struct callgraph *g = &agent_program.encoder.graph;
	const struct callgraph_edge *edge = &g->edges[call->edge];

	s->function = call->callee;
	if (edge->kind == EDGE_ENCODED) {
		s->id += edge->addend;
		return true;
	}
	if (is_tail_site(&agent_program.sites[call->site]) && agent_id_is_foreign(s->id))
		return true; /* nor does the call itself push then */
	if (!add_entry(s, s->id, key, agent_program.sites[call->site].record))
		return false;
	s->id = g->nodes[edge->callee].restart;
	return true;
}

static bool replay_step(struct walk_state *s, const struct walk_step *step, bool is_captured)
{
	const struct agent_call *call = &agent_program.calls[step->number];

	switch (step->kind) {
	case WALK_START:
		if (step->key || is_captured)
			s->id = agent_program.encoder.graph.nodes[agent_program.functions[step->number].node].restart;
		s->function = step->number;
		return true;
	case WALK_CALL:
		return replay_call(s, call, step->key);
	case WALK_FOREIGN:
		if (!(is_tail_site(&agent_program.sites[call->site]) && agent_id_is_foreign(s->id)) &&
		    !add_entry(s, s->id, step->key, call->foreign))
			return false;
		break;
	default:
		break;
	}
	s->id = AGENT_FOREIGN_ID;
	s->function = AGENT_NONE;
	return true;
}

bool walk_replay(const struct walk_chain *chain, const struct agent_entry *base, bool is_captured, struct walk_state *s)
{
	s->count = 0;
	s->id = AGENT_FOREIGN_ID;
	s->function = AGENT_NONE;
	if (!base || !add_entry(s, 0, UINT64_MAX, 0))
		return false;
	s->entries[0] = *base;
	for (size_t i = 0; i < chain->count; i++)
		if (!replay_step(s, &chain->steps[i], is_captured))
			return false;
	return true;
}

static void aim_returns(const struct walk *w, bool is_program)
{
	for (size_t i = 1; i < w->count; i++) {
		const struct agent_site *site;
		uintptr_t *slot = (uintptr_t *)w->frames[i - 1].slot; /* NOLINT(performance-no-int-to-ptr) */

		if (w->frames[i].site == AGENT_NONE || !slot)
			continue;
		site = &agent_program.sites[w->frames[i].site];
		*slot = site->is_at_cell && !is_program ? site->cell + AGENT_CELL_BACK
							: site->address + site->len_bytes;
	}
}

void walk_fix_returns(const struct walk *w)
{
	aim_returns(w, false);
}

void walk_put_back_returns(const struct walk *w)
{
	aim_returns(w, true);
}

void walk_install(const struct walk_state *state, struct agent_thread *thread)
{
	memcpy(thread->base + 1, state->entries + 1, (state->count - 1) * sizeof *state->entries);
	thread->top = thread->base + state->count;
	thread->id = state->id;
}
