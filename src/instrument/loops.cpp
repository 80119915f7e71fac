/* loops.cpp - finds the loop around a call, and makes the blocks in front of it and behind it, which LLVM's C API does not. */
#include "instrument/loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;

struct loops {
	DominatorTree tree;
	LoopInfo info;
	explicit loops(Function &function) : tree(function), info(tree)
	{
	}
};

/* Else the stack pointer in front of the loop is not that of the call. */
static bool has_fixed_frame(const Function &function)
{
	for (const Instruction &instruction : instructions(function))
		if (auto *memory = dyn_cast<AllocaInst>(&instruction); memory && !memory->isStaticAlloca())
			return false;
	return true;
}

static bool holds_another(const Loop &loop, LLVMValueRef call, ArrayRef<LLVMValueRef> calls)
{
	for (LLVMValueRef other : calls)
		if (other != call && loop.contains(unwrap<Instruction>(other)))
			return true;
	return false;
}

/* Before the round, or the loop, ends. */
static bool runs_in_each_round(const BasicBlock *block, const Loop &loop, const DominatorTree &tree)
{
	SmallVector<BasicBlock *, 8> ends;
	loop.getExitingBlocks(ends);
	loop.getLoopLatches(ends);
	for (const BasicBlock *end : ends)
		if (!tree.dominates(block, end))
			return false;
	return true;
}

static bool has_plain_exits(const Loop &loop)
{
	SmallVector<BasicBlock *, 8> exits;
	loop.getUniqueExitBlocks(exits);
	for (const BasicBlock *exit : exits)
		if (exit->isEHPad())
			return false;
	return exits.size() <= CALL_LOOP_EXITS_MAX;
}

struct loops *loops_of(LLVMValueRef ref)
{
	auto *function = unwrap<Function>(ref);
	return has_fixed_frame(*function) ? new loops(*function) : nullptr;
}

void loops_free(struct loops *loops)
{
	delete loops;
}

bool loop_around(struct loops *loops, LLVMValueRef ref, const LLVMValueRef *calls, unsigned count,
		 struct call_loop *ret)
{
	auto *call = unwrap<Instruction>(ref);
	Loop *found = nullptr;
	for (Loop *loop = loops->info.getLoopFor(call->getParent()); loop; loop = loop->getParentLoop()) {
		if (holds_another(*loop, ref, ArrayRef(calls, count)) ||
		    !runs_in_each_round(call->getParent(), *loop, loops->tree))
			break;
		if (has_plain_exits(*loop))
			found = loop;
	}
	if (!found)
		return false;
	BasicBlock *before = found->getLoopPreheader();
	if (!before)
		before = InsertPreheaderForLoop(found, &loops->tree, &loops->info, nullptr, false);
	formDedicatedExitBlocks(found, &loops->tree, &loops->info, nullptr, false);
	SmallVector<BasicBlock *, 8> exits;
	found->getUniqueExitBlocks(exits);
	if (!before || !found->hasDedicatedExits() || exits.size() > CALL_LOOP_EXITS_MAX)
		return false;
	ret->before = wrap(before->getTerminator());
	ret->exit_count = 0;
	for (BasicBlock *exit : exits)
		ret->exits[ret->exit_count++] = wrap(exit);
	return true;
}
