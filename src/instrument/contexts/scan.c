/*
 * scan.c - first phase: which functions and call sites the linked module has, and what each call may reach.
 *
 * A function is a root when code that does not know its encoding may enter it: it is visible outside, its address is
 * taken, or code that is left alone calls it. A direct call is an edge only when the definition in this module is surely
 * the one that runs; any other call that may reach instrumented code again is pushed (DESIGN, "push edge").
 */
#include <stdlib.h>
#include <string.h>

#include "instrument/nocallback.h"
#include "llvm/ir.h"
#include "instrument/contexts/program.h"

struct scan {
	struct program *p;
	unsigned returns_twice;
	unsigned builtin_setjmp;
	unsigned naked;
	unsigned no_unwind;
};

static int compare_entries(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct function_entry *)a)->value;
	uintptr_t y = (uintptr_t)((const struct function_entry *)b)->value;
	return (x > y) - (x < y);
}

uint32_t program_find(const struct program *p, LLVMValueRef value)
{
	struct function_entry key = {.value = value};
	const struct function_entry *found =
		bsearch(&key, p->by_value, p->functions.count, sizeof key, compare_entries);
	return found ? found->index : NO_INDEX;
}

/* The call's only use of value is as its callee. */
static bool only_calls(LLVMValueRef call, LLVMValueRef value)
{
	if (LLVMGetCalledValue(call) != value)
		return false;
	unsigned count = LLVMGetNumArgOperands(call);
	for (unsigned i = 0; i < count; i++)
		if (LLVMGetOperand(call, i) == value)
			return false;
	return true;
}

static bool is_plain_constant(LLVMValueRef value)
{
	return LLVMIsAConstantExpr(value) || LLVMIsAConstantStruct(value) || LLVMIsAConstantArray(value);
}

/* Not so that code ahead of a function can find it: what is computed from its address is an operand of a function. */
static bool is_constant_taken(LLVMValueRef constant)
{
	for (LLVMUseRef use = LLVMGetFirstUse(constant); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (!LLVMIsAFunction(user) && (!is_plain_constant(user) || is_constant_taken(user)))
			return true;
	}
	return false;
}

bool scan_is_address_taken(LLVMValueRef function)
{
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (LLVMIsABlockAddress(user) || (is_plain_constant(user) && !is_constant_taken(user)))
			continue;
		if (!LLVMIsAInstruction(user) || !ir_is_call(user) || !only_calls(user, function))
			return true;
	}
	return false;
}

/* The name of the function that this is another body of; else NULL. */
static LLVMAttributeRef variant_of(LLVMValueRef function)
{
	return LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, IR_VARIANT_OF,
					     (unsigned)strlen(IR_VARIANT_OF));
}

/* A copy of a length-delimited name that outlives the value. */
static const char *value_name(struct program *p, LLVMValueRef value)
{
	size_t len_bytes;
	const char *name = LLVMGetValueName2(value, &len_bytes);
	/* \1 marks an asm label: the rest is the symbol as it stands. */
	if (len_bytes && name[0] == '\1') {
		name++;
		len_bytes--;
	}
	return arena_strndup(&p->arena, name, len_bytes);
}

static bool is_defined(LLVMValueRef function)
{
	return !LLVMIsDeclaration(function) && LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage;
}

static struct error *collect_functions(struct scan *s)
{
	struct program *p = s->p;
	for (LLVMValueRef f = LLVMGetFirstFunction(p->module); f; f = LLVMGetNextFunction(f)) {
		if (!is_defined(f) || variant_of(f))
			continue;
		struct function function = {.value = f, .name = value_name(p, f), .node = NO_INDEX};
		if (!function.name)
			return &error_no_memory;
		function.is_exported = !ir_is_local(f);
		function.is_address_taken = scan_is_address_taken(f);
		function.is_root = function.is_exported || function.is_address_taken;
		function.is_opaque = ir_has_attribute(f, s->naked);
		struct error *err = function_vec_append(&p->functions, function);
		if (err)
			return err;
	}
	p->by_value = arena_calloc(&p->arena, p->functions.count + 1, sizeof *p->by_value);
	if (!p->by_value)
		return &error_no_memory;
	for (size_t i = 0; i < p->functions.count; i++)
		p->by_value[i] = (struct function_entry){p->functions.items[i].value, (uint32_t)i};
	qsort(p->by_value, p->functions.count, sizeof *p->by_value, compare_entries);
	return NULL;
}

static struct error *add_variant(struct program *p, LLVMValueRef body)
{
	unsigned len_bytes;
	const char *text = LLVMGetStringAttributeValue(variant_of(body), &len_bytes);
	const char *name = arena_strndup(&p->arena, text, len_bytes);
	if (!name)
		return &error_no_memory;
	struct variant v = {.value = body, .function = program_find(p, LLVMGetNamedFunction(p->module, name))};
	if (v.function == NO_INDEX)
		return error_create(ERROR_MISMATCH, "%s: there is another body of it, but not the function", name);
	return variant_vec_append(&p->variants, v);
}

static struct error *collect_variants(struct program *p)
{
	struct error *err = NULL;
	for (LLVMValueRef f = LLVMGetFirstFunction(p->module); f && !err; f = LLVMGetNextFunction(f))
		if (is_defined(f) && variant_of(f))
			err = add_variant(p, f);
	return err;
}

/* Resolves a called value: casts and aliases that cannot be preempted are looked through. */
static LLVMValueRef resolve_callee(const struct scan *s, LLVMValueRef value)
{
	for (;;) {
		if (LLVMIsAGlobalAlias(value) && s->p->host->is_final(value))
			value = LLVMAliasGetAliasee(value);
		else if (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMBitCast)
			value = LLVMGetOperand(value, 0);
		else
			return value;
	}
}

/* The called function's index, or NO_INDEX: it is not known, or not defined here. */
static uint32_t find_callee(const struct scan *s, LLVMValueRef call)
{
	return program_find(s->p, resolve_callee(s, LLVMGetCalledValue(call)));
}

/* Resolvers of ifuncs run while the loader relocates, before thread-local storage is there; so does all they call. */
static struct error *mark_early_code(struct scan *s)
{
	struct program *p = s->p;
	uint32_t *work = arena_calloc(&p->arena, p->functions.count + 1, sizeof *work);
	if (!work)
		return &error_no_memory;
	size_t count = 0;
	for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(p->module); i; i = LLVMGetNextGlobalIFunc(i)) {
		uint32_t index = program_find(s->p, resolve_callee(s, LLVMGetGlobalIFuncResolver(i)));
		if (index != NO_INDEX && !p->functions.items[index].is_opaque) {
			p->functions.items[index].is_opaque = true;
			work[count++] = index;
		}
	}
	while (count) {
		LLVMValueRef f = p->functions.items[work[--count]].value;
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
				if (!ir_is_call(i))
					continue;
				uint32_t index = find_callee(s, i);
				if (index == NO_INDEX || p->functions.items[index].is_opaque)
					continue;
				p->functions.items[index].is_opaque = true;
				work[count++] = index;
			}
	}
	return NULL;
}

/* Marks functions that uninstrumented code calls directly: they are entered unnoticed. */
static void mark_callees_of_opaque(struct scan *s)
{
	struct program *p = s->p;
	for (size_t k = 0; k < p->functions.count; k++) {
		if (!p->functions.items[k].is_opaque)
			continue;
		LLVMValueRef f = p->functions.items[k].value;
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
				if (!ir_is_call(i))
					continue;
				uint32_t index = find_callee(s, i);
				if (index != NO_INDEX)
					p->functions.items[index].is_root = true;
			}
	}
}

/* Marks what roots jump to by musttail: it returns to whoever called the root, who may be foreign, or is left by what unwinds to there. */
static struct error *mark_jumps_of_roots(struct scan *s)
{
	struct program *p = s->p;
	uint32_t *work = arena_calloc(&p->arena, p->functions.count + 1, sizeof *work);
	if (!work)
		return &error_no_memory;
	size_t count = 0;
	for (uint32_t k = 0; k < p->functions.count; k++)
		if (p->functions.items[k].is_root && !p->functions.items[k].is_opaque)
			work[count++] = k;
	while (count) {
		LLVMValueRef f = p->functions.items[work[--count]].value;
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
				if (!ir_is_must_tail_call(i))
					continue;
				uint32_t index = find_callee(s, i);
				if (index == NO_INDEX || p->functions.items[index].is_root ||
				    p->functions.items[index].is_opaque)
					continue;
				p->functions.items[index].is_root = true;
				work[count++] = index;
			}
	}
	return NULL;
}

static bool asm_may_call(LLVMValueRef value)
{
	size_t len_bytes;
	const char *text = LLVMGetInlineAsmAsmString(value, &len_bytes);
	static const char *const words[] = {"call", "jmp"};
	for (size_t w = 0; w < sizeof words / sizeof *words; w++)
		if (memmem(text, len_bytes, words[w], strlen(words[w])))
			return true;
	return false;
}

/* The value returned when the return is reached from block: looks through its own block's phi. */
static LLVMValueRef returned_value(LLVMValueRef ret, LLVMBasicBlockRef block)
{
	if (LLVMGetNumOperands(ret) == 0)
		return NULL;
	LLVMValueRef value = LLVMGetOperand(ret, 0);
	if (!LLVMIsAPHINode(value) || LLVMGetInstructionParent(value) != LLVMGetInstructionParent(ret))
		return value;
	unsigned count = LLVMCountIncoming(value);
	for (unsigned i = 0; i < count; i++)
		if (LLVMGetIncomingBlock(value, i) == block)
			return LLVMGetIncomingValue(value, i);
	return value;
}

/* Marked tail and followed by the return, or by a jump to a block that only returns: the code generator copies such a
 * return to where the call is. */
static bool is_in_tail_position(LLVMValueRef call)
{
	if (LLVMGetInstructionOpcode(call) != LLVMCall)
		return false;
	LLVMTailCallKind kind = LLVMGetTailCallKind(call);
	if (kind != LLVMTailCallKindTail && kind != LLVMTailCallKindMustTail)
		return false;
	LLVMValueRef next = LLVMGetNextInstruction(call);
	if (next && LLVMGetInstructionOpcode(next) == LLVMBr && !LLVMIsConditional(next)) {
		next = LLVMGetFirstInstruction(LLVMGetSuccessor(next, 0));
		while (next && LLVMIsAPHINode(next))
			next = LLVMGetNextInstruction(next);
	}
	if (!next || LLVMGetInstructionOpcode(next) != LLVMRet)
		return false;
	LLVMValueRef value = returned_value(next, LLVMGetInstructionParent(call));
	return !value || value == call || LLVMIsUndef(value) || LLVMIsPoison(value);
}

enum verdict {
	CALL_NOT_COUNTED,
	CALL_NO_SITE,
	CALL_SITE
};

/* Fills in kind, callee and foreign of a site for a call of a known global function. */
static enum verdict classify_global(struct scan *s, LLVMValueRef call, LLVMValueRef callee, struct site *site)
{
	struct program *p = s->p;
	if (variant_of(callee)) /* called to be entered in this function's place */
		return CALL_NOT_COUNTED;
	uint32_t index = program_find(s->p, callee);
	bool is_bound = callee != LLVMGetCalledValue(call) || p->host->is_final(callee); /* by a name that is final */
	if (index != NO_INDEX && !p->functions.items[index].is_opaque &&
	    (is_bound || interpose_is_possible(p, call, index))) {
		site->kind = META_SITE_CALL;
		site->callee = index;
		site->is_replaceable = !is_bound;
		return CALL_SITE;
	}
	size_t len_bytes;
	const char *name = LLVMGetValueName2(callee, &len_bytes);
	bool is_declared = index == NO_INDEX;
	static const char *const captures[] = {"wm_capture", "wm_event", "wm1_path_residual"};
	for (size_t i = 0; is_declared && i < sizeof captures / sizeof *captures; i++)
		if (len_bytes == strlen(captures[i]) && !memcmp(name, captures[i], len_bytes)) {
			site->kind = META_SITE_CAPTURE;
			if (events_has(p, call))
				return CALL_SITE;
			if (p->own_events)
				return CALL_NO_SITE;
		}
	if (LLVMGetCallSiteEnumAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, s->returns_twice) ||
	    ir_has_attribute(callee, s->returns_twice))
		return CALL_NO_SITE;
	site->foreign = value_name(p, callee);
	if (site->foreign && is_declared &&
	    (is_nocallback(site->foreign) || (p->own_events && is_allocator(site->foreign))))
		return CALL_NO_SITE;
	site->kind = META_SITE_FOREIGN;
	return p->is_closed ? CALL_NO_SITE : CALL_SITE;
}

static enum verdict classify(struct scan *s, LLVMValueRef call, struct site *site)
{
	LLVMValueRef callee = resolve_callee(s, LLVMGetCalledValue(call));
	if (LLVMIsAInlineAsm(callee)) {
		site->kind = META_SITE_ASM;
		if (!asm_may_call(callee) || LLVMGetInstructionOpcode(call) == LLVMCallBr)
			return CALL_NOT_COUNTED;
		return s->p->is_closed ? CALL_NO_SITE : CALL_SITE;
	}
	if (LLVMIsAFunction(callee)) {
		if (LLVMGetIntrinsicID(callee))
			return CALL_NOT_COUNTED;
		return classify_global(s, call, callee, site);
	}
	if (LLVMIsAGlobalAlias(callee)) { /* may be preempted: all we know is its name */
		site->kind = META_SITE_FOREIGN;
		site->foreign = value_name(s->p, callee);
		return s->p->is_closed ? CALL_NO_SITE : CALL_SITE;
	}
	site->kind = META_SITE_INDIRECT;
	return s->p->is_closed ? CALL_NO_SITE : CALL_SITE;
}

/* A foreign callee cannot tail-call back without bound: there a frame is cheaper than callers that clean up. */
static void note_tail_call(const struct scan *s, struct site *site)
{
	if (site->kind == META_SITE_CAPTURE || !is_in_tail_position(site->call))
		return;
	site->is_must_tail = LLVMGetTailCallKind(site->call) == LLVMTailCallKindMustTail;
	bool is_foreign =
		site->kind == META_SITE_FOREIGN && program_find(s->p, LLVMGetCalledValue(site->call)) == NO_INDEX;
	site->is_tail = site->is_must_tail || !is_foreign;
}

/* setjmp and its like; __builtin_setjmp is an intrinsic without the attribute. */
static bool returns_twice(const struct scan *s, LLVMValueRef call)
{
	if (LLVMGetCallSiteEnumAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, s->returns_twice))
		return true;
	LLVMValueRef callee = LLVMGetCalledValue(call);
	return LLVMIsAFunction(callee) &&
	       (ir_has_attribute(callee, s->returns_twice) || LLVMGetIntrinsicID(callee) == s->builtin_setjmp);
}

static struct error *scan_block(struct scan *s, uint32_t caller, LLVMBasicBlockRef block)
{
	struct program *p = s->p;
	double frequency = -1;
	bool is_landed = false;
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
		const bool is_twice = ir_is_call(i) && returns_twice(s, i);
		if (LLVMIsALandingPadInst(i) || is_twice)
			p->functions.items[caller].recovers = true;
		if (!ir_is_call(i))
			continue;
		struct site site = {.call = i,
				    .block = block,
				    .caller = caller,
				    .callee = NO_INDEX,
				    .edge = NO_INDEX,
				    .is_landed = is_landed};
		is_landed |= is_twice;
		enum verdict verdict = classify(s, i, &site);
		p->calls.total += verdict != CALL_NOT_COUNTED;
		p->calls.no_code += verdict == CALL_NO_SITE;
		if (verdict != CALL_SITE)
			continue;
		if (site.kind == META_SITE_FOREIGN && !site.foreign)
			return &error_no_memory;
		if (frequency < 0)
			frequency = p->host->block_frequency(p->host->state, block);
		site.frequency = frequency;
		note_tail_call(s, &site);
		is_landed = is_twice;
		struct error *err = site_vec_append(&p->sites, site);
		if (err)
			return err;
	}
	return NULL;
}

/* A foreign caller may catch what unwinds through a root: leave the state as it was found. */
static void guard_root(struct scan *s, const struct function *f, LLVMValueRef body)
{
	if (f->is_root && !ir_has_attribute(body, s->no_unwind))
		s->p->host->guard_unwinding(s->p->host->state, body);
}

static struct error *scan_function(struct scan *s, uint32_t index)
{
	struct program *p = s->p;
	struct function *f = &p->functions.items[index];
	f->first_site = (uint32_t)p->sites.count;
	if (f->is_opaque)
		return NULL;
	guard_root(s, f, f->value);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->value); b; b = LLVMGetNextBasicBlock(b)) {
		struct error *err = scan_block(s, index, b);
		if (err)
			return err;
	}
	f->site_count = (uint32_t)(p->sites.count - f->first_site);
	return NULL;
}

static struct error *scan_variant(struct scan *s, struct variant *v)
{
	struct program *p = s->p;
	const struct function *f = &p->functions.items[v->function];
	uint32_t count = 0;
	v->calls = arena_calloc(&p->arena, (size_t)f->site_count + 1, sizeof *v->calls);
	if (!v->calls)
		return &error_no_memory;
	if (f->is_opaque)
		return NULL;
	guard_root(s, f, v->value);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(v->value); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			struct site site = {.call = i};
			if (!ir_is_call(i) || classify(s, i, &site) != CALL_SITE)
				continue;
			if (count < f->site_count)
				v->calls[count] = i;
			count++;
		}
	if (count == f->site_count)
		return NULL;
	return error_create(ERROR_MISMATCH, "%s: another body of it has %u calls instead of %u", f->name, count,
			    f->site_count);
}

static void observe(struct program *p, uint32_t function, uint32_t *work, size_t *count)
{
	if (p->functions.items[function].is_observable)
		return;
	p->functions.items[function].is_observable = true;
	work[(*count)++] = function;
}

/* A function is observable when it has a capture or a push, calls one that is observable, or another one may run in its place. */
static struct error *mark_observable(struct program *p)
{
	/* callers of each function, as lists threaded through the sites */
	uint32_t *first = arena_calloc(&p->arena, p->functions.count + 1, sizeof *first);
	uint32_t *next = arena_calloc(&p->arena, p->sites.count + 1, sizeof *next);
	uint32_t *work = arena_calloc(&p->arena, p->functions.count + 1, sizeof *work);
	if (!first || !next || !work)
		return &error_no_memory;
	size_t count = 0;
	for (uint32_t i = 0; i < p->sites.count; i++) {
		struct site *site = &p->sites.items[i];
		if (site->kind == META_SITE_CALL) {
			next[i] = first[site->callee];
			first[site->callee] = i + 1;
			if (site->is_replaceable)
				observe(p, site->callee, work, &count);
		} else {
			observe(p, site->caller, work, &count);
		}
	}
	while (count)
		for (uint32_t i = first[work[--count]]; i; i = next[i - 1])
			observe(p, p->sites.items[i - 1].caller, work, &count);
	return NULL;
}

/*
 * musttail in a root. Whoever called the root may be foreign and puts nothing back, and the call may not become an ordinary
 * one: so it is pushed, whatever its callee, and the function at the end of the chain, a root itself (mark_jumps_of_roots), takes the pushes of its
 * frame off when it returns for real (cleans_tails). A callee from which nothing can be captured is not pushed, but may be the end of a
 * chain all the same.
 */
static void convert_root_tails(struct program *p)
{
	for (size_t i = 0; i < p->sites.count; i++) {
		struct site *site = &p->sites.items[i];
		if (!site->is_must_tail || !p->functions.items[site->caller].is_root)
			continue;
		if (site->kind != META_SITE_CALL) {
			p->cleans_tails = true;
		} else if (p->functions.items[site->callee].is_observable) {
			p->cleans_tails = true;
			site->kind = META_SITE_BACK;
		}
	}
}

/* Where no code can stand ahead of a root, its own code sets the id: all that call it push. */
static void push_where_not_split(struct program *p)
{
	for (size_t i = 0; i < p->sites.count; i++) {
		struct site *site = &p->sites.items[i];
		if (site->kind != META_SITE_CALL)
			continue;
		const struct function *callee = &p->functions.items[site->callee];
		if (callee->is_root && callee->is_observable && !entry_is_possible(p, site->callee))
			site->kind = META_SITE_BACK;
	}
}

struct error *program_scan(struct program *p)
{
	struct scan s = {.p = p};
	p->functions.count = 0;
	p->variants.count = 0;
	p->sites.count = 0;
	p->pointed_count = 0;
	p->calls = (struct call_counts){0};
	p->cleans_tails = false;
	s.returns_twice = ir_attribute_kind("returns_twice");
	s.builtin_setjmp = ir_intrinsic_kind("llvm.eh.sjlj.setjmp");
	s.naked = ir_attribute_kind("naked");
	s.no_unwind = ir_attribute_kind("nounwind");
	struct error *err = collect_functions(&s);
	if (!err)
		err = collect_variants(p);
	if (!err)
		err = mark_early_code(&s);
	if (err)
		return err;
	mark_callees_of_opaque(&s);
	err = mark_jumps_of_roots(&s);
	for (uint32_t i = 0; i < p->functions.count && !err; i++)
		err = scan_function(&s, i);
	for (size_t i = 0; i < p->variants.count && !err; i++)
		err = scan_variant(&s, &p->variants.items[i]);
	if (!err)
		err = mark_observable(p);
	if (err)
		return err;
	convert_root_tails(p);
	push_where_not_split(p);
	err = passed_collect(p);
	return err ? err : pointed_collect(p);
}
