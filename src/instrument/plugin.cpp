/*
 * plugin.cpp - registers the pass at the end of full LTO and answers what LLVM's C API cannot (host.h). Nothing else: the
 * work is in C, in the files beside this one.
 */
#include "instrument/host.h"

#include <cstdlib>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/EscapeEnumerator.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

using namespace llvm;

static FunctionAnalysisManager &analyses(void *state)
{
	return *static_cast<FunctionAnalysisManager *>(state);
}

static double block_frequency(void *state, LLVMBasicBlockRef ref)
{
	BasicBlock *block = unwrap(ref);
	auto &frequencies = analyses(state).getResult<BlockFrequencyAnalysis>(*block->getParent());
	auto entry = frequencies.getEntryFreq().getFrequency();
	return entry ? double(frequencies.getBlockFreq(block).getFrequency()) / double(entry) : 1.0;
}

static bool entry_count(void *, LLVMValueRef ref, uint64_t *ret)
{
	auto count = unwrap<Function>(ref)->getEntryCount();
	if (!count)
		return false;
	*ret = count->getCount();
	return true;
}

static bool is_final(LLVMValueRef ref)
{
	auto *global = unwrap<GlobalValue>(ref);
	return global->hasLocalLinkage() || (global->isDSOLocal() && !global->isInterposable());
}

static void guard_unwinding(void *state, LLVMValueRef ref)
{
	auto *function = unwrap<Function>(ref);
	EscapeEnumerator escapes(*function, "wm1.unwind", /*HandleExceptions=*/true);
	while (escapes.Next())
		;
	analyses(state).invalidate(*function, PreservedAnalyses::none());
}

static LLVMBasicBlockRef normal_edge(LLVMValueRef ref)
{
	auto *invoke = unwrap<InvokeInst>(ref);
	BasicBlock *next = invoke->getNormalDest();
	return wrap(next->getSinglePredecessor() ? next : SplitEdge(invoke->getParent(), next));
}

static const char *subprogram_name(LLVMMetadataRef ref, unsigned *ret_len)
{
	auto *subprogram = dyn_cast_or_null<DISubprogram>(unwrap(ref));
	if (!subprogram)
		return nullptr;
	StringRef name = subprogram->getLinkageName().empty() ? subprogram->getName() : subprogram->getLinkageName();
	*ret_len = unsigned(name.size());
	return name.data();
}

static const char *location_function(LLVMMetadataRef ref, unsigned *ret_len)
{
	return subprogram_name(wrap(unwrap<DILocation>(ref)->getScope()->getSubprogram()), ret_len);
}

/*
 * LLVM 19 under full LTO drops a result that nobody uses from a function that musttails, but not the musttail call's own,
 * and then finds its module broken. Listed as used, such functions keep their signature; the list is undone at the end.
 */
static const char kept_attribute[] = "wm1-keeps-signature";

static void keep_signature(Function *function, SmallVectorImpl<GlobalValue *> &kept)
{
	if (!function || function->isDeclaration() || function->hasFnAttribute(kept_attribute))
		return;
	function->addFnAttr(kept_attribute);
	kept.push_back(function);
}

static bool is_kept(Constant *constant)
{
	auto *function = dyn_cast<Function>(constant->stripPointerCasts());
	return function && function->hasFnAttribute(kept_attribute);
}

namespace
{
struct KeepSignaturesPass : PassInfoMixin<KeepSignaturesPass> {
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		SmallVector<GlobalValue *, 8> used, kept;
		collectUsedGlobalVariables(module, used, /*CompilerUsed=*/true);
		for (Function &function : module)
			for (BasicBlock &block : function)
				if (CallInst *call = block.getTerminatingMustTailCall()) {
					keep_signature(&function, kept);
					keep_signature(call->getCalledFunction(), kept);
				}
		for (GlobalValue *value : used)
			if (auto *function = dyn_cast<Function>(value))
				function->removeFnAttr(kept_attribute);
		appendToCompilerUsed(module, kept);
		return kept.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
	}
	static bool isRequired()
	{
		return true;
	}
};

struct ContextsPass : PassInfoMixin<ContextsPass> {
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &manager)
	{
		/* Set by `waymark cc` for the linker it starts: the output's name and kind. */
		const char *unit = std::getenv("WAYMARK_LINK_OUTPUT");
		const char *kind = std::getenv("WAYMARK_LINK_KIND");
		removeFromUsedLists(module, is_kept);
		auto &functions = manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
		struct host host = {&functions,        block_frequency, entry_count,
				    is_final,          guard_unwinding, normal_edge,
				    location_function, subprogram_name, "LLVM " LLVM_VERSION_STRING};
		char *problem = instrument_module(wrap(&module), &host, unit ? unit : module.getName().str().c_str(),
						  kind && StringRef(kind) == "shared");
		if (problem)
			module.getContext().emitError(Twine("waymark: ") + problem);
		std::free(problem);
		return PreservedAnalyses::none();
	}
	static bool isRequired()
	{
		return true;
	}
};
} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
	return {LLVM_PLUGIN_API_VERSION, "waymark", LLVM_VERSION_STRING, [](PassBuilder &builder) {
			builder.registerFullLinkTimeOptimizationEarlyEPCallback(
				[](ModulePassManager &manager, OptimizationLevel) {
					manager.addPass(KeepSignaturesPass());
				});
			builder.registerFullLinkTimeOptimizationLastEPCallback(
				[](ModulePassManager &manager, OptimizationLevel) { manager.addPass(ContextsPass()); });
			/* By name, for `opt-19 -passes=...`: so that tests need no link. */
			builder.registerPipelineParsingCallback(
				[](StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>) {
					if (name == "waymark-keep-signatures")
						manager.addPass(KeepSignaturesPass());
					else if (name == "waymark-contexts")
						manager.addPass(ContextsPass());
					else
						return false;
					return true;
				});
		}};
}
