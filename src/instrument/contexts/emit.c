/*
 * emit.c - last phase: rewrites the module as planned. Every value of a function is built from
 *
 *      entry id, entry top    loaded where it is cheapest for the sites that need them (struct kept); at the entry, once, in functions with landing
 *                             pads or setjmp
 *      root                   its id is set ahead of its code (entry.c); in its code, where nothing is encoded into it (is_outer);
 *                             in front of its sites, where it seldom comes to them (late.c)
 *
 *      encoded edge           id += a;            call;  id -= a            (in an outer function: id = a; call; id = 0)
 *        and another one      ...;                call;  id += b - a;  call;  id -= b
 *      push                   top = push(...);    call;  T.id = id; T.top = top
 *        into a cycle         top = push(...); id = restart; call; ...      (a root sets it by itself)
 *        alone in a loop      top = push(...); for (...) { call;  T.top = the pushed one; }  T.id = id; T.top = top
 *      call of itself         history = history << bits | code;  call;  history >>= bits      (self.c; a push where there is no room)
 *        and another one      ...;  call;  history ^= code ^ next code;  call;  history >>= bits
 *      push, then jump        push_tail(...);     call;  ret                (the callers put back)
 *      foreign code           T.deferred = site, sp;  call;  T.deferred = 0, or put_back() if another one has pushed
 *      return of a root       clean(...), where the module has musttail calls in roots
 *      landing pad, setjmp    T.id = entry id; T.top = entry top            (whatever unwound or jumped to here)
 */
#include <string.h>

#include <llvm-c/DebugInfo.h>
#include <waymark/abi.h>

#include "llvm/ir.h"
#include "instrument/contexts/program.h"
#include "llvm/section.h"

struct emitter {
	struct program *p;
	struct support support;
	LLVMBuilderRef builder;
	LLVMValueRef return_slot;   /* llvm.addressofreturnaddress */
	LLVMValueRef read_register; /* llvm.read_register.i64 */
	unsigned returns_twice;
	unsigned builtin_setjmp;
	/* the function at work */
	bool is_outer;
	LLVMValueRef begin;    /* where an outer function has set its id */
	LLVMValueRef entry_id; /* a constant, or that of functions that recover; else NULL */
	LLVMValueRef entry_top;
	LLVMValueRef entry_history; /* of functions that recover */
	struct kept *kept;
};

static LLVMValueRef constant(const struct emitter *e, uint64_t value)
{
	return LLVMConstInt(e->support.i64, value, 0);
}

static LLVMValueRef load_id(struct emitter *e)
{
	return LLVMBuildLoad2(e->builder, e->support.i64, e->support.thread_id, "wm1.id");
}

static void store_id(struct emitter *e, LLVMValueRef id)
{
	LLVMBuildStore(e->builder, id, e->support.thread_id);
}

static void store_top(struct emitter *e, LLVMValueRef top)
{
	LLVMSetVolatile(LLVMBuildStore(e->builder, top, e->support.thread_top), 1);
}

/* What is deferred here has been left, or is another stack's. */
static void forget_deferred(struct emitter *e)
{
	LLVMSetVolatile(LLVMBuildStore(e->builder, constant(e, 0), e->support.thread_deferred_sp), 1);
}

/* setjmp and its like; __builtin_setjmp is an intrinsic without the attribute. */
static bool has_returns_twice(const struct emitter *e, LLVMValueRef call)
{
	const LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
	if (LLVMGetCallSiteEnumAttribute(call, index, e->returns_twice))
		return true;
	LLVMValueRef callee = LLVMGetCalledValue(call);
	return LLVMIsAFunction(callee) && (LLVMGetEnumAttributeAtIndex(callee, index, e->returns_twice) ||
					   LLVMGetIntrinsicID(callee) == e->builtin_setjmp);
}

static bool is_call(LLVMValueRef i)
{
	return LLVMIsACallInst(i) || LLVMIsAInvokeInst(i);
}

static LLVMValueRef first_non_phi(LLVMBasicBlockRef block)
{
	LLVMValueRef i = LLVMGetFirstInstruction(block);
	while (LLVMIsAPHINode(i))
		i = LLVMGetNextInstruction(i);
	return i;
}

/* Positions the builder right after a call has returned normally; false when it does not return. */
static bool position_after(struct emitter *e, LLVMValueRef call)
{
	LLVMValueRef next;
	if (LLVMIsAInvokeInst(call)) {
		if (LLVMGetInstructionOpcode(first_non_phi(LLVMGetNormalDest(call))) == LLVMUnreachable)
			return false;
		next = first_non_phi(e->p->host->normal_edge(call));
	} else {
		next = LLVMGetNextInstruction(call);
	}
	if (LLVMGetInstructionOpcode(next) == LLVMUnreachable)
		return false;
	LLVMPositionBuilderBefore(e->builder, next);
	LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(call));
	return true;
}

static void put_back_entry(struct emitter *e)
{
	forget_deferred(e);
	LLVMBuildStore(e->builder, e->entry_history, e->support.thread_history);
	store_id(e, e->entry_id);
	store_top(e, e->entry_top);
}

/* Landing pads and calls that return twice: the state there is whatever the far side left. */
static void recover(struct emitter *e, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			if (LLVMIsALandingPadInst(i)) {
				LLVMPositionBuilderBefore(e->builder, LLVMGetNextInstruction(i));
				LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(i));
				put_back_entry(e);
			} else if (is_call(i) && has_returns_twice(e, i) && position_after(e, i)) {
				put_back_entry(e);
			}
		}
}

static void keep_entry(struct emitter *e, LLVMValueRef function)
{
	LLVMPositionBuilderBefore(e->builder, e->begin ? LLVMGetNextInstruction(e->begin) : ir_after_allocas(function));
	LLVMSetCurrentDebugLocation2(e->builder, NULL);
	if (!e->entry_id)
		e->entry_id = load_id(e);
	e->entry_top = LLVMBuildLoad2(e->builder, e->support.pointer, e->support.thread_top, "wm1.top");
	e->entry_history = LLVMBuildLoad2(e->builder, e->support.i32, e->support.thread_history, "wm1.history");
}

/* Nobody has given it an id. */
static void start_alone(struct emitter *e, LLVMValueRef function)
{
	LLVMPositionBuilderBefore(e->builder, ir_after_allocas(function));
	LLVMSetCurrentDebugLocation2(e->builder, NULL);
	LLVMBuildCall2(e->builder, support_type(e->support.enter), e->support.enter, NULL, 0, "");
	e->entry_id = constant(e, 0);
	e->begin = LLVMBuildStore(e->builder, e->entry_id, e->support.thread_id);
}

/* main of a program with hybrid encoding: offsets of the stack count from its frame. */
static void start_main(struct emitter *e, LLVMValueRef function)
{
	LLVMValueRef word = LLVMConstInt(e->support.i64, sizeof(uint64_t), 0);
	LLVMPositionBuilderBefore(e->builder, ir_after_allocas(function));
	LLVMSetCurrentDebugLocation2(e->builder, NULL);
	LLVMBuildCall2(e->builder, support_type(e->support.enter), e->support.enter, NULL, 0, "");
	LLVMValueRef slot =
		LLVMBuildCall2(e->builder, support_type(e->return_slot), e->return_slot, NULL, 0, "wm1.slot");
	LLVMValueRef frame =
		LLVMBuildAdd(e->builder, LLVMBuildPtrToInt(e->builder, slot, e->support.i64, ""), word, "wm1.frame");
	LLVMValueRef id = LLVMBuildCall2(e->builder, support_type(e->support.hybrid_main), e->support.hybrid_main,
					 &frame, 1, "wm1.id");
	e->begin = LLVMBuildStore(e->builder, id, e->support.thread_id);
}

/* The same, in front of a site that it seldom comes to. */
static void start_late(struct emitter *e, const struct site *site)
{
	LLVMPositionBuilderBefore(e->builder, site->call);
	LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(site->call));
	outline_call(e->builder, e->support.enter_here, NULL);
}

static LLVMValueRef stack_pointer(struct emitter *e)
{
	LLVMMetadataRef name = LLVMMDStringInContext2(e->p->context, "rsp", 3);
	LLVMValueRef node = LLVMMetadataAsValue(e->p->context, LLVMMDNodeInContext2(e->p->context, &name, 1));
	return LLVMBuildCall2(e->builder, support_type(e->read_register), e->read_register, &node, 1, "wm1.sp");
}

/* The site's number for a helper, which adds the base of a shared library. */
static LLVMValueRef helper_number(const struct emitter *e, const struct site *site)
{
	return constant(e, e->p->is_shared ? site->number : WM1_SITE_PROGRAM + site->number);
}

/* A root sets it by itself. */
static void set_restart(struct emitter *e, const struct site *site)
{
	const struct function *callee = site->callee == NO_INDEX ? NULL : &e->p->functions.items[site->callee];
	if (callee && !callee->is_root)
		store_id(e, constant(e, program_restart(e->p, callee)));
}

static LLVMValueRef emit_push(struct emitter *e, const struct site *site, LLVMValueRef id)
{
	LLVMValueRef helper = e->support.push;
	LLVMValueRef last = NULL;
	if (site->undo) {
		last = stack_pointer(e);
	} else {
		helper = e->support.push_tail;
		last = LLVMBuildCall2(e->builder, support_type(e->return_slot), e->return_slot, NULL, 0, "wm1.slot");
	}
	LLVMValueRef arguments[] = {support_number(e->p, &e->support, e->builder, site->number), id, last};
	LLVMValueRef call =
		LLVMBuildCall2(e->builder, support_type(helper), helper, arguments, 3, site->undo ? "wm1.top" : "");
	LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(helper));
	return site->undo ? call : NULL;
}

static void emit_cold_push(struct emitter *e, const struct site *site)
{
	const struct support *s = &e->support;
	const bool defers = site->action == SITE_DEFER;
	LLVMValueRef number = helper_number(e, site);
	LLVMPositionBuilderBefore(e->builder, site->call);
	LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(site->call));
	outline_call(e->builder, defers ? s->defer_here : s->push_here, &number);
	set_restart(e, site);
	if (position_after(e, site->call))
		outline_call(e->builder, defers ? s->end_here : s->put_back, NULL);
}

/* The call needs the state of its function: it is encoded, or captures. */
static bool is_emitted(const struct site *site)
{
	return site->number || site->action == SITE_CAPTURE;
}

/* The call, or the end of the block, in front of which the block's own state is still that of the entry. */
static LLVMValueRef before_sites(const struct emitter *e, const struct function *f, LLVMBasicBlockRef block)
{
	for (uint32_t k = 0; k < f->site_count; k++) {
		const struct site *site = &e->p->sites.items[f->first_site + k];
		if (site->block == block && is_emitted(site))
			return site->call;
	}
	return LLVMGetBasicBlockTerminator(block);
}

static struct kept *kept_in(struct emitter *e, const struct function *f, LLVMBasicBlockRef block)
{
	for (struct kept *kept = e->kept; kept; kept = kept->next)
		if (kept->block == block)
			return kept;
	struct kept *kept = arena_calloc(&e->p->arena, 1, sizeof *kept);
	if (!kept)
		return NULL;
	LLVMPositionBuilderBefore(e->builder, before_sites(e, f, block));
	LLVMSetCurrentDebugLocation2(e->builder, NULL);
	kept->block = block;
	kept->id = load_id(e);
	kept->top = LLVMBuildLoad2(e->builder, e->support.pointer, e->support.thread_top, "wm1.top");
	kept->next = e->kept;
	return e->kept = kept;
}

/* A callee may come back with another id, or a push keeps it; a cold one does not. */
static bool needs_kept(const struct site *site)
{
	return site->number && (site->restore_id || site->restore_top || (!site->is_cold && site->action == SITE_PUSH));
}

/* Before anything else of the function is changed. */
static struct error *keep_for_sites(struct emitter *e, const struct function *f)
{
	struct program *p = e->p;
	struct site *sites = &p->sites.items[f->first_site];
	LLVMBasicBlockRef *blocks = arena_calloc(&p->arena, 2 * (size_t)f->site_count + 1, sizeof *blocks);
	LLVMBasicBlockRef *places = blocks + f->site_count;
	unsigned count = 0;
	if (!blocks)
		return &error_no_memory;
	for (uint32_t k = 0; k < f->site_count; k++)
		if (needs_kept(&sites[k]))
			blocks[count++] = sites[k].block;
	if (count)
		p->host->load_places(p->host, f->value, blocks, count, places);
	for (uint32_t k = f->site_count; k-- > 0;)
		if (needs_kept(&sites[k])) {
			sites[k].kept = kept_in(e, f, places[--count]);
			if (!sites[k].kept)
				return &error_no_memory;
		}
	return NULL;
}

static void drop_unused(LLVMValueRef load)
{
	if (!LLVMGetFirstUse(load))
		LLVMInstructionEraseFromParent(load);
}

static LLVMValueRef kept_id(const struct emitter *e, const struct site *site)
{
	return e->entry_id || !site->kept ? e->entry_id : site->kept->id;
}

static LLVMValueRef kept_top(const struct emitter *e, const struct site *site)
{
	return e->entry_top || !site->kept ? e->entry_top : site->kept->top;
}

static bool may_be_around_loop(const struct emitter *e, const struct function *f, const struct site *site)
{
	return site->action == SITE_PUSH && site->number && site->undo && site->kind != META_SITE_ASM && !f->recovers &&
	       !f->is_late && !e->p->is_hybrid && LLVMIsACallInst(site->call);
}

/*
 * The callee of a push may return with more on the context stack (chains of tail calls), and code that switches stacks with another one. So each
 * round puts back what the push has made of it.
 */
static void emit_around_loop(struct emitter *e, const struct site *site, const struct call_loop *loop)
{
	const struct support *s = &e->support;
	LLVMValueRef number = helper_number(e, site);
	LLVMValueRef id = e->entry_id, top = NULL;
	LLVMPositionBuilderBefore(e->builder, loop->before);
	LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(site->call));
	if (!site->is_cold && !id)
		id = load_id(e);
	if (site->is_cold)
		outline_call(e->builder, s->push_here, &number);
	else
		top = emit_push(e, site, id);
	LLVMValueRef pushed = LLVMBuildLoad2(e->builder, s->pointer, s->thread_top, "wm1.pushed");
	LLVMSetVolatile(pushed, 1);
	LLVMPositionBuilderBefore(e->builder, site->call);
	set_restart(e, site);
	if (!position_after(e, site->call))
		return;
	store_top(e, pushed);
	if (site->kind == META_SITE_INDIRECT)
		forget_deferred(e);
	for (unsigned i = 0; i < loop->exit_count; i++) {
		LLVMPositionBuilderBefore(e->builder, e->p->host->first_insertion(loop->exits[i]));
		if (site->is_cold) {
			outline_call(e->builder, s->put_back, NULL);
			continue;
		}
		store_id(e, id);
		store_top(e, top);
	}
}

static bool has_any_around_loop(const struct emitter *e, const struct function *f)
{
	for (uint32_t k = 0; k < f->site_count; k++)
		if (may_be_around_loop(e, f, &e->p->sites.items[f->first_site + k]))
			return true;
	return false;
}

/* Pushes that are alone in a loop, before any other site is written. */
static struct error *emit_around_loops(struct emitter *e, const struct function *f)
{
	struct program *p = e->p;
	struct site *sites = &p->sites.items[f->first_site];
	struct call_loop loop;
	struct loops *loops = has_any_around_loop(e, f) ? p->host->loops_of(f->value) : NULL;
	LLVMValueRef *calls = NULL;
	unsigned count = 0;
	if (!loops)
		return NULL;
	calls = arena_calloc(&p->arena, f->site_count, sizeof *calls);
	for (uint32_t k = 0; calls && k < f->site_count; k++)
		if (is_emitted(&sites[k]))
			calls[count++] = sites[k].call;
	for (uint32_t k = 0; calls && k < f->site_count; k++) {
		sites[k].is_around_loop = may_be_around_loop(e, f, &sites[k]) &&
					  p->host->loop_around(loops, sites[k].call, calls, count, &loop);
		if (sites[k].is_around_loop)
			emit_around_loop(e, &sites[k], &loop);
	}
	p->host->loops_free(loops);
	return calls ? NULL : &error_no_memory;
}

static void emit_deferred(struct emitter *e, const struct site *site)
{
	const struct support *s = &e->support;
	LLVMPositionBuilderBefore(e->builder, site->call);
	LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(site->call));
	LLVMValueRef arguments[] = {support_number(e->p, s, e->builder, site->number), stack_pointer(e)};
	LLVMBuildCall2(e->builder, support_type(s->defer), s->defer, arguments, 2, "");
	if (!position_after(e, site->call))
		return;
	LLVMValueRef sp = stack_pointer(e);
	LLVMBuildCall2(e->builder, support_type(s->end_defer), s->end_defer, &sp, 1, "");
}

static void emit_self_call(struct emitter *e, const struct site *site)
{
	const struct support *s = &e->support;
	const uint64_t restart = program_restart(e->p, &e->p->functions.items[site->callee]);
	LLVMValueRef bits = LLVMConstInt(s->i32, site->code_bits, 0);
	LLVMValueRef difference = LLVMConstInt(s->i32, site->is_next ? site[-1].code ^ site->code : 0, 0);
	LLVMValueRef helper = site->has_next ? s->call_selves : site->code ? s->call_self : s->call_self_first;
	LLVMValueRef arguments[] = {
		LLVMConstInt(s->i32, UINT32_MAX >> site->code_bits, 0),
		bits,
		LLVMConstInt(s->i32, site->code, 0),
		helper_number(e, site),
		constant(e, restart),
	};
	LLVMPositionBuilderBefore(e->builder, site->call);
	LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(site->call));
	if (site->is_next)
		LLVMBuildCall2(e->builder, support_type(s->next_self), s->next_self, &difference, 1, "");
	else
		LLVMBuildCall2(e->builder, support_type(helper), helper, arguments, 5, "");
	if (site->has_next || !position_after(e, site->call))
		return;
	LLVMBuildCall2(e->builder, support_type(s->return_self), s->return_self, &bits, 1, "");
	if (site->restore_id)
		store_id(e, kept_id(e, site));
	if (site->restore_top)
		store_top(e, kept_top(e, site));
}

/*
 * A cold edge keeps nothing: it sets the id where that is a constant, and adds where it is not. left: what the edge before it in
 * the block has left in the id. leaves: the next site in the block sees to what this one leaves there.
 */
static struct error *emit_cold_edge(struct emitter *e, const struct site *site, uint64_t left, bool leaves)
{
	const uint64_t addend = site->addend;
	struct error *err = NULL;
	LLVMPositionBuilderBefore(e->builder, site->call);
	LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(site->call));
	if (e->is_outer)
		err = outline_change(e->p, &e->support, e->builder, ID_SET, addend);
	else if (addend > left)
		err = outline_change(e->p, &e->support, e->builder, ID_ADD, addend - left);
	else if (addend < left)
		err = outline_change(e->p, &e->support, e->builder, ID_SUBTRACT, left - addend);
	if (err || leaves || !position_after(e, site->call))
		return err;
	return e->is_outer ? outline_change(e->p, &e->support, e->builder, ID_SET, 0)
			   : outline_change(e->p, &e->support, e->builder, ID_SUBTRACT, addend);
}

/* An outer function knows its id. Any other adds to it in memory, which keeps no register; left: what the site before has left there. */
static void emit_addend(struct emitter *e, const struct site *site, uint64_t left)
{
	if (e->is_outer)
		store_id(e, constant(e, site->addend));
	else if (site->addend != left)
		store_id(e, LLVMBuildAdd(e->builder, load_id(e), constant(e, site->addend - left), "wm1.callee.id"));
}

static void undo_addend(struct emitter *e, const struct site *site)
{
	if (e->is_outer || site->restore_id)
		store_id(e, kept_id(e, site));
	else
		store_id(e, LLVMBuildSub(e->builder, load_id(e), constant(e, site->addend), "wm1.id"));
}

/* undo_id: false when the next site in the block sees to what this one leaves there. */
static void emit_call_site(struct emitter *e, const struct site *site, uint64_t left, bool undo_id)
{
	LLVMValueRef id = kept_id(e, site);
	LLVMValueRef top = kept_top(e, site);
	LLVMPositionBuilderBefore(e->builder, site->call);
	LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(site->call));
	if (site->action == SITE_PUSH) {
		top = emit_push(e, site, id);
		set_restart(e, site);
	} else if (site->action == SITE_ADD) {
		emit_addend(e, site, left);
	}
	if (!site->undo || !position_after(e, site->call))
		return;
	if (undo_id && site->action == SITE_ADD)
		undo_addend(e, site);
	else if (undo_id)
		store_id(e, id);
	if (site->action == SITE_PUSH || site->restore_top)
		store_top(e, top);
	if (site->kind == META_SITE_INDIRECT || site->kind == META_SITE_ASM) /* code that switches stacks */
		forget_deferred(e);
}

/* Replaces the call by one of the runtime's function, which takes the site's number, too. */
static void replace_call(struct emitter *e, LLVMValueRef old, LLVMValueRef callee, LLVMValueRef *arguments,
			 unsigned count)
{
	LLVMTypeRef type = support_type(callee);
	LLVMValueRef call = LLVMIsAInvokeInst(old)
				    ? LLVMBuildInvoke2(e->builder, type, callee, arguments, count,
						       LLVMGetNormalDest(old), LLVMGetUnwindDest(old), "")
				    : LLVMBuildCall2(e->builder, type, callee, arguments, count, "");
	if (callee == e->support.capture) {
		LLVMTypeRef context = LLVMStructTypeInContext(
			e->p->context,
			(LLVMTypeRef[]){e->support.i64, e->support.i32, e->support.i32, e->support.i32, e->support.i32},
			5, 0);
		unsigned kind = ir_attribute_kind("sret");
		LLVMAddCallSiteAttribute(call, 1, LLVMCreateTypeAttribute(e->p->context, kind, context));
	}
	LLVMInstructionEraseFromParent(old);
}

static void emit_capture(struct emitter *e, const struct site *site)
{
	LLVMPositionBuilderBefore(e->builder, site->call);
	LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(site->call));
	LLVMValueRef number = support_number(e->p, &e->support, e->builder, site->number);
	if (LLVMGetNumArgOperands(site->call) == 4) { /* wm1_path_residual: a path outside a plan */
		LLVMSetOperand(site->call, 3, number);
	} else if (LLVMGetNumArgOperands(site->call) == 1) {
		LLVMValueRef arguments[] = {LLVMGetOperand(site->call, 0), number};
		replace_call(e, site->call, e->support.capture, arguments, 2);
	} else {
		LLVMValueRef arguments[] = {number, LLVMGetOperand(site->call, 0), LLVMGetOperand(site->call, 1)};
		replace_call(e, site->call, e->support.event, arguments, 3);
	}
}

static bool is_cold_edge(const struct site *site)
{
	return site->is_cold && site->action == SITE_ADD;
}

/* Its callee returns with the id that it was entered with. */
static bool leaves_addend(const struct site *site)
{
	return site->action == SITE_ADD && !site->restore_id;
}

/* An absolute id, or none that the id before it matters for: putting that back just before is dead. */
static bool stores_absolute(const struct emitter *e, const struct site *site)
{
	if (site->action == SITE_ADD)
		return e->is_outer;
	return !site->is_cold && site->action == SITE_PUSH; /* of the id that is kept */
}

/* The next site in the block takes care of what this one leaves in the id: stores another one over it, or adds the difference. */
static bool leaves_id(const struct emitter *e, const struct site *site, const struct site *next)
{
	if (next->block != site->block || next->is_landed || !next->number || LLVMIsAInvokeInst(site->call))
		return false;
	return stores_absolute(e, next) || (leaves_addend(site) && next->action == SITE_ADD);
}

static void clean_before_returns(struct emitter *e, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef ret = LLVMGetBasicBlockTerminator(b);
		LLVMOpcode opcode = LLVMGetInstructionOpcode(ret);
		if ((opcode != LLVMRet && opcode != LLVMResume) ||
		    ir_is_must_tail_call(LLVMGetPreviousInstruction(ret)))
			continue;
		LLVMPositionBuilderBefore(e->builder, ret);
		LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(ret));
		LLVMValueRef slot =
			LLVMBuildCall2(e->builder, support_type(e->return_slot), e->return_slot, NULL, 0, "wm1.slot");
		LLVMBuildCall2(e->builder, support_type(e->support.clean), e->support.clean, &slot, 1, "");
	}
}

/* A root may end a chain of tail calls that a root has pushed; also one below which nothing looks at a context. */
static bool cleans(const struct program *p, const struct function *f)
{
	return p->cleans_tails && f->is_root && !f->is_opaque;
}

/* leaves: the id is left to the next site; left: what the one before left there. */
static struct error *emit_site(struct emitter *e, struct site *site, uint64_t left, bool leaves)
{
	struct program *p = e->p;
	const bool knows_callee = site->callee != NO_INDEX;
	const struct function *callee = knows_callee ? &p->functions.items[site->callee] : NULL;
	if ((site->kind == META_SITE_CALL || site->kind == META_SITE_SELF_CALL) && knows_callee && callee->inner)
		entry_call_inner(site->call, callee, site->is_replaceable ? callee->entry : callee->inner);
	if (site->action == SITE_CAPTURE) {
		emit_capture(e, site);
		return NULL;
	}
	if (!site->number || site->is_around_loop)
		return NULL;
	if (is_cold_edge(site))
		return emit_cold_edge(e, site, left, leaves);
	if (site->is_cold)
		emit_cold_push(e, site);
	else if (site->action == SITE_DEFER)
		emit_deferred(e, site);
	else if (site->action == SITE_SELF)
		emit_self_call(e, site);
	else if (site->action != SITE_NOTHING || site->undo)
		emit_call_site(e, site, left, !leaves);
	return NULL;
}

static void emit_begin(struct emitter *e, struct function *f)
{
	e->is_outer = f->is_outer;
	e->begin = NULL;
	e->entry_id = f->is_late ? constant(e, 0) : NULL;
	e->entry_top = NULL;
	if (f->is_outer && !f->is_late)
		start_alone(e, f->value);
	if (function_is_placed_root(f))
		start_main(e, f->value);
	e->kept = NULL;
	if (f->recovers) {
		keep_entry(e, f->value);
		recover(e, f->value);
	}
}

static struct error *emit_function(struct emitter *e, struct function *f)
{
	uint64_t left = 0;
	emit_begin(e, f);
	struct error *err = f->recovers ? NULL : keep_for_sites(e, f);
	if (!err)
		err = emit_around_loops(e, f);
	for (uint32_t k = 0; k < f->site_count && !err; k++) {
		struct site *site = &e->p->sites.items[f->first_site + k];
		const bool leaves = k + 1 < f->site_count && leaves_id(e, site, &site[1]);
		if (late_starts_at(e->p, f, site))
			start_late(e, site);
		err = emit_site(e, site, left, leaves);
		left = leaves && leaves_addend(site) ? site->addend : 0;
	}
	for (const struct kept *kept = e->kept; kept; kept = kept->next) {
		drop_unused(kept->id);
		drop_unused(kept->top);
	}
	if (cleans(e->p, f))
		clean_before_returns(e, f->value);
	return err;
}

static struct error *emit(struct emitter *e, struct function *f)
{
	if (f->node != NO_INDEX)
		return emit_function(e, f);
	if (cleans(e->p, f))
		clean_before_returns(e, f->value);
	return NULL;
}

static struct error *split_roots(struct emitter *e)
{
	struct program *p = e->p;
	struct error *err = NULL;
	for (size_t i = 0; i < p->functions.count && !err; i++) {
		struct function *f = &p->functions.items[i];
		if (f->is_root && f->node != NO_INDEX && !f->is_outer && !f->is_placed)
			entry_split(p, &e->support, f, program_restart(p, f));
		if (f->is_replaceable)
			err = interpose_add(p, &e->support, f);
	}
	return err;
}

static struct error *emit_variant(struct emitter *e, const struct variant *v)
{
	struct program *p = e->p;
	struct function body = p->functions.items[v->function];
	const uint32_t first = body.first_site;
	struct error *err = NULL;
	body.value = v->value;
	body.first_site = (uint32_t)p->sites.count;
	for (uint32_t k = 0; k < body.site_count && !err; k++) {
		struct site site = p->sites.items[first + k];
		site.call = v->calls[k];
		site.block = LLVMGetInstructionParent(site.call);
		err = site_vec_append(&p->sites, site);
	}
	return err ? err : emit(e, &body);
}

struct error *program_emit(struct program *p, const struct buffer *section)
{
	struct emitter e = {.p = p};
	struct error *err = support_add(p, p->meta.site_count, p->meta.key, &e.support);
	if (err)
		return err;
	e.builder = LLVMCreateBuilderInContext(p->context);
	e.return_slot = LLVMGetIntrinsicDeclaration(p->module, ir_intrinsic_kind("llvm.addressofreturnaddress"),
						    &e.support.pointer, 1);
	e.read_register =
		LLVMGetIntrinsicDeclaration(p->module, ir_intrinsic_kind("llvm.read_register"), &e.support.i64, 1);
	e.builtin_setjmp = ir_intrinsic_kind("llvm.eh.sjlj.setjmp");
	e.returns_twice = ir_attribute_kind("returns_twice");
	err = split_roots(&e);
	for (size_t i = 0; i < p->functions.count && !err; i++)
		err = emit(&e, &p->functions.items[i]);
	for (size_t i = 0; i < p->variants.count && !err; i++)
		err = emit_variant(&e, &p->variants.items[i]);
	LLVMDisposeBuilder(e.builder);
	if (!err)
		err = support_finish(p);
	return err ? err : section_add(p->module, ".debug_waymark", section);
}
