/*
 * patch.c - sites: hands what is known of a site to plan.c, and writes what that says.
 *
 * The bytes of a site are those of its instructions before it (prefix), of itself, and behind it (suffix):
 *
 *      direct call          call before                   suffix: jmp after (if anything is to be undone)
 *      indirect call        nops over the prefix; call dispatch     the same
 *      direct tail call     jmp before
 *      indirect tail call   jmp dispatch; nops
 *      no room              jmp before, or dispatch; a trampoline makes the call
 *
 * `dispatch` does what the prefix did, and compares the target with those seen. A stub `before` belongs to one call and does what the
 * encoding says: add, push, or nothing (then there is no stub). Old stubs stay where they are: a thread may be in one.
 */
#include "agent/patch/patch.h"

#include <string.h>

#include "agent/program/calls.h"
#include "agent/code/trampolines.h"
#include "agent/os/memory.h"
#include "agent/os/options.h"
#include "agent/patch/batch.h"
#include "agent/patch/plan.h"
#include "agent/patch/shape.h"
#include "agent/threads/stop.h"

enum {
	REGION_MAX = CODE_PATCH_MAX,
	CALL_BYTES = STUB_BRANCH_BYTES,
	JUMP = 0xe9,
};

/* Room for one plan at a time. Under the agent's lock. */
static struct {
	struct plan_call *calls;
	struct plan_placed *placed;
	struct dispatch_case *cases;
	struct code_stub *stubs;
	uint8_t *bytes;
	size_t call_capacity, placed_capacity, case_capacity, stub_capacity, byte_capacity;
} scratch;

static bool leaves_tails(const struct agent_call *call)
{
	return call->callee != AGENT_NONE && agent_function(call->callee)->leaves_tails;
}

/* ---- what a plan depends on ---- */

static struct plan_call call_of(const struct agent_call *call)
{
	const struct callgraph_node *nodes = agent_program.encoder.graph.nodes;
	bool is_foreign = call->edge == AGENT_NONE;

	return (struct plan_call){
		.target = call->target,
		.before = call->before,
		.counter = call->counter,
		.restart = is_foreign ? 0 : nodes[agent_function(call->callee)->node].restart,
		.number = (uint32_t)(call - agent_program.calls),
		.pushed_site = agent_call_pushed_site(call),
		.pushes = agent_call_pushes(call),
		.is_foreign = is_foreign,
		.is_counted = !is_foreign || agent_options.is_verbose,
		.leaves_tails = leaves_tails(call),
		.is_gone = call->is_gone,
	};
}

/* The calls of the site, up to the first that is gone. False without memory. */
static bool gather_calls(const struct agent_site *site, struct plan_site *ret)
{
	agent_for_each_call(c, site) {
		if (!agent_reserve((void **)&scratch.calls, &scratch.call_capacity, (size_t)ret->call_count + 1,
				   sizeof *scratch.calls))
			return false;
		scratch.calls[ret->call_count++] = call_of(agent_call(c));
		if (agent_call(c)->is_gone)
			break;
	}
	ret->calls = scratch.calls;
	return true;
}

/* Room for the plan. False without memory. */
static bool make_room(const struct plan_site *in, struct plan *plan)
{
	size_t calls = in->call_count;
	uint32_t stubs, bytes;

	plan_most(in, &stubs, &bytes);
	if (!agent_reserve((void **)&scratch.placed, &scratch.placed_capacity, calls, sizeof *scratch.placed) ||
	    !agent_reserve((void **)&scratch.cases, &scratch.case_capacity, calls, sizeof *scratch.cases) ||
	    !agent_reserve((void **)&scratch.stubs, &scratch.stub_capacity, stubs, sizeof *scratch.stubs) ||
	    !agent_reserve((void **)&scratch.bytes, &scratch.byte_capacity, bytes, 1))
		return false;
	stub_plan(&plan->stubs, in->area, scratch.stubs, stubs, scratch.bytes, bytes);
	plan->placed = scratch.placed;
	plan->cases = scratch.cases;
	return true;
}

/* Where there are many targets: the table that they are looked up in. False without memory. */
static bool find_table(struct plan_site *in)
{
	uint32_t count = 0;

	if (agent_site_is_direct(in->site))
		return true;
	for (; count < in->call_count && !in->calls[count].is_gone; count++)
		scratch.cases[count] = (struct dispatch_case){.target = in->calls[count].target};
	if (count > PLAN_MAX_COMPARED)
		in->table = dispatch_table_for(in->number, scratch.cases, count);
	return count <= PLAN_MAX_COMPARED || in->table;
}

/* What the site has there now, if anything. */
static uintptr_t present_after(const struct agent_site *site)
{
	const uint8_t *there = (const uint8_t *)shape_return_address(site); /* NOLINT(performance-no-int-to-ptr) */
	int32_t distance;

	if (site->trampoline)
		return trampoline_after(site->trampoline);
	if (!site->has_suffix || there[0] != JUMP)
		return 0;
	memcpy(&distance, there + 1, sizeof distance);
	return shape_return_address(site) + CALL_BYTES + (uintptr_t)distance;
}

/* Where the site behind this one's suffix is entered, when it shares that and has its stub; 0: it is not. */
static uintptr_t next_dispatch(const struct agent_site *site)
{
	const struct agent_site *next = site + 1;

	return next < agent_program.sites + agent_program.site_count && next->shares_suffix ? next->dispatch : 0;
}

static bool gather(uint32_t number, struct plan_site *in, struct plan *plan)
{
	const struct agent_site *site = agent_site(number);

	*in = (struct plan_site){
		.site = site,
		.number = number,
		.original = agent_program.bytes + site->original,
		.addend = agent_site_addend(site),
		.area = agent_image_area(agent_function(site->function)->image),
		.trampoline = site->trampoline ? site->trampoline : trampoline_next(),
		.after = present_after(site),
		.next_dispatch = next_dispatch(site),
	};
	return gather_calls(site, in) && make_room(in, plan) && find_table(in);
}

bool patch_is_inside(uint32_t function, uintptr_t pc)
{
	const struct agent_function *f = agent_function(function);

	if (f->is_hooked && pc > f->entry_address && pc < f->entry_address + f->entry_bytes)
		return true;
	agent_for_each_site(s, f) {
		const struct agent_site *site = agent_site(s);

		if (pc > shape_start(site) && pc < shape_start(site) + shape_bytes(site))
			return true;
	}
	return false;
}

bool patch_is_undone_at_return(uint32_t number)
{
	const struct agent_site *site = agent_site(number);
	struct plan_undo undo;

	if (!site->has_suffix || site->needs_trampoline)
		return false;
	plan_undo_begin(&undo, agent_site_addend(site));
	agent_for_each_call(c, site) {
		const struct agent_call *call = agent_call(c);

		plan_undo_add(&undo, &(struct plan_call){.pushes = agent_call_pushes(call),
							 .leaves_tails = leaves_tails(call),
							 .is_gone = call->is_gone});
		if (call->is_gone)
			break;
	}
	plan_undo_end(&undo, site, next_dispatch(site));
	return undo.is_needed;
}

/* ---- what was planned is done ---- */

/* Makes or aims the site's trampoline. */
static bool aim_trampoline(struct agent_site *site, const struct plan_site *in, const struct plan *plan)
{
	if (!site->trampoline)
		site->trampoline = trampoline_add(in->number, plan->trampoline_callee, plan->trampoline_after,
						  shape_return_address(site));
	else if (!trampoline_aim(site->trampoline, plan->trampoline_callee, plan->trampoline_after))
		return false;
	return site->trampoline != 0;
}

/* All but the site's own bytes. False: not all could be written. */
static bool apply(const struct plan_site *in, const struct plan *plan)
{
	struct agent_site *site = agent_site(in->number);

	if (!stub_apply(&plan->stubs, agent_function(site->function)->image->area))
		return false;
	for (uint32_t i = 0; i < plan->placed_count; i++) {
		struct agent_call *call = agent_call(in->calls[i].number);

		call->before = plan->placed[i].before;
		call->counter = plan->placed[i].counter;
	}
	if (plan->is_at_trampoline && !aim_trampoline(site, in, plan))
		return false;
	site->is_at_trampoline = plan->is_at_trampoline;
	if (in->table)
		dispatch_table_put(in->number, plan->cases, plan->placed_count);
	if (plan->dispatch)
		site->dispatch = plan->dispatch;
	return true;
}

bool patch_is_there(uint32_t function)
{
	const struct agent_function *f = agent_function(function);

	return f->state != AGENT_FUNCTION_GONE && stop_others() && agent_image_is_there(f->image);
}

bool patch_site(uint32_t number)
{
	struct agent_site *site = agent_site(number);
	uint32_t len = shape_bytes(site);
	struct plan_site in;
	struct plan plan;

	site->is_written = false;
	if (!patch_is_there(site->function) || !gather(number, &in, &plan) || !plan_site(&in, &plan) ||
	    !apply(&in, &plan) || (plan.is_before_led && !patch_site(number - 1)))
		return false;
	site->is_written = batch_has(shape_start(site), plan.region, len) ||
			   batch_write(number, shape_start(site), plan.region, len);
	return site->is_written;
}

static void restore_sites(uint32_t function)
{
	const struct agent_function *f = agent_function(function);

	agent_for_each_site(s, f) {
		const struct agent_site *site = agent_site(s);

		code_change(shape_start(site), agent_program.bytes + site->original, shape_bytes(site));
	}
}

bool patch_begin(uint32_t function)
{
	const struct agent_function *f = agent_function(function);
	bool ok = true;

	agent_for_each_site(s, f) {
		struct agent_site *site = agent_site(s);

		if (shape_bytes(site) > REGION_MAX ||
		    !agent_program_keep_bytes(shape_start(site), shape_bytes(site), &site->original))
			return false;
	}
	batch_begin();
	agent_for_each_site(s, f)
		ok = ok && patch_site(s);
	ok &= batch_end();
	if (!ok)
		restore_sites(function);
	return ok;
}
