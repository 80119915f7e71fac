/*
 * uncount.c - undoes what instrument/paths puts into a function (uncount.h):
 *
 *      block:  slot = load @wm1.slot          the counters of the thread, made when it first comes here; or @wm1.slot.NAME.HASH, of the function
 *              br (slot == null), enter, rest
 *      enter:  made = call @wm1.enter()
 *              store made, @wm1.slot
 *      rest:   phi [slot, block], [made, enter]
 *
 *      block:  br (a path's number is where its hash leads), hit, miss
 *      hit:    br rest
 *      miss:   call @wm1_path_miss(...)
 *              br rest
 *
 * `enter`, `hit` and `miss` go, and `rest` goes back to `block`. Counting is assembly and calls of the runtime, of which nobody else uses anything.
 */
#include "analyze/uncount.h"

#include "base/text.h"
#include "llvm/ir.h"

static bool is_slot(LLVMValueRef value)
{
	if (!value || !LLVMIsAGlobalVariable(value))
		return false;
	return text_equal(LLVMGetValueName(value), "wm1.slot") || text_begins(LLVMGetValueName(value), "wm1.slot.");
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

static void drop(LLVMBasicBlockRef block)
{
	LLVMValueRef next;

	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
		next = LLVMGetNextInstruction(i);
		erase(i);
	}
}

/* What the block ends with is replaced by what `rest` has; the blocks between them have no instructions any more. */
static void join(LLVMBasicBlockRef block, LLVMBasicBlockRef rest, LLVMBuilderRef builder)
{
	LLVMValueRef next;

	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(block));
	/* While `rest` still has its jumps: phis behind them come from `block`, too. */
	LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(rest), LLVMBasicBlockAsValue(block));
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
	LLVMDeleteBasicBlock(rest);
}

static LLVMBasicBlockRef only_successor(LLVMBasicBlockRef block)
{
	LLVMValueRef jump = LLVMGetBasicBlockTerminator(block);

	return LLVMIsABranchInst(jump) && !LLVMIsConditional(jump) ? LLVMGetSuccessor(jump, 0) : NULL;
}

static bool tells_miss(LLVMBasicBlockRef block)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
		LLVMValueRef callee = ir_is_call(i) ? code_callee(i) : NULL;

		if (callee && text_equal(LLVMGetValueName(callee), "wm1_path_miss"))
			return true;
	}
	return false;
}

/* A branch on whether the path is where its hash leads. */
static bool is_search(LLVMValueRef branch)
{
	LLVMBasicBlockRef hit, miss;

	if (!branch || !LLVMIsABranchInst(branch) || !LLVMIsConditional(branch))
		return false;
	hit = LLVMGetSuccessor(branch, 0);
	miss = LLVMGetSuccessor(branch, 1);
	return only_successor(hit) && only_successor(hit) == only_successor(miss) && tells_miss(miss);
}

/* Blocks between `block` and `rest` that only count. */
static void cut_out(LLVMBasicBlockRef block, LLVMBasicBlockRef *between, int count, LLVMBasicBlockRef rest,
		    LLVMBuilderRef builder)
{
	for (int i = 0; i < count; i++)
		drop(between[i]);
	join(block, rest, builder);
	for (int i = 0; i < count; i++)
		LLVMDeleteBasicBlock(between[i]);
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

		while (is_check(branch) || is_search(branch)) {
			LLVMBasicBlockRef ways[] = {LLVMGetSuccessor(branch, 0), LLVMGetSuccessor(branch, 1)};

			if (is_check(branch))
				cut_out(b, ways, 1, ways[1], builder);
			else
				cut_out(b, ways, 2, only_successor(ways[0]), builder);
			branch = LLVMGetBasicBlockTerminator(b);
		}
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
