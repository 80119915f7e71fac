/*
 * trace_calls.c - what a function calls, for the analysis of what can have run (core/activity/activity.h): calls in the order of the
 * code, each with its callee as far as that is known, and whether it may not come back.
 */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "instrument/nocallback.h"
#include "instrument/contexts/program.h"
#include "instrument/trace/trace.h"

VEC_DECLARE(call_vec, struct tracemeta_call);

/* The call is of path counters, which came first. No assembly of the program is marked as returning. */
static bool is_own_call(const struct trace_module *m, LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	if (LLVMIsAInlineAsm(callee))
		return path_call_has(call, m->paths.kinds.willreturn);
	size_t len_bytes = 0;
	const char *name = LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &len_bytes) : "";
	return !strncmp(name, "wm1.", strlen("wm1.")) || !strncmp(name, "wm1_", strlen("wm1_"));
}

/* In the order of the code; none behind a call that does not return. */
static struct error *collect(const struct trace_module *m, const struct path_graph *g, uint32_t node,
			     struct ir_value_vec *ret)
{
	struct error *err = NULL;
	for (LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[node].block); i && !err; i = LLVMGetNextInstruction(i)) {
		if ((LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) || LLVMIsACallBrInst(i)) && !path_is_intrinsic(i) &&
		    !is_own_call(m, i))
			err = ir_value_vec_append(ret, i);
		if (LLVMIsACallInst(i) && path_call_has(i, g->m->kinds.noreturn))
			break;
	}
	return err;
}

static bool has_all(const struct trace_module *m, LLVMValueRef call)
{
	return path_call_has(call, m->paths.kinds.nounwind) && path_call_has(call, m->kinds.nocallback) &&
	       path_call_has(call, m->paths.kinds.willreturn);
}

/* A function of libc that calls nothing back and returns. */
static bool is_pure(const struct trace_module *m, LLVMValueRef call, LLVMValueRef callee, const char *name)
{
	if (!LLVMIsDeclaration(callee) || path_call_has(call, m->paths.kinds.noreturn))
		return false;
	return is_nocallback(name) || has_all(m, call);
}

static LLVMValueRef called_function(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	while (LLVMIsAGlobalAlias(callee))
		callee = LLVMAliasGetAliasee(callee);
	return LLVMIsAFunction(callee) ? callee : NULL;
}

/* It is not known whether assembly has an instruction that calls or jumps elsewhere. */
static struct error *describe_callee(struct trace_function *f, LLVMValueRef call, struct tracemeta_call *ret)
{
	LLVMValueRef callee = called_function(call);
	ret->kind = LLVMIsAInlineAsm(LLVMGetCalledValue(call)) ? TRACEMETA_ASM : TRACEMETA_INDIRECT;
	if (!callee)
		return NULL;
	size_t len_bytes;
	const char *name = LLVMGetValueName2(callee, &len_bytes);
	size_t skip = len_bytes && name[0] == '\1';
	ret->callee = arena_strndup(&f->m->meta.arena, name + skip, len_bytes - skip);
	if (!ret->callee)
		return &error_no_memory;
	ret->kind = is_pure(f->m, call, callee, ret->callee) ? TRACEMETA_PURE : TRACEMETA_DIRECT;
	return NULL;
}

static struct error *describe_call(struct trace_function *f, struct path_graph *g, struct path_line_cache *cache,
				   uint32_t node, LLVMValueRef call, struct tracemeta_call *ret)
{
	const struct path_module *m = &f->m->paths;
	*ret = (struct tracemeta_call){.node = node};
	ret->no_return = path_call_has(call, m->kinds.noreturn);
	ret->may_leave = !path_call_has(call, f->m->paths.kinds.nounwind) || ret->no_return;
	struct error *err = describe_callee(f, call, ret);
	if (ret->kind == TRACEMETA_PURE)
		ret->may_leave = false;
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(call);
	struct pathmeta_line line = {0};
	if (!err && location)
		err = path_line_of(g, cache, location, &line);
	ret->function = line.function;
	ret->file = line.file;
	ret->line = line.line;
	ret->column = line.column;
	return err;
}

struct error *trace_calls_describe(struct trace_function *f, struct path_graph *g)
{
	struct call_vec calls = {0};
	struct ir_value_vec found = {0};
	struct path_line_cache cache = {0};
	struct error *err = NULL;
	for (uint32_t n = 0; n < g->cfg.node_count && !err; n++) {
		found.count = 0;
		err = collect(f->m, g, n, &found);
		for (size_t i = 0; i < found.count && !err; i++) {
			struct tracemeta_call call;
			err = describe_call(f, g, &cache, n, found.items[i], &call);
			if (!err)
				err = call_vec_append(&calls, call);
		}
	}
	f->meta.call_count = (uint32_t)calls.count;
	f->meta.calls = err ? NULL : arena_calloc(&f->m->meta.arena, calls.count + 1, sizeof *calls.items);
	if (!err && !f->meta.calls)
		err = &error_no_memory;
	if (!err && calls.count)
		memcpy(f->meta.calls, calls.items, calls.count * sizeof *calls.items);
	call_vec_deinit(&calls);
	ir_value_vec_deinit(&found);
	return err;
}

struct error *trace_calls_find(const struct trace_module *m, struct path_graph *g, uint32_t call_count,
			       LLVMValueRef **ret)
{
	struct ir_value_vec found = {0};
	struct error *err = NULL;
	for (uint32_t n = 0; n < g->cfg.node_count && !err; n++)
		err = collect(m, g, n, &found);
	if (!err && found.count != call_count)
		err = error_create(ERROR_MISMATCH, "a copy of the function has %zu calls instead of %u", found.count,
				   call_count);
	LLVMValueRef *calls = err ? NULL : arena_calloc(g->scratch, found.count + 1, sizeof *calls);
	if (!err && !calls)
		err = &error_no_memory;
	if (!err) {
		if (found.count)
			memcpy(calls, found.items, found.count * sizeof *calls);
		*ret = calls;
	}
	ir_value_vec_deinit(&found);
	return err;
}
