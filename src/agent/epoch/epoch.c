/*
 * epoch.c - counts calls, encodes anew, writes every site whose calls changed, and translates the context of each thread.
 *
 * A thread's chain of calls is taken from its stack in the old encoding, and is checked there: replayed, it must give the id and
 * the entries that the thread has. The other threads are stopped meanwhile (stop.h), or wait for the agent's lock.
 */
#include "agent/epoch/epoch.h"

#include <string.h>

#include "agent/program/calls.h"
#include "agent/os/state.h"
#include "agent/epoch/addends.h"
#include "agent/patch/batch.h"
#include "agent/context/capture.h"
#include "agent/code/code.h"
#include "agent/context/decode.h"
#include "agent/context/discover.h"
#include "agent/os/memory.h"
#include "agent/patch/patch.h"
#include "agent/patch/patch_entry.h"
#include "agent/program/record.h"
#include "native/restart.h"
#include "agent/patch/reuse.h"
#include "agent/context/segment.h"
#include "agent/threads/stop.h"
#include "agent/threads/threads.h"
#include "agent/context/walk.h"
#include "agent/os/address_map.h"
#include "recorder/clock.h"

enum {
	MOVES_MAX = 40, /* times that threads go on that are where they cannot stay */
	FINDS_MAX = 2,
	PUSH_NS = 5, /* and the pop */
};

struct epoch_stats epoch_stats;

/* How a stopped thread came to where it is. */
struct way {
	struct thread_record *thread;
	struct walk walk; /* its frames; no count: they could not be walked */
	struct walk_chain chain;
	bool is_known; /* chain is how it came there */
	bool is_lost;  /* not all calls that it is in could be written */
};

/* Under the agent's lock. */
static struct walk_state state;
static struct way
	*ways; /* [0, way_count): of the stop in progress; frames and steps of those behind are kept for others */
static size_t way_count, way_capacity;
static size_t last_way;  /* the index of the one that was asked for last */
static uint64_t last_ns; /* what the last epoch took */

/* What was in force of an edge and its callee. */
struct old_edge {
	uint64_t addend;
	uint64_t restart;
	uint8_t kind;
	bool leaves_tails;
};

void epoch_take_counts(void)
{
	struct agent_program *p = &agent_program;

	for (size_t i = 0; i < p->call_count; i++) {
		uint32_t *counter = (uint32_t *)agent_call(i)->counter; /* NOLINT(performance-no-int-to-ptr) */

		if (counter && *counter) {
			if (agent_call(i)->edge != AGENT_NONE)
				adaptive_count(&p->encoder, agent_call(i)->edge, *counter);
			epoch_stats.pushes += *counter;
			*counter = 0;
		}
	}
}

bool epoch_is_due(void)
{
	const struct adaptive *a = &agent_program.encoder;

	epoch_take_counts();
	return adaptive_due(a) != ADAPTIVE_NONE && (a->new_calls + a->misplaced_calls) * PUSH_NS >= last_ns;
}

static bool leaves_tails(uint32_t edge)
{
	const struct agent_program *p = &agent_program;

	return agent_function(agent_call(p->edge_calls[edge])->callee)->leaves_tails;
}

static struct old_edge *remember(void)
{
	const struct callgraph *g = &agent_program.encoder.graph;
	struct old_edge *was = agent_alloc(((size_t)g->edge_count + 1) * sizeof *was);

	for (uint32_t e = 0; was && e < g->edge_count; e++)
		was[e] = (struct old_edge){g->edges[e].addend, g->nodes[g->edges[e].callee].restart,
					   (uint8_t)g->edges[e].kind, leaves_tails(e)};
	return was;
}

static bool is_changed(const struct old_edge *was, uint32_t e)
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
		agent_function(f)->leaves_tails = false;
	while (is_more) {
		is_more = false;
		for (size_t c = 0; c < p->call_count; c++) {
			const struct agent_call *call = agent_call(c);
			struct agent_function *f = agent_function(agent_site(call->site)->function);

			if (f->leaves_tails || agent_site(call->site)->kind < SCAN_TAIL ||
			    !(agent_call_pushes(call) ||
			      (call->callee != AGENT_NONE && agent_function(call->callee)->leaves_tails)))
				continue;
			f->leaves_tails = is_more = true;
		}
	}
}

/* Entries that say where tail calls are left out stay, also where nothing pushes any more: the call that led there takes them off. */
static void preserve_elided(const struct walk_chain *c)
{
	uint32_t entered = AGENT_NONE;

	for (size_t i = 0; i < c->count; i++) {
		const struct walk_step *step = &c->steps[i];
		const struct agent_call *call = agent_call(step->number);

		if (step->kind == WALK_CALL && agent_site(call->site)->kind < SCAN_TAIL)
			entered = call->callee;
		else if (step->kind == WALK_START)
			entered = step->number;
		else if (step->kind == WALK_CUT && entered != AGENT_NONE)
			agent_function(entered)->leaves_tails = true;
	}
}

/* In the order of sites: those of a function are written together. */
static void write_changes(const struct old_edge *was, bool *is_site_changed)
{
	struct agent_program *p = &agent_program;

	for (uint32_t e = 0; e < p->encoder.graph.edge_count; e++)
		is_site_changed[agent_call(p->edge_calls[e])->site] |= is_changed(&was[e], e);
	batch_begin();
	for (uint32_t site = 0; site < p->site_count; site++)
		if (is_site_changed[site])
			patch_site(site);
	batch_end();
	for (uint32_t f = 0; f < p->function_count; f++)
		if (agent_function(f)->is_hooked)
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
static bool is_inside_sites(const struct walk *w, bool is_interrupted)
{
	for (size_t i = is_interrupted ? 0 : 1; i < w->count; i++) {
		const struct walk_frame *f = &w->frames[i];

		if (f->site == AGENT_NONE && agent_function_is(f->function, AGENT_FUNCTION_INSTRUMENTED) &&
		    patch_is_inside(f->function, f->pc))
			return true;
	}
	return false;
}

static bool is_own_code(uintptr_t pc)
{
	return agent_image_is_own(agent_image_find(pc), pc);
}

/* The agent's code, or what the C library does for it, may be about to change the thread's state. */
static bool is_in_agent(const struct walk *w)
{
	for (size_t i = 0; i < w->inside; i++) {
		if (is_own_code(w->frames[i].pc) && !restart_is_wait(w->frames[i].pc))
			return !w->is_whole || i + 1 < w->inside;
		if (w->frames[i].function == AGENT_NONE ||
		    agent_function(w->frames[i].function)->image->kind != AGENT_IMAGE_FOREIGN)
			return false;
	}
	return false;
}

/* The way of that thread. NULL: it has none. Threads are asked for in the order of their list. */
static struct way *find_way(const struct thread_record *r)
{
	for (size_t n = 0; n < way_count; n++) {
		size_t i = (last_way + n) % way_count;

		if (ways[i].thread == r) {
			last_way = i + 1;
			return &ways[i];
		}
	}
	return NULL;
}

/* The same, added if need be. NULL without memory. Ways may move. */
static struct way *way_of(struct thread_record *r)
{
	struct way *way = find_way(r);

	if (way || !agent_reserve((void **)&ways, &way_capacity, way_count + 1, sizeof *ways))
		return way;
	way = &ways[way_count++];
	way->thread = r;
	way->is_known = way->is_lost = false;
	way->walk.count = 0;
	return way;
}

/* The first way from that one on whose thread is stopped; NULL: no other one is. */
static struct way *stopped_from(struct way *way)
{
	while (way < ways + way_count && !stop_has(way->thread))
		way++;
	return way < ways + way_count ? way : NULL;
}

/* Finds out how the thread came to where it is; steps of its chain are 0 when that is not known. False: its state is not that of its
 * frames now, or it is where code changes. */
static bool inspect_thread(struct thread_record *r)
{
	const struct unwind_regs *from = atomic_load(&r->regs);
	struct agent_thread *thread = r->state;
	struct way *way = way_of(r);
	struct unwind_regs regs;

	if (!way)
		return false;
	way->is_known = false;
	way->walk.count = 0;
	if (!from) /* it comes to the agent for the first time */
		return !thread->base && !thread->top && r->pc_kind != THREAD_PC_STUB;
	if (!agent_thread_begin_of(thread) || thread->is_unwinding)
		return false;
	regs = walk_thread_regs(r, from);
	if (!capture_is_between(&regs) || !segment_is_between(thread))
		return false;
	if (r->is_interrupted && is_own_code(regs.pc))
		return false;
	if (!walk_stack(&way->walk, &regs, thread))
		return true;
	if (is_inside_sites(&way->walk, r->is_interrupted) || (r->is_interrupted && is_in_agent(&way->walk)))
		return false;
	way->is_known = walk_find_chain(&way->walk, 0, thread, &way->chain) &&
			walk_replay(&way->chain, thread->base, false, &state);
	/* The stack does not show tail calls; what the thread itself knows of them is kept. */
	if (way->is_known && !is_thread_state(&state, thread) && thread->id != AGENT_LOST_ID &&
	    !decode_take_tails(thread, &way->chain))
		epoch_stats.mismatches++;
	return true;
}

static enum stop_held inspect_threads(void)
{
	enum stop_held ret = STOP_FREE;

	threads_for_each(r) {
		if (!stop_has(r) || inspect_thread(r))
			continue;
		if (atomic_load(&r->phase) == THREAD_WAITS)
			return STOP_HELD_STAYS;
		ret = STOP_HELD;
	}
	return ret;
}

/* Calls that threads were in before their functions were looked at. True: some may be known now. */
static bool find_calls(void)
{
	bool is_any = false;

	for (struct way *way = stopped_from(ways); way; way = stopped_from(way + 1)) {
		if (way->is_known || !way->walk.count || !way->walk.is_whole)
			continue;
		discover_frames(&way->walk, way->thread->state, NULL);
		is_any = true;
	}
	return is_any;
}

/* A thread whose way is not known is lost until its stack can be walked. */
static void translate(const struct way *way)
{
	struct agent_thread *thread = way->thread->state;

	if (!thread->base)
		return;
	if (way->is_known) {
		walk_retarget_returns(&way->walk);
		if (walk_replay(&way->chain, thread->base, false, &state)) {
			walk_install(&state, thread);
			return;
		}
	}
	thread->top = thread->base + 1;
	thread->id = AGENT_LOST_ID;
}

/* All threads are where their states are those of their frames, some moments later if need be. */
static bool stop_between(void)
{
	/* A thread that never returns may have frames in what is unmapped now. */
	if (agent_is_unloading)
		return false;
	way_count = 0;
	for (unsigned int times = 0, finds = 0; times < MOVES_MAX; times++) {
		enum stop_held held;

		if (!stop_others())
			return false;
		held = inspect_threads();
		if (held == STOP_FREE && (finds++ == FINDS_MAX || !find_calls()))
			return true;
		if (held == STOP_HELD_STAYS || (held == STOP_HELD && !stop_again(times)))
			return false;
	}
	return false;
}

bool epoch_settle(bool (*is_late)(void))
{
	way_count = 0;
	if (!stop_others() || inspect_threads() != STOP_FREE)
		return false;
	for (struct way *way = stopped_from(ways); way; way = stopped_from(way + 1))
		way->is_lost = !discover_frames(&way->walk, way->thread->state, is_late);
	if (inspect_threads() != STOP_FREE)
		return false;
	for (struct way *way = stopped_from(ways); way; way = stopped_from(way + 1)) {
		way->is_known &= !way->is_lost;
		walk_retarget_returns(&way->walk);
		translate(way);
	}
	return true;
}

void epoch_retarget_returns(const struct unwind_regs *regs)
{
	static struct walk own;

	if (!discover_take_old_returns())
		return;
	if (walk_stack(&own, regs, &agent_thread))
		walk_retarget_returns(&own);
	if (!stop_between())
		return;
	for (struct way *way = stopped_from(ways); way; way = stopped_from(way + 1))
		if (way->thread != agent_thread.record)
			walk_retarget_returns(&way->walk);
}

/* None of the threads comes back to a stub that it was in. */
static bool are_all_outside(void)
{
	for (struct way *way = stopped_from(ways); way; way = stopped_from(way + 1))
		if (!way->is_known || !way->walk.is_whole)
			return false;
	return atomic_load(&agent_stubs_held) == 0;
}

bool epoch_begin(void)
{
	uint64_t start = wmrt_now_ns();
	bool *is_site_changed, is_outside;
	const struct way *own;
	struct old_edge *was;

	/* A site that could not be written would go on as the last epoch had it: without room the present one is the last. */
	if (!code_has_room(agent_program.call_count) || !stop_between() || !(own = find_way(agent_thread.record)) ||
	    !own->is_known) {
		epoch_stats.put_off++;
		return false;
	}
	was = remember();
	is_site_changed = agent_alloc(agent_program.site_count + 1);
	addends_prepare();
	if (!was || !is_site_changed || !encode()) {
		agent_free(was);
		agent_free(is_site_changed);
		return false;
	}
	addends_settle();
	record_epoch();
	is_outside = are_all_outside();
	find_tails();
	for (struct way *way = stopped_from(ways); way; way = stopped_from(way + 1))
		if (way->is_known)
			preserve_elided(&way->chain);
	write_changes(was, is_site_changed);
	agent_free(was);
	agent_free(is_site_changed);
	for (struct way *way = stopped_from(ways); way; way = stopped_from(way + 1))
		translate(way);
	if (is_outside) {
		reuse_stubs();
		address_map_free_old();
	}
	epoch_stats.count++;
	last_ns = wmrt_now_ns() - start;
	epoch_stats.ns += last_ns;
	return true;
}
