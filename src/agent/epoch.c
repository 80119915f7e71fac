/*
 * epoch.c - counts calls, encodes anew, writes every site whose calls changed, and translates the thread's context.
 *
 * The thread's chain of calls is taken from its stack in the old encoding, and is checked there: replayed, it must give the id and
 * the entries that the thread has.
 */
#include "agent/epoch.h"

#include <string.h>
#include <time.h>

#include "agent/decode.h"
#include "agent/lock.h"
#include "agent/memory.h"
#include "agent/patch.h"
#include "agent/record.h"
#include "agent/walk.h"

struct epoch_stats epoch_stats;

/* Under the agent's lock. */
static struct walk walk;
static struct walk_chain chain;
static struct walk_state state;

/* What was in force of an edge and its callee. */
struct was {
	uint64_t addend;
	uint64_t restart;
	uint8_t kind;
	bool leaves_tails;
};

void epoch_take_counts(void)
{
	struct agent_program *p = &agent_program;

	for (size_t i = 0; i < p->call_count; i++) {
		uint32_t *counter = (uint32_t *)p->calls[i].counter; /* NOLINT(performance-no-int-to-ptr) */

		if (counter && *counter) {
			if (p->calls[i].edge != AGENT_NONE)
				adaptive_count(&p->encoder, p->calls[i].edge, *counter);
			epoch_stats.pushes += *counter;
			*counter = 0;
		}
	}
}

bool epoch_is_due(void)
{
	epoch_take_counts();
	return adaptive_due(&agent_program.encoder) != ADAPTIVE_NONE;
}

static bool leaves_tails(uint32_t edge)
{
	const struct agent_program *p = &agent_program;

	return p->functions[p->calls[p->edge_calls[edge]].callee].leaves_tails;
}

static struct was *remember(void)
{
	const struct callgraph *g = &agent_program.encoder.graph;
	struct was *was = agent_alloc(((size_t)g->edge_count + 1) * sizeof *was);

	for (uint32_t e = 0; was && e < g->edge_count; e++)
		was[e] = (struct was){g->edges[e].addend, g->nodes[g->edges[e].callee].restart,
				      (uint8_t)g->edges[e].kind, leaves_tails(e)};
	return was;
}

static bool is_changed(const struct was *was, uint32_t e)
{
	const struct callgraph *g = &agent_program.encoder.graph;
	const struct callgraph_edge *edge = &g->edges[e];
	bool pushed = was->kind != EDGE_ENCODED, pushes = edge->kind != EDGE_ENCODED;

	if (pushed != pushes || was->leaves_tails != leaves_tails(e))
		return true;
	return pushes ? was->restart != g->nodes[edge->callee].restart : was->addend != edge->addend;
}

/* Tail calls that are numbered now leave nothing: their functions, and those that lead to them by tail calls, may not any more. */
static void find_tails(void)
{
	struct agent_program *p = &agent_program;
	bool is_more = true;

	for (size_t f = 0; f < p->function_count; f++)
		p->functions[f].leaves_tails = false;
	while (is_more) {
		is_more = false;
		for (size_t c = 0; c < p->call_count; c++) {
			const struct agent_call *call = &p->calls[c];
			struct agent_function *f = &p->functions[p->sites[call->site].function];

			if (f->leaves_tails || p->sites[call->site].kind < SCAN_TAIL ||
			    !(patch_call_pushes(call) ||
			      (call->callee != AGENT_NONE && p->functions[call->callee].leaves_tails)))
				continue;
			f->leaves_tails = is_more = true;
		}
	}
}

/* Entries that say where tail calls are left out stay, also where nothing pushes any more: the call that led there takes them off. */
static void keep_cuts(const struct walk_chain *c)
{
	struct agent_program *p = &agent_program;
	uint32_t entered = AGENT_NONE;

	for (size_t i = 0; i < c->count; i++) {
		const struct walk_step *step = &c->steps[i];
		const struct agent_call *call = &p->calls[step->number];

		if (step->kind == WALK_CALL && p->sites[call->site].kind < SCAN_TAIL)
			entered = call->callee;
		else if (step->kind == WALK_START)
			entered = step->number;
		else if (step->kind == WALK_CUT && entered != AGENT_NONE)
			p->functions[entered].leaves_tails = true;
	}
}

static void write_changes(const struct was *was)
{
	struct agent_program *p = &agent_program;
	uint32_t last = AGENT_NONE;

	for (uint32_t e = 0; e < p->encoder.graph.edge_count; e++) {
		uint32_t site = p->calls[p->edge_calls[e]].site;

		if (!is_changed(&was[e], e) || site == last)
			continue;
		patch_site(site);
		last = site;
	}
	for (uint32_t f = 0; f < p->function_count; f++)
		if (p->functions[f].is_hooked)
			patch_entry(f);
}

static bool is_thread_state(const struct walk_state *s, const struct agent_thread *thread)
{
	if (thread->id != s->id || (size_t)(thread->top - thread->base) != s->count)
		return false;
	for (size_t i = 1; i < s->count; i++)
		if (thread->base[i].id != s->entries[i].id || thread->base[i].site != s->entries[i].site)
			return false;
	return true;
}

static uint64_t now_ns(void)
{
	struct timespec ts = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool encode(void)
{
	struct callgraph_stats stats;
	struct error *err = adaptive_encode(&agent_program.encoder, &stats);

	if (err) {
		error_destroy(err);
		return false;
	}
	epoch_stats.max_id = stats.max_id;
	return true;
}

/* Its innermost frame, or one that a signal interrupted, is between the first and the last byte that a new encoding may write over at a
 * site. */
static bool is_inside_sites(const struct walk *w)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct walk_frame *f = &w->frames[i];

		if (f->site == AGENT_NONE && agent_function_is(f->function, AGENT_FUNCTION_INSTRUMENTED) &&
		    patch_is_inside(f->function, f->pc)) {
			epoch_stats.put_off++;
			return true;
		}
	}
	return false;
}

bool epoch_begin(const struct unwind_regs *regs)
{
	struct agent_thread *thread = &agent_thread;
	uint64_t start = now_ns();
	struct was *was;

	if (!thread->base || !walk_stack(&walk, regs) || is_inside_sites(&walk) ||
	    !walk_find_chain(&walk, 0, thread, &chain) || !walk_replay(&chain, thread->base, false, &state))
		return false;
	/* The stack does not show tail calls; what the thread itself knows of them is kept. */
	if (!is_thread_state(&state, thread) && !decode_take_tails(thread, &chain))
		epoch_stats.mismatches++;
	was = remember();
	if (!was || !encode()) {
		agent_free(was);
		return false;
	}
	record_epoch();
	find_tails();
	keep_cuts(&chain);
	write_changes(was);
	agent_free(was);
	walk_fix_returns(&walk);
	if (walk_replay(&chain, thread->base, false, &state))
		walk_install(&state, thread);
	epoch_stats.count++;
	epoch_stats.ns += now_ns() - start;
	return true;
}
