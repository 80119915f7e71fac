/*
 * trace_callers.c - who may call a function, for the analysis of what can have run (core/activity/activity.h), and whether the bytes of
 * call sites prove that it was entered. They do where all calls of it are direct ones of code with call-site or block coverage.
 * A function that is called by pointer, from outside or by other code needs a byte of its own for that, unless each way through
 * it sets one of a call anyway.
 */
#include <stdlib.h>
#include <string.h>

#include "instrument/trace/trace.h"

static bool contains(const struct ir_value_vec *sorted, LLVMValueRef value)
{
	return sorted->count && bsearch(&value, sorted->items, sorted->count, sizeof value, ir_compare_values);
}

static bool is_call(LLVMValueRef i)
{
	return LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) || LLVMIsACallBrInst(i);
}

static bool is_called_by(LLVMValueRef user, LLVMValueRef function)
{
	if (!is_call(user))
		return false;
	unsigned last = (unsigned)LLVMGetNumOperands(user) - 1;
	for (unsigned i = 0; i < last; i++)
		if (LLVMGetOperand(user, i) == function)
			return false;
	return LLVMGetCalledValue(user) == function;
}

static bool is_address_taken(LLVMValueRef function)
{
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (!LLVMIsABlockAddress(user) && !is_called_by(user, function))
			return true;
	}
	return false;
}

void trace_callers_describe(struct trace_function *f)
{
	const bool is_final = f->m->path_options.is_final;
	const bool is_main = !strcmp(LLVMGetValueName(f->function), "main");
	const bool is_hidden = LLVMGetVisibility(f->function) == LLVMHiddenVisibility;
	const bool has_pointers = is_address_taken(f->function);
	f->meta.is_root = has_pointers || (!ir_is_local(f->function) && (is_final || !is_hidden)) ||
			  contains(&f->m->called_unseen, f->function);
	/* Another unit may take the address of what this one makes. */
	f->meta.is_address_taken = has_pointers || (!ir_is_local(f->function) && !is_main);
}

/* Control can come from the entry to an end by a way without calls. */
static bool can_end_without_call(const struct trace_function *f, const struct cfg *g, bool *is_closed, uint32_t *list)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < f->meta.call_count; i++)
		is_closed[f->meta.calls[i].node] = true;
	if (!is_closed[0])
		list[count++] = 0;
	is_closed[0] = true;
	while (count) {
		const uint32_t n = list[--count];
		if (g->first_edge[n] == g->first_edge[n + 1])
			return true;
		for (uint32_t e = g->first_edge[n]; e < g->first_edge[n + 1]; e++) {
			const uint32_t to = g->edges[e].to;
			if (!is_closed[to])
				list[count++] = to;
			is_closed[to] = true;
		}
	}
	return false;
}

struct error *trace_entry_needs_byte(const struct trace_function *f, const struct cfg *g, bool *ret)
{
	*ret = false;
	if (!f->meta.is_root && !f->meta.is_address_taken && !contains(&f->m->called_uncovered, f->function))
		return NULL;
	bool *is_closed = arena_calloc(f->scratch, g->node_count, sizeof *is_closed);
	uint32_t *list = arena_calloc(f->scratch, g->node_count, sizeof *list);
	if (!is_closed || !list)
		return &error_no_memory;
	*ret = can_end_without_call(f, g, is_closed, list);
	return NULL;
}

/* ---- functions that other code than covered calls ---- */

static struct error *add_callees(LLVMValueRef function, struct ir_value_vec *ret)
{
	struct error *err = NULL;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !err; i = LLVMGetNextInstruction(i)) {
			if (!is_call(i))
				continue;
			LLVMValueRef callee = LLVMGetCalledValue(i);
			if (LLVMIsAFunction(callee) && !LLVMIsDeclaration(callee))
				err = ir_value_vec_append(ret, callee);
		}
	return err;
}

/* Whichever of its bodies runs. */
static struct error *covers_calls(struct trace_module *m, LLVMValueRef function, bool *ret)
{
	struct arena scratch;
	arena_init(&scratch);
	struct trace_function f = {.m = m, .scratch = &scratch, .function = function};
	struct path_graph g = {.m = &m->paths, .scratch = &scratch, .function = function};
	struct error *err = path_identify(&g);
	if (!err)
		err = trace_rules_apply(&f, &g);
	*ret = f.scheme_count > 0;
	for (uint32_t i = 0; i < f.scheme_count; i++)
		*ret &= tracemeta_own_coverage(f.schemes[i]) != WM1_SCHEME_NONE;
	arena_deinit(&scratch);
	return err;
}

static struct error *survey(struct trace_module *m, LLVMValueRef function)
{
	bool is_covered = false;
	/* Not the module's own to emit, but it may be inlined. */
	const bool is_copy = LLVMGetLinkage(function) == LLVMAvailableExternallyLinkage;
	if (is_copy || path_reason(&m->paths, function))
		return add_callees(function, &m->called_unseen);
	struct error *err = covers_calls(m, function, &is_covered);
	return err || is_covered ? err : add_callees(function, &m->called_uncovered);
}

static void sort(struct ir_value_vec *v)
{
	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, ir_compare_values);
}

struct error *trace_callers_survey(struct trace_module *m)
{
	struct error *err = NULL;
	for (LLVMValueRef f = LLVMGetFirstFunction(m->paths.module); f && !err; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f))
			err = survey(m, f);
	sort(&m->called_unseen);
	sort(&m->called_uncovered);
	return err;
}
