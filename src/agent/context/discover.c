/*
 * discover.c - what a call that was not seen yet leads to: a function of the graph, a no-callback one, or code that is not instrumented.
 *
 * The thread comes here from a site's thunk with everything saved, adds the call, writes the site anew and goes on in the code that
 * now belongs to the call: so the very first call is counted, pushed and undone like any other.
 */
#include "agent/context/discover.h"

#include <string.h>

#include "agent/program/points.h"
#include "agent/program/calls.h"
#include "agent/code/dispatch_table.h"
#include "agent/code/code.h"
#include "agent/os/memory.h"
#include "agent/patch/patch.h"
#include "agent/patch/patch_entry.h"
#include "agent/patch/reach.h"
#include "agent/program/no_callback.h"
#include "agent/program/record.h"
#include "agent/context/segment.h"
#include "agent/context/walk.h"
#include "agent/os/address_map.h"
#include "recorder/process.h"
#include "waymark/abi.h"

enum {
	MAX_BEFORE_CALL = 4,
	DIRECT_CALL_BYTES = 5,
	MAX_TAILS = 4,
	MAX_TAIL_FUNCTIONS = 64,
};

/* Under the agent's lock. */
static struct walk walk;
static struct walk_chain chain;
static struct walk_state state;
static struct address_map foreign_returns; /* return addresses in foreign code behind which the id is put back */

/* Who hears of what was found; NULL: nobody. Written once, at start. */
static discover_fn on_call, on_entry;

void discover_tell(discover_fn call, discover_fn entry)
{
	on_call = call;
	on_entry = entry;
}

/* ---- adding calls ---- */

static bool add_edge(uint32_t site, struct agent_call *call, uint32_t number)
{
	struct agent_program *p = &agent_program;
	const struct agent_site *s = agent_site(site);
	bool is_bare = !agent_site_is_direct(s) || agent_site_is_tail(s) || (s->is_entered && !s->needs_trampoline);
	uint32_t edge;
	struct error *err = adaptive_add_edge(&p->encoder, agent_function(s->function)->node,
					      agent_function(call->callee)->node, site, is_bare, &edge);

	if (err) {
		error_destroy(err);
		return false;
	}
	if (!agent_reserve((void **)&p->edge_calls, &p->edge_capacity, (size_t)edge + 1, sizeof *p->edge_calls))
		return false;
	p->edge_calls[edge] = number;
	call->edge = edge;
	return true;
}

/* Sites that frames are in make their calls from trampolines now, or no longer: the return addresses on the stack are to be aimed anew. */
static bool are_returns_old;

bool discover_take_old_returns(void)
{
	bool ret = are_returns_old;

	are_returns_old = false;
	return ret;
}

/* A tail call that may push leaves an entry to whoever called its function: those sites look for it from now on. */
static void note_tail(uint32_t function)
{
	if (agent_function(function)->leaves_tails)
		return;
	agent_function(function)->leaves_tails = true;
	agent_for_each_caller(c, agent_function(function)) {
		const struct agent_call *call = agent_call(c);

		if (agent_site_is_tail(agent_site(call->site))) {
			note_tail(agent_site(call->site)->function);
		} else {
			bool was_at_trampoline = agent_site(call->site)->is_at_trampoline;

			patch_site(call->site);
			are_returns_old |= agent_site(call->site)->is_at_trampoline != was_at_trampoline;
		}
	}
}

static uint32_t callee_at(uintptr_t target)
{
	uint32_t callee = agent_function_entered(target);

	if (callee != AGENT_NONE)
		reach_function(callee);
	return callee;
}

struct agent_call *discover_call(uint32_t site, uintptr_t target)
{
	struct agent_program *p = &agent_program;
	struct agent_call *call = agent_call_find(site, target);
	const struct agent_call *same;
	uint32_t callee, number = (uint32_t)p->call_count;

	if (call)
		return call;
	/* A pointer to a function may lead to an entry of the PLT. */
	callee = no_callback_is_known(target) ? AGENT_NONE : callee_at(agent_resolve(target));
	if (agent_function_is(callee, AGENT_FUNCTION_SEEN)) /* it cannot be written now */
		return NULL;
	if (!agent_reserve((void **)&p->calls, &p->call_capacity, p->call_count + 1, sizeof *p->calls) ||
	    !agent_reserve((void **)&p->present_calls, &p->present_call_capacity, p->present_call_count + 1,
			   sizeof *p->present_calls))
		return NULL;
	call = agent_call(number);
	*call = (struct agent_call){
		.site = site,
		.callee = callee,
		.edge = AGENT_NONE,
		.target = target,
		/* Where another call has an addend none is left alone. */
		.never_calls_back =
			(no_callback_is_known(target) || agent_function_is(callee, AGENT_FUNCTION_NO_CALLBACK)) &&
			!agent_site_addend(agent_site(site)),
	};
	same = agent_function_is(callee, AGENT_FUNCTION_INSTRUMENTED) ? agent_call_to(site, callee) : NULL;
	if (same)
		call->edge = same->edge;
	else if (agent_function_is(callee, AGENT_FUNCTION_INSTRUMENTED) && !add_edge(site, call, number))
		return NULL;
	if (!same && !call->never_calls_back && !record_call(call))
		return NULL;
	if (!agent_site_note_record(agent_site(site)->record, site) || !agent_site_note_record(call->foreign, site))
		return NULL;
	agent_call_list(number);
	p->present_calls[p->present_call_count++] = number;
	p->call_count++;
	if (!call->never_calls_back)
		points_forget_site(site);
	if (agent_site_is_tail(agent_site(site)) && !call->never_calls_back)
		note_tail(agent_site(site)->function);
	if (on_call)
		on_call(agent_site(site)->address, target);
	return call;
}

/* ---- callbacks ---- */

/*
 * No room behind the call, as where libc has called main: instructions that branch nowhere, and then a direct call, in front of which it
 * is done.
 */
static bool patch_next_call(uint32_t function, uintptr_t address)
{
	const struct agent_function *f = agent_function(function);
	struct insn insn;

	for (int i = 0; i < MAX_BEFORE_CALL && address < f->end; i++, address += insn.len_bytes) {
		if (!insn_decode((const uint8_t *)address, f->end - address, address, &insn)) /* NOLINT */
			return false;
		if (insn.kind == INSN_CALL_DIRECT)
			return insn.len_bytes == DIRECT_CALL_BYTES &&
			       patch_foreign_call(function, address, insn.target);
		if (insn.kind != INSN_OTHER)
			return false;
	}
	return false;
}

/* The site's own code takes off what its call of foreign code pushed, whatever that has led to by a tail call. */
static bool undoes_foreign(const struct agent_site *site)
{
	if (!site->is_written || site->is_at_trampoline)
		return false;
	agent_for_each_call(c, site)
		if (agent_call(c)->edge == AGENT_NONE && agent_call_pushes(agent_call(c)))
			return true;
	return false;
}

/* False: whether the id is put back behind the call was not looked at yet. */
static bool is_return_known(uintptr_t return_address, uint32_t *ret_is_put_back)
{
	uint32_t site = agent_site_returning_to(return_address);

	if (site == AGENT_NONE)
		return address_map_find(&foreign_returns, return_address, ret_is_put_back);
	*ret_is_put_back = undoes_foreign(agent_site(site));
	return true;
}

/* Puts the id back to that of foreign code behind a call in it. False: there is no room for that. */
static bool patch_foreign_return(uintptr_t return_address)
{
	uint32_t known, function = agent_function_at(return_address - 1);
	struct agent_image *image = agent_image_at(return_address);
	struct scan_function scan;
	bool ret = false;

	if (is_return_known(return_address, &known))
		return known;
	if (function == AGENT_NONE || !image)
		return false;
	if (image->kind == AGENT_IMAGE_OWN) /* does it itself */
		return address_map_set(&foreign_returns, return_address, 1);
	if (scan_function(&image->scan, agent_function(function)->start, &agent_allocator, &scan) == SCAN_OK) {
		for (size_t i = 0; i < scan.site_count && !scan.reason; i++) {
			const struct scan_site *s = &scan.sites[i];

			if (s->address + s->insn.len_bytes != return_address)
				continue;
			if (s->has_suffix && !s->is_suffix_entered && !s->flags_live)
				ret = patch_foreign(function, s);
			else if (image->kind == AGENT_IMAGE_FOREIGN) /* never instrumented: the call is no site */
				ret = patch_next_call(function, return_address);
		}
		scan_function_release(&scan, &agent_allocator);
	}
	return address_map_set(&foreign_returns, return_address, ret) && ret;
}

/* The entry's code for that caller. One that is left makes way for one that need not be. */
static bool add_caller(uint32_t function, uintptr_t return_address, bool is_left)
{
	struct agent_function *f = agent_function(function);
	uint8_t left_before = f->left_callers;

	for (int i = 0; i < AGENT_KNOWN_CALLERS; i++) {
		uintptr_t before = f->callers[i];

		if (before && before != return_address && (is_left || !(left_before >> i & 1)))
			continue;
		f->callers[i] = return_address;
		f->left_callers = (uint8_t)((left_before & ~(1U << i)) | (unsigned)is_left << i);
		if (patch_entry(function))
			return true;
		f->callers[i] = before;
		f->left_callers = left_before;
		return false;
	}
	return false;
}

/* The function is entered from foreign code that comes back to return_address: makes its entry know that. */
static bool know_caller(uint32_t function, uintptr_t return_address)
{
	const struct agent_function *f = agent_function(function);

	if (agent_function_knows_caller(function, return_address))
		return true;
	if (!f->entry_bytes || !patch_foreign_return(return_address) || !add_caller(function, return_address, false))
		return false;
	if (on_entry)
		on_entry(return_address, agent_function(function)->start);
	return true;
}

void discover_leave_caller(uint32_t function, uintptr_t return_address)
{
	uint32_t is_put_back;

	if (is_return_known(return_address, &is_put_back) && !is_put_back)
		add_caller(function, return_address, true);
}

/* Instruments the frames of a stack that are not yet. False: it was late before. */
static bool reach_frames(const struct walk *w, bool (*is_late)(void))
{
	for (size_t i = 0; i < w->count; i++) {
		uint32_t function = w->frames[i].function;

		if (!agent_function_is(function, AGENT_FUNCTION_SEEN) ||
		    agent_function(function)->image->kind != AGENT_IMAGE_CODE)
			continue;
		if (is_late && is_late())
			return false;
		reach_function(function);
	}
	return true;
}

/* The site is known to call foreign code, which may have come to the function by a tail call. */
static bool is_behind_tail(uint32_t site, uint32_t function)
{
	if (agent_function_is(function, AGENT_FUNCTION_INSTRUMENTED))
		return false;
	agent_for_each_call(c, agent_site(site))
		if (agent_call(c)->edge == AGENT_NONE && !agent_call(c)->never_calls_back)
			return true;
	return false;
}

/* The tail call of that site to the function; NULL: it makes none. An indirect one may. */
static struct agent_call *tail_call_to(uint32_t site, uint32_t callee)
{
	const struct agent_site *s = agent_site(site);
	uintptr_t target = agent_site_is_direct(s) ? agent_resolve(s->target) : agent_function(callee)->start;

	return agent_site_is_tail(s) && agent_function_entered(target) == callee ? discover_call(site, target) : NULL;
}

/* What the function's direct tail call leads to, if that is instrumented now; AGENT_NONE. */
static uint32_t after_tail(uint32_t site)
{
	uint32_t callee =
		agent_site(site)->kind == SCAN_TAIL ? callee_at(agent_resolve(agent_site(site)->target)) : AGENT_NONE;

	return agent_function_is(callee, AGENT_FUNCTION_INSTRUMENTED) ? callee : AGENT_NONE;
}

/*
 * Frames that are gone by tail calls from before the agent was attached: finds tail calls that lead from the function to the callee, in
 * at most `depth` steps, direct ones first. *left bounds the functions that are looked at.
 */
static bool add_tails(uint32_t function, uint32_t callee, unsigned int depth, unsigned int *left)
{
	if (!*left)
		return false;
	--*left;
	for (int is_indirect = 0; is_indirect < 2; is_indirect++)
		agent_for_each_site(s, agent_function(function))
			if (agent_site_is_direct(agent_site(s)) != is_indirect && tail_call_to(s, callee))
				return patch_site(s);
	if (depth < 2)
		return false;
	agent_for_each_site(s, agent_function(function)) {
		uint32_t next = after_tail(s);

		if (next != AGENT_NONE && next != function && add_tails(next, callee, depth - 1, left))
			return discover_call(s, agent_resolve(agent_site(s)->target)) && patch_site(s);
	}
	return false;
}

/* The frame was not called by the site itself but by tail calls of what that calls, and how is not known. */
static void find_tails(uint32_t site, const struct agent_call *call, uint32_t inner, const struct agent_thread *thread)
{
	unsigned int left = MAX_TAIL_FUNCTIONS;

	if (agent_thread_is_lost(thread) && agent_function_is(inner, AGENT_FUNCTION_INSTRUMENTED) &&
	    call->callee != inner && agent_function_is(call->callee, AGENT_FUNCTION_INSTRUMENTED) &&
	    !walk_finds_tails(site, inner))
		add_tails(call->callee, inner, MAX_TAILS, &left);
}

/* Adds the calls that the frames are in: all that can be, for a return address is aimed only while its frame is known to be true. False:
 * one of this segment was not. */
static bool add_calls_of_frames(const struct walk *w, const struct agent_thread *thread)
{
	bool ok = true;

	for (size_t i = 1; i < w->count; i++) {
		const struct walk_frame *outer = &w->frames[i], *inner = &w->frames[i - 1];
		const struct agent_site *site;
		uintptr_t target;
		struct agent_call *call;

		if (outer->site == AGENT_NONE || inner->function == AGENT_NONE)
			continue;
		site = agent_site(outer->site);
		target = agent_function(inner->function)->start;
		if (site->first_call != AGENT_NONE &&
		    (agent_site_is_direct(site) || agent_call_find(outer->site, target) ||
		     agent_call_to(outer->site, inner->function) || walk_is_foreign_tail(outer->site, inner, thread) ||
		     is_behind_tail(outer->site, inner->function)))
			continue;
		if (!agent_function_is(inner->function, AGENT_FUNCTION_INSTRUMENTED) &&
		    walk_may_lead(outer->site, target, WALK_PUSHES_ANY))
			continue;
		call = discover_call(outer->site, agent_site_is_direct(site) ? agent_resolve(site->target) : target);
		/* What a handler has interrupted may be where it would be written. */
		if ((!call || !patch_site(outer->site)) && i < w->inside)
			ok = false;
		if (call)
			find_tails(outer->site, call, inner->function, thread);
	}
	return ok;
}

/* Foreign code has called it, or was called by the frame outside and has gone on to it by a tail call. */
static bool is_of_foreign(const struct walk_frame *f, const struct walk_frame *outer, const struct agent_thread *thread)
{
	if (!agent_function_is(f->function, AGENT_FUNCTION_INSTRUMENTED))
		return false;
	return !agent_function_is(outer->function, AGENT_FUNCTION_INSTRUMENTED) ||
	       (outer->site != AGENT_NONE && walk_is_foreign_tail(outer->site, f, thread));
}

bool discover_frames(struct walk *w, const struct agent_thread *thread, bool (*is_late)(void))
{
	if (!reach_frames(w, is_late))
		return false;
	/* Sites of what was instrumented just now. */
	for (size_t i = 1; i < w->count; i++)
		if (w->frames[i].site == AGENT_NONE)
			w->frames[i].site = agent_site_returning_to(w->frames[i].pc);
	walk_place_entries(w, 0, thread);
	if (!add_calls_of_frames(w, thread))
		return false;
	/* Hooks what foreign code entered, where that is possible. */
	for (size_t i = w->count; i-- > 1;)
		if (is_of_foreign(&w->frames[i - 1], &w->frames[i], thread))
			know_caller(w->frames[i - 1].function, w->frames[i].pc);
	return true;
}

bool discover_chain(const struct unwind_regs *regs, struct walk *w, struct walk_chain *ret)
{
	bool is_added;

	if (!agent_thread_begin())
		return false;
	segment_leave_gone(regs);
	if (!walk_stack(w, regs, &agent_thread))
		return false;
	is_added = discover_frames(w, &agent_thread, NULL);
	walk_retarget_returns(w);
	if (!is_added)
		return false;
	return walk_find_chain(w, 0, &agent_thread, ret);
}

bool discover_repair(const struct unwind_regs *regs)
{
	if (!discover_chain(regs, &walk, &chain) || !walk_replay(&chain, agent_thread.base, false, &state))
		return false;
	walk_install(&state, &agent_thread);
	return true;
}

/* ---- found by other processes ---- */

/* The instrumented function that has the address, reached now if need be; AGENT_NONE. */
static uint32_t reach_at(uintptr_t address)
{
	uint32_t function = agent_function_at(address);

	if (function == AGENT_NONE)
		return AGENT_NONE;
	reach_function(function);
	return agent_function_is(function, AGENT_FUNCTION_INSTRUMENTED) ? function : AGENT_NONE;
}

static uint32_t site_at(uintptr_t address)
{
	uint32_t function = reach_at(address);

	if (function == AGENT_NONE)
		return AGENT_NONE;
	agent_for_each_site(s, agent_function(function))
		if (agent_site(s)->address == address)
			return s;
	return AGENT_NONE;
}

bool discover_import_call(uintptr_t address, uintptr_t target)
{
	uint32_t number = site_at(address);
	const struct agent_site *site;

	if (number == AGENT_NONE || agent_call_find(number, target))
		return false;
	site = agent_site(number);
	/* Words of the GOT may not be bound here, or to something else. */
	if (agent_site_is_direct(site) && agent_resolve(site->target) != target)
		return false;
	return discover_call(number, target) && patch_site(number);
}

bool discover_import_entry(uintptr_t start, uintptr_t return_address)
{
	uint32_t function = reach_at(start);

	return function != AGENT_NONE && agent_function(function)->start == start &&
	       !agent_function_knows_caller(function, return_address) && know_caller(function, return_address);
}

bool discover_entry(uintptr_t target)
{
	uint32_t function = callee_at(target);

	return agent_function_is(function, AGENT_FUNCTION_INSTRUMENTED) &&
	       (agent_function(function)->is_hooked ||
		(agent_function(function)->entry_bytes && patch_entry(function)));
}

/* ---- unloading ---- */

static bool is_of_no_image(uintptr_t address)
{
	return !agent_image_find(address);
}

/*
 * It stays in the list of an indirect site: entries and tail calls from before have it. Only a program that has changed its own code calls
 * directly what is unloaded without the caller.
 */
static void forget_call(uint32_t number)
{
	struct agent_call *call = agent_call(number);
	const struct agent_site *site = agent_site(call->site);

	if (agent_site_is_direct(site) && agent_function_is(site->function, AGENT_FUNCTION_INSTRUMENTED)) {
		agent_call_unlist(number);
		patch_site(call->site);
	} else {
		agent_call_list_gone(number);
	}
	call->is_gone = true;
}

/* Those of functions that are gone are never made again. */
static void forget_calls(void)
{
	struct agent_program *p = &agent_program;
	size_t kept = 0;

	for (size_t i = 0; i < p->present_call_count; i++) {
		uint32_t number = p->present_calls[i];
		const struct agent_call *call = agent_call(number);

		if (!call->is_gone && is_of_no_image(call->target))
			forget_call(number);
		if (!call->is_gone && !agent_function_is(agent_site(call->site)->function, AGENT_FUNCTION_GONE))
			p->present_calls[kept++] = number;
	}
	p->present_call_count = kept;
}

/* Of the stub in front of a site or a function. */
static bool is_owner_gone(uint8_t kind, uint32_t number)
{
	const struct agent_program *p = &agent_program;

	if (kind == CODE_STUB_ENTRY)
		return number < p->function_count && agent_function(number)->state == AGENT_FUNCTION_GONE;
	return number < p->site_count && agent_function_is(agent_site(number)->function, AGENT_FUNCTION_GONE);
}

static void forget_callers(struct agent_function *f)
{
	uint8_t left = f->left_callers;
	int kept = 0;

	f->left_callers = 0;
	for (int i = 0; i < AGENT_KNOWN_CALLERS && f->callers[i]; i++) {
		uintptr_t caller = f->callers[i];

		f->callers[i] = 0;
		if (is_of_no_image(caller))
			continue;
		f->callers[kept] = caller;
		f->left_callers |= (uint8_t)((left >> i & 1U) << kept++);
	}
}

void discover_forget(uintptr_t low, uintptr_t high)
{
	address_map_forget_range(&foreign_returns, low, high, 64);
}

void discover_forget_unlisted(void)
{
	struct agent_program *p = &agent_program;

	for (size_t i = 0; i < p->present_count; i++)
		forget_callers(agent_function(p->present[i]));
	forget_calls();
	p->looks += p->present_count + p->present_call_count + code_forget(is_of_no_image, is_owner_gone);
	dispatch_table_forget(is_of_no_image);
}
