/* promote.cpp - makes a call through a pointer a comparison with a likely target, which is called directly, and the call that it was. */
#include "instrument/promote.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/CallPromotionUtils.h>
#include <string>

using namespace llvm;

bool promote_is_possible(LLVMValueRef call, LLVMValueRef function)
{
	return isLegalToPromote(*unwrap<CallBase>(call), unwrap<Function>(function));
}

/* Memory with a function's address: code that can run anywhere compares with that by one instruction, with the address by two. LLVM
 * shall not know it. */
static GlobalVariable *address_of(Function *function)
{
	Module *module = function->getParent();
	const std::string name = ("wm1.address." + function->getName()).str();
	if (auto *found = module->getNamedGlobal(name))
		return found;
	auto *ret =
		new GlobalVariable(*module, function->getType(), false, GlobalValue::InternalLinkage, function, name);
	ret->setSection(".data.rel.ro");
	ret->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
	return ret;
}

void promote_call(LLVMValueRef call_ref, LLVMValueRef function_ref, uint32_t taken, uint32_t other)
{
	auto *call = unwrap<CallBase>(call_ref);
	auto *function = unwrap<Function>(function_ref);
	const CallBase &direct = promoteCallWithIfThenElse(
		*call, function, MDBuilder(call->getContext()).createBranchWeights(taken, other));
	if (function->getParent()->getPICLevel() == PICLevel::NotPIC)
		return;
	auto *branch = cast<BranchInst>(direct.getParent()->getSinglePredecessor()->getTerminator());
	auto *comparison = cast<ICmpInst>(branch->getCondition());
	auto *address =
		new LoadInst(function->getType(), address_of(function), "wm1.address", comparison->getIterator());
	comparison->replaceUsesOfWith(function, address);
}
