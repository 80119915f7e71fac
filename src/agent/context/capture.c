/*
 * capture.c - contexts from ids and entries, wherever a thread was interrupted.
 *
 * In a stub the context is that of before or behind the stub's work, as the place in it says: one store each does the work (emit.h).
 * In code that is not instrumented the frames up to the nearest instrumented one are walked and become pushes of the recording, each
 * with its call.
 */
#include "agent/context/capture.h"

#include <string.h>

#include "agent/program/calls.h"
#include "agent/code/trampolines.h"
#include "agent/code/code.h"
#include "agent/context/discover.h"
#include "agent/patch/patch.h"
#include "agent/patch/place.h"
#include "agent/program/record.h"
#include "agent/context/segment.h"
#include "agent/threads/threads.h"
#include "recorder/prefix_table.h"
#include "waymark/abi.h"

/* Under the agent's lock. */
static struct walk walk;
static struct walk_chain chain;
static struct walk_state state;

/* ---- prefixes ---- */

static uint32_t intern(uint32_t parent, uint64_t id, uint32_t site, uint32_t run)
{
	return wmrt_intern(parent, agent_program.encoder.epoch, id, site, run);
}

static uint32_t entry_prefix(struct agent_entry *entry)
{
	if (!entry->prefix)
		entry->prefix = intern(entry->below, agent_entry_id(entry), entry->site, entry->run);
	return entry->prefix;
}

/* Each entry is looked at once per push. */
uint32_t capture_prefix(struct agent_entry *entries, size_t count)
{
	size_t i = count - 1;

	if (!entries[0].prefix)
		return 0;
	while (i > 0 && !entries[i].run)
		i--;
	for (i++; i < count; i++) {
		struct agent_entry *below = &entries[i - 1], *entry = &entries[i];
		bool is_run = !(entry->site & WM1_SITE_ELIDED) && below->run && below->site == entry->site &&
			      below->id == entry->id;

		if (agent_id_is_foreign(entry->id))
			return 0;
		entry->below = is_run ? below->below : entry_prefix(below);
		entry->run = is_run ? below->run + 1 : 1;
	}
	return entry_prefix(&entries[count - 1]);
}

/* ---- points ---- */

static const struct agent_site *site_of(uint32_t number)
{
	return agent_site(number);
}

static void at_site(struct capture_point *p, const struct agent_site *site)
{
	p->function = site->function;
	p->address = site->address;
}

/* The site's call is over, and what was done for it is still to be undone. */
static void undo_call(struct capture_point *p, const struct agent_site *site, uint64_t frame_slot)
{
	const struct agent_entry *last = &p->entries[p->count - 1];

	at_site(p, site);
	p->address += site->len_bytes;
	/* Tail calls of the callee have left entries with the same frame_slot. */
	while (p->count > 1 && last->frame_slot == frame_slot) {
		p->id = last->id;
		p->count--;
		last--;
	}
	p->id -= agent_site_addend(site);
}

/* Before the callee of a call for which an entry was pushed, or replaced. */
static enum capture_result at_callee(struct capture_point *p, const struct agent_call *call)
{
	const struct callgraph *g = &agent_program.encoder.graph;
	const struct agent_entry *top = &p->entries[p->count - 1];

	if (call->edge != AGENT_NONE) {
		p->id = g->nodes[agent_function(call->callee)->node].restart;
		p->function = call->callee;
		p->address = agent_function(call->callee)->start;
		return CAPTURE_OK;
	}
	if (top->site & WM1_SITE_ELIDED) /* the entries below it do not say all that is behind them */
		return CAPTURE_UNKNOWN;
	at_site(p, site_of(call->site));
	p->id = top->id;
	p->count--;
	return CAPTURE_OK;
}

/* An entry that is half replaced is no longer the old one: it is made the new one, as the stub does when it goes on. */
static enum capture_result in_tail_stub(uint64_t off, const struct code_stub *stub, struct capture_point *p)
{
	const struct agent_call *call = agent_call(stub->number);

	if (off >= EMIT_REPLACE_FIRST && off < EMIT_REPLACE_DONE)
		p->entries[p->count - 1] = (struct agent_entry){.id = p->id,
								.frame_slot = p->entries[p->count - 1].frame_slot,
								.site = agent_call_pushed_site(call) | WM1_SITE_ELIDED};
	else if (off < stub->first) {
		at_site(p, site_of(call->site));
		return CAPTURE_OK;
	}
	/* Where the caller was not known, nothing was pushed. */
	if (off >= stub->done &&
	    (call->edge == AGENT_NONE ? p->entries[p->count - 1].site % WM1_SITE_ELIDED != agent_call_pushed_site(call)
				      : agent_id_is_foreign(p->id)))
		return CAPTURE_UNKNOWN;
	return at_callee(p, call);
}

static enum capture_result in_stub(const struct unwind_regs *regs, const struct code_stub *stub,
				   struct capture_point *p)
{
	uint64_t off = regs->pc - stub->start;
	const struct agent_call *call;
	struct place place;

	switch (stub->kind) {
	case CODE_STUB_DISPATCH:
		at_site(p, site_of(stub->number));
		return CAPTURE_OK;
	case CODE_STUB_UNKNOWN:
		at_site(p, site_of(place_unknown_site(stub, regs->pc, regs->r[CFI_RSP])));
		return CAPTURE_OK;
	case CODE_STUB_BEFORE:
		call = agent_call(stub->number);
		if (off < stub->done) {
			if (off >= stub->first)
				p->count--;
			at_site(p, site_of(call->site));
			return CAPTURE_OK;
		}
		if (call->edge == AGENT_NONE) {
			at_site(p, site_of(call->site));
			if (!agent_call_pushes(call)) /* the stub leads to the site's trampoline only */
				return CAPTURE_OK;
			p->id = agent_entry_id(&p->entries[p->count - 1]);
			p->count--;
			return CAPTURE_OK;
		}
		p->function = call->callee;
		p->address = agent_function(call->callee)->start;
		return CAPTURE_OK;
	case CODE_STUB_TAIL:
		return in_tail_stub(off, stub, p);
	case CODE_STUB_AFTER:
		if (off < stub->done) {
			if (!place_find(regs->pc, regs->r[CFI_RSP], &place))
				return CAPTURE_UNKNOWN;
			undo_call(p, site_of(stub->number), place.sp - 16);
		} else {
			at_site(p, site_of(stub->number));
			p->address += site_of(stub->number)->len_bytes;
		}
		return CAPTURE_OK;
	case CODE_STUB_ENTRY:
		p->function = stub->number;
		p->address = agent_function(stub->number)->start;
		return agent_id_is_foreign(p->id) ? CAPTURE_UNKNOWN : CAPTURE_OK;
	default:
		return CAPTURE_UNKNOWN;
	}
}

/* Which the trampoline is about to make: an indirect one's target is in %r11. NULL: none that is known. */
static const struct agent_call *call_at_trampoline(const struct unwind_regs *regs, const struct agent_site *site)
{
	agent_for_each_call(c, site)
		if (agent_site_is_direct(site) || agent_call(c)->target == regs->r[CFI_R11])
			return agent_call(c);
	return NULL;
}

/* In front of its call the callee is about to begin, behind it the call is over. */
static enum capture_result in_trampoline(const struct unwind_regs *regs, uint32_t site, struct capture_point *p)
{
	const struct agent_call *call = call_at_trampoline(regs, site_of(site));

	if (regs->pc != site_of(site)->trampoline) {
		undo_call(p, site_of(site), regs->r[CFI_RSP] - 16);
	} else if (!call) {
		return CAPTURE_UNKNOWN;
	} else if (call->edge != AGENT_NONE) {
		p->function = call->callee;
		p->address = agent_function(call->callee)->start;
	} else {
		undo_call(p, site_of(site), regs->r[CFI_RSP] - 16);
		p->address = site_of(site)->address;
	}
	return CAPTURE_OK;
}

/* From the registers of an interrupted thread, in instrumented code or in a stub. */
static enum capture_result capture_find_point(const struct unwind_regs *regs, struct capture_point *ret_point)
{
	struct capture_point *p = ret_point;
	const struct agent_thread *thread = &agent_thread;
	struct code_stub stub;
	uint32_t site;

	if (!thread->top)
		return CAPTURE_FOREIGN;
	*p = (struct capture_point){.id = thread->id,
				    .entries = thread->base,
				    .count = (size_t)(thread->top - thread->base),
				    .address = regs->pc};
	if (code_find_stub(regs->pc, &stub))
		return in_stub(regs, &stub, p);
	if (trampoline_find(regs->pc, &site))
		return in_trampoline(regs, site, p);
	p->function = agent_function_at(regs->pc);
	if (!agent_function_is(p->function, AGENT_FUNCTION_INSTRUMENTED))
		return CAPTURE_FOREIGN;
	site = agent_site_returning_to(regs->pc);
	if (site != AGENT_NONE && patch_is_undone_at_return(site))
		undo_call(p, site_of(site), regs->r[CFI_RSP] - 16);
	return CAPTURE_OK;
}

bool capture_is_between(const struct unwind_regs *regs)
{
	struct code_stub stub;
	uint32_t site;

	if (code_find_stub(regs->pc, &stub) || trampoline_find(regs->pc, &site))
		return false;
	site = agent_site_returning_to(regs->pc);
	return site == AGENT_NONE || !patch_is_undone_at_return(site);
}

static bool finish(const struct capture_point *p, wm_context *ret)
{
	ret->prefix = capture_prefix(p->entries, p->count);
	if (!ret->prefix)
		return false;
	ret->id = p->id;
	ret->site = record_point(p->function, p->address, false);
	ret->epoch = agent_program.encoder.epoch;
	ret->zero = 0;
	return true;
}

/* Frames [0, outer) of the walk are not instrumented; `outer` is, with that id and those entries. Those of the agent are passed over. */
static bool finish_inner(const struct walk *w, size_t outer, const struct capture_point *p, wm_context *ret)
{
	uint32_t prefix = capture_prefix(p->entries, p->count);
	uint32_t function = p->function;
	uintptr_t address = p->address;
	uint32_t gap = p->is_behind_gap ? WM1_SITE_ELIDED : 0;
	uint64_t id = p->id;
	size_t innermost = outer;

	if (function == AGENT_NONE || !prefix)
		return false;
	for (size_t i = outer; i-- > 0;) {
		const struct walk_frame *frame = &w->frames[i];

		if (frame->function == AGENT_NONE)
			return false;
		if (agent_function(frame->function)->image->kind == AGENT_IMAGE_OWN)
			continue;
		prefix = intern(prefix, id, record_point_call(function, address, frame->function) | gap, 1);
		function = frame->function;
		address = frame->pc;
		innermost = i;
		id = gap = 0;
	}
	if (innermost > 0 && innermost < outer) /* in a call of the agent's */
		address--;
	*ret = (wm_context){.prefix = prefix,
			    .id = id,
			    .site = record_point(function, address, false),
			    .epoch = agent_program.encoder.epoch};
	return true;
}

/* The site has a call of code that is not instrumented and starts there. */
static bool calls_foreign(const struct agent_site *site, uintptr_t target)
{
	bool is_only = true;

	agent_for_each_call(c, site) {
		if (agent_call(c)->is_gone)
			continue;
		if (agent_call(c)->edge == AGENT_NONE && agent_call_start(agent_call(c)) == target)
			return true;
		is_only &= agent_call(c)->edge == AGENT_NONE;
	}
	return is_only; /* an entry of the PLT, or what that led to by tail calls */
}

/* The entry on top was pushed for a call of code that is not instrumented: the thread is where that call is. */
static bool leave_foreign(struct capture_point *p)
{
	const struct agent_entry *top = &p->entries[p->count - 1];
	uint32_t number = agent_site_of_record(top->site);

	if (number == AGENT_NONE || site_of(number)->record == (top->site & ~WM1_SITE_ELIDED))
		return false;
	at_site(p, site_of(number));
	p->is_behind_gap = (top->site & WM1_SITE_ELIDED) != 0;
	p->id = agent_entry_id(top);
	p->count--;
	return true;
}

/* The same of the call that the frame is in, or of a tail call of what that has called. */
static bool leave_foreign_of(struct capture_point *p, const struct walk_frame *frame)
{
	if (!leave_foreign(p))
		return false;
	p->is_in_call = agent_site_of_record(p->entries[p->count].site) == frame->site;
	if (p->is_in_call)
		p->address = frame->pc;
	return true;
}

enum capture_calls capture_site_calls(uint32_t site)
{
	bool is_any = false, is_all = true;

	agent_for_each_call(c, site_of(site)) {
		is_any |= agent_call(c)->never_calls_back;
		is_all &= agent_call(c)->never_calls_back;
	}
	return is_all ? CAPTURE_CALLS_NO_CALLBACK : is_any ? CAPTURE_CALLS_MIXED : CAPTURE_CALLS_LOUD;
}

bool capture_caller(uint32_t number, uint64_t sp, wm_context *ret)
{
	const struct agent_site *site = site_of(number);
	const struct agent_thread *thread = &agent_thread;
	struct capture_point p;

	if (!thread->top || agent_id_is_foreign(thread->id) ||
	    !agent_function_is(site->function, AGENT_FUNCTION_INSTRUMENTED))
		return false;
	p = (struct capture_point){
		.id = thread->id, .entries = thread->base, .count = (size_t)(thread->top - thread->base)};
	if (capture_site_calls(number) != CAPTURE_CALLS_NO_CALLBACK)
		undo_call(&p, site, sp - 16);
	at_site(&p, site);
	return !agent_id_is_foreign(p.id) && finish(&p, ret);
}

/*
 * What is not instrumented and inside of the call is what the site calls, or a tail call has led to it: of what the frame's last push or
 * else its site has called, or of a no-callback function there. Then the point becomes that tail call. False: it is not known which.
 */
static bool leave_no_callback(struct capture_point *p, uint32_t site, uint64_t frame_slot, uintptr_t inner)
{
	bool is_pushed = p->count > 1 && p->entries[p->count - 1].frame_slot == frame_slot;
	uint32_t from = is_pushed ? agent_site_of_record(p->entries[p->count - 1].site) : site;
	enum walk_pushes pushes = is_pushed ? WALK_PUSHES_FIRST : WALK_PUSHES_NONE;
	const struct agent_call *path[WALK_MAX_TAILS];
	size_t n;

	if (from == AGENT_NONE)
		return false;
	if (!is_pushed && (calls_foreign(site_of(site), inner) || capture_site_calls(site) != CAPTURE_CALLS_LOUD)) {
		p->is_in_call = true;
		return !walk_may_lead(site, inner, WALK_PUSHES_NONE);
	}
	n = walk_tail_path(from, inner, pushes, path);
	if (!n)
		n = walk_tail_path(from, 0, pushes, path);
	if (n)
		at_site(p, site_of(path[n - 1]->site));
	return n != 0;
}

/* The thread's state at the first instrumented function outside of frames that are not, on the stack or gone by a tail call. */
static bool find_outer(const struct walk *w, struct capture_point *p, size_t *ret)
{
	const struct agent_thread *thread = &agent_thread;
	size_t outer = 0;
	uintptr_t inner;
	uint64_t frame_slot;

	while (outer < w->inside && !agent_function_is(w->frames[outer].function, AGENT_FUNCTION_INSTRUMENTED))
		outer++;
	*ret = outer;
	if (outer == w->inside || w->frames[outer].site == AGENT_NONE || w->frames[outer - 1].function == AGENT_NONE)
		return false;
	inner = agent_function(w->frames[outer - 1].function)->start;
	frame_slot = w->frames[outer - 1].slot - 8;
	*p = (struct capture_point){.function = w->frames[outer].function,
				    .address = w->frames[outer].pc,
				    .id = thread->id,
				    .entries = thread->base,
				    .count = (size_t)(thread->top - thread->base)};
	while (p->count > 1 && p->entries[p->count - 1].frame_slot < frame_slot) {
		p->count--;
		p->id = agent_entry_id(&p->entries[p->count]);
	}
	if (!(p->count > 1 && p->entries[p->count - 1].frame_slot == frame_slot &&
	      leave_foreign_of(p, &w->frames[outer])) &&
	    !leave_no_callback(p, w->frames[outer].site, frame_slot, inner))
		return false;
	return !agent_id_is_foreign(p->id);
}

/* None of the innermost frames is of code that is to be instrumented and was not looked at yet. */
static bool is_looked_at(const struct walk *w, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (agent_function_is(w->frames[i].function, AGENT_FUNCTION_SEEN) &&
		    agent_function(w->frames[i].function)->image->kind == AGENT_IMAGE_CODE)
			return false;
	return true;
}

/* The point is that of the chain's end, and the frame the innermost that is instrumented: to where the frames inside of it were called. */
static bool leave_chain(const struct walk_chain *c, const struct walk_frame *frame, struct capture_point *p)
{
	if (frame->site == AGENT_NONE) /* a signal interrupted it */
		return false;
	if (agent_id_is_foreign(p->id))
		return leave_foreign_of(p, frame);
	if (c->no_callback_tail != AGENT_NONE) {
		at_site(p, site_of(c->no_callback_tail));
		return true;
	}
	p->address = frame->pc;
	p->is_in_call = true;
	return true;
}

/* What the C library and the agent do to begin a thread, or the program, is outside of it. */
static size_t first_of_program(const struct walk *w, size_t outer)
{
	for (size_t i = outer; i > 0; i--)
		if (threads_is_base(w->frames[i].pc) || threads_is_main(w->frames[i].pc))
			return i - 1;
	return outer;
}

/* is_repaired: code may change for it, and where the frames say otherwise, the thread's state becomes theirs. */
static bool capture(const struct unwind_regs *regs, bool is_repaired, wm_context *ret, struct capture_point *ret_point)
{
	struct capture_point *p = ret_point;
	static struct agent_entry base;
	enum capture_result result;
	struct code_stub stub;
	size_t outer;

	segment_find_interrupted();
	result = capture_find_point(regs, p);
	if (result == CAPTURE_OK && !agent_id_is_foreign(p->id) && finish(p, ret))
		return true;
	/* Stubs cannot be walked from. */
	if (result == CAPTURE_UNKNOWN || code_find_stub(regs->pc, &stub) || !agent_thread_begin() ||
	    !walk_stack(&walk, regs, &agent_thread))
		return false;
	if (result == CAPTURE_FOREIGN && find_outer(&walk, p, &outer) && is_looked_at(&walk, outer) &&
	    finish_inner(&walk, outer, p, ret))
		return true;
	if (!(is_repaired ? discover_chain(regs, &walk, &chain) : walk_find_chain(&walk, 0, &agent_thread, &chain)))
		return false;
	/* Where a call is still to be undone the state is not yet that of the frames. */
	if (is_repaired && capture_is_between(regs) && walk_replay(&chain, agent_thread.base, false, &state))
		walk_install(&state, &agent_thread);
	if (!walk_replay(&chain, agent_thread.base, true, &state))
		return false;
	*p = (struct capture_point){
		.id = state.id, .entries = state.entries, .count = state.count, .function = state.function};
	for (outer = 0; outer < walk.inside; outer++)
		if (agent_function_is(walk.frames[outer].function, AGENT_FUNCTION_INSTRUMENTED))
			break;
	if (outer == 0) {
		p->address = regs->pc;
		return finish(p, ret);
	}
	if (outer < walk.inside)
		return leave_chain(&chain, &walk.frames[outer], p) && finish_inner(&walk, outer, p, ret);
	/* No frame is instrumented: from the segment's first one on, which is the agent's where it is not the thread's. */
	base = *agent_thread.base;
	base.prefix = base.below ?: base.prefix;
	*p = (struct capture_point){.id = 0, .entries = &base, .count = 1, .function = AGENT_NONE};
	if (walk.inside <= (agent_thread.root != 0))
		return false;
	outer = first_of_program(&walk, walk.inside - 1 - (agent_thread.root != 0));
	p->function = walk.frames[outer].function;
	p->address = walk.frames[outer].pc;
	if (!finish_inner(&walk, outer, p, ret))
		return false;
	p->function = AGENT_NONE;
	return true;
}

bool capture_at(const struct unwind_regs *regs, wm_context *ret, struct capture_point *ret_point)
{
	return capture(regs, true, ret, ret_point);
}

bool capture_interrupted(const struct unwind_regs *regs, wm_context *ret)
{
	struct capture_point point;

	return capture(regs, false, ret, &point);
}
