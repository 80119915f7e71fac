/*
 * uncount.c - undoes what instrument/paths puts into a function (uncount.h):
 *
 *      block:  slot = load @wm1.slot          the counters of the thread, made when it first comes here
 *              br (slot == null), enter, rest
 *      enter:  made = call @wm1.enter()
 *              store made, @wm1.slot
 *      rest:   phi [slot, block], [made, enter]
 *
 * `enter` goes, and `rest` goes back to `block`. Counting is assembly and calls of the runtime, of which nobody else uses anything.
 */
#include "analyze/uncount.h"

#include "base/text.h"
#include "llvm/ir.h"

static bool is_slot(LLVMValueRef value)
{
	return value && LLVMIsAGlobalVariable(value) && text_equal(LLVMGetValueName(value), "wm1.slot");
}

/* A branch on whether the slot is empty. */
static bool is_check(LLVMValueRef branch)
{
	LLVMValueRef condition, slot;

	if (!branch || !LLVMIsABranchInst(branch) || !LLVMIsConditional(branch))
		return false;
	condition = LLVMGetCondition(branch);
	if (!LLVMIsAICmpInst(condition))
		return false;
	slot = LLVMGetOperand(condition, 0);
	return LLVMIsALoadInst(slot) && is_slot(LLVMGetOperand(slot, 0));
}

static void erase(LLVMValueRef instruction)
{
	LLVMTypeRef type = LLVMTypeOf(instruction);

	if (LLVMGetTypeKind(type) != LLVMVoidTypeKind)
		LLVMReplaceAllUsesWith(instruction, LLVMGetUndef(type));
	LLVMInstructionEraseFromParent(instruction);
}

/* What the block ends with is replaced by what `rest` has. */
static void join(LLVMBasicBlockRef block, LLVMBasicBlockRef enter, LLVMBasicBlockRef rest, LLVMBuilderRef builder)
{
	LLVMValueRef next;

	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(block));
	for (LLVMValueRef i = LLVMGetFirstInstruction(enter); i; i = next) {
		next = LLVMGetNextInstruction(i);
		erase(i);
	}
	for (LLVMValueRef i = LLVMGetFirstInstruction(rest); i; i = next) {
		next = LLVMGetNextInstruction(i);
		if (LLVMIsAPHINode(i)) {
			erase(i);
			continue;
		}
		LLVMInstructionRemoveFromParent(i);
		LLVMPositionBuilderAtEnd(builder, block);
		LLVMInsertIntoBuilder(builder, i);
	}
	LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(rest), LLVMBasicBlockAsValue(block));
	LLVMDeleteBasicBlock(enter);
	LLVMDeleteBasicBlock(rest);
}

static bool is_counting(LLVMValueRef instruction)
{
	LLVMValueRef callee, from;

	if (LLVMIsAStoreInst(instruction))
		return is_slot(LLVMGetOperand(instruction, 1));
	if (!ir_is_call(instruction) || LLVMIsATerminatorInst(instruction))
		return false;
	callee = code_callee(instruction);
	if (callee)
		return text_begins(LLVMGetValueName(callee), "wm1.");
	if (!LLVMIsAInlineAsm(LLVMGetCalledValue(instruction)) || !LLVMGetNumArgOperands(instruction))
		return false;
	from = LLVMGetOperand(instruction, 0);
	while (LLVMIsAGetElementPtrInst(from))
		from = LLVMGetOperand(from, 0);
	return LLVMIsUndef(from) || (LLVMIsALoadInst(from) && is_slot(LLVMGetOperand(from, 0)));
}

static void uncount(LLVMValueRef function, LLVMBuilderRef builder)
{
	LLVMValueRef next;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef branch = LLVMGetBasicBlockTerminator(b);

		if (is_check(branch))
			join(b, LLVMGetSuccessor(branch, 0), LLVMGetSuccessor(branch, 1), builder);
	}
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
			next = LLVMGetNextInstruction(i);
			if (is_counting(i))
				erase(i);
		}
}

void uncount_paths(struct code *c)
{
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(c->context);

	for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
		if (!text_begins(LLVMGetValueName(f), "wm1."))
			uncount(f, builder);
	LLVMDisposeBuilder(builder);
}
