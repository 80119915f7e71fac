/*
 * interpose.c - calls of a library's own functions that another image may replace (ELF symbol interposition).
 *
 *      call f@plt          if (f == own f)       address from the global offset table against the one in this library
 *                                  call own f    an edge as any other
 *                          else
 *                                  call f@plt    foreign code: a push
 *
 * Which one is bound is known when the library is loaded, and holds from then on. The comparison pays in loops, where a push would
 * be written out; elsewhere such a call is a push, which is right whatever is bound and takes less code than both ways.
 */
#include "instrument/ir.h"
#include "instrument/program.h"

/* Executions for each entry of a function from which on a call is one of a loop. */
static const double LOOP = 4.0;

static bool is_opcode_call(LLVMValueRef i)
{
	return LLVMGetInstructionOpcode(i) == LLVMCall && LLVMGetTailCallKind(i) != LLVMTailCallKindMustTail;
}

/* The index of the function that a call may be split for, NO_INDEX for another call. */
static uint32_t own_callee(const struct program *p, LLVMValueRef call)
{
	uint32_t index = is_opcode_call(call) ? program_find(p, LLVMGetCalledValue(call)) : NO_INDEX;
	if (index == NO_INDEX || p->functions.items[index].is_opaque || !entry_is_possible(p, index) ||
	    p->host->is_final(p->functions.items[index].value))
		return NO_INDEX;
	const LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
	const unsigned twice = ir_attribute_kind("returns_twice");
	if (LLVMGetEnumAttributeAtIndex(p->functions.items[index].value, at, twice) ||
	    LLVMGetCallSiteEnumAttribute(call, at, twice) || LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMTokenTypeKind)
		return NO_INDEX;
	return index;
}

/* The definition in this library, by a name that nobody replaces. */
static LLVMValueRef own_definition(struct program *p, struct function *f)
{
	if (!f->own) {
		f->own = LLVMAddAlias2(p->module, LLVMGlobalGetValueType(f->value), 0, f->value, "wm1.own");
		LLVMSetLinkage(f->own, LLVMPrivateLinkage);
		p->host->bind_locally(f->own);
	}
	return f->own;
}

static LLVMValueRef copy_before(LLVMBuilderRef builder, LLVMValueRef call, LLVMValueRef before)
{
	LLVMValueRef copy = LLVMInstructionClone(call);
	LLVMPositionBuilderBefore(builder, before);
	LLVMInsertIntoBuilder(builder, copy);
	return copy;
}

static void split_call(struct program *p, LLVMBuilderRef builder, LLVMValueRef call, struct function *f)
{
	LLVMValueRef then, other, own = own_definition(p, f);
	ir_position_before(builder, call);
	LLVMValueRef is_own = LLVMBuildICmp(builder, LLVMIntEQ, f->value, own, "wm1.is.own");
	p->host->insert_if_else(is_own, call, &then, &other);
	LLVMValueRef ways[] = {copy_before(builder, call, then), copy_before(builder, call, other)};
	LLVMSetOperand(ways[0], (unsigned)LLVMGetNumOperands(call) - 1, own);
	if (LLVMGetFirstUse(call)) {
		LLVMBasicBlockRef from[] = {LLVMGetInstructionParent(then), LLVMGetInstructionParent(other)};
		LLVMPositionBuilderBefore(builder, call);
		LLVMValueRef result = LLVMBuildPhi(builder, LLVMTypeOf(call), "");
		LLVMAddIncoming(result, ways, from, 2);
		LLVMReplaceAllUsesWith(call, result);
	}
	LLVMInstructionEraseFromParent(call);
}

static struct error *split_calls(struct program *p, LLVMBuilderRef builder, struct function *caller)
{
	struct ir_value_vec calls = {0};
	struct error *err = NULL;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(caller->value); b; b = LLVMGetNextBasicBlock(b)) {
		bool is_hot = false;
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !err; i = LLVMGetNextInstruction(i)) {
			if (own_callee(p, i) == NO_INDEX)
				continue;
			is_hot = is_hot || p->host->block_frequency(p->host->state, b) >= LOOP;
			if (!is_hot)
				break;
			err = ir_value_vec_append(&calls, i);
		}
	}
	for (size_t i = 0; i < calls.count && !err; i++)
		split_call(p, builder, calls.items[i], &p->functions.items[own_callee(p, calls.items[i])]);
	if (calls.count)
		p->host->changed(p->host->state, caller->value);
	ir_value_vec_deinit(&calls);
	return err;
}

/* Several bodies of a function must keep the same calls: they stay as they are. */
struct error *interpose_split(struct program *p)
{
	struct error *err = NULL;
	if (!p->is_shared || p->variants.count)
		return NULL;
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(p->context);
	for (size_t i = 0; i < p->functions.count && !err; i++)
		if (!p->functions.items[i].is_opaque)
			err = split_calls(p, builder, &p->functions.items[i]);
	LLVMDisposeBuilder(builder);
	return err;
}
