/*
 * thin.h - a pass of the compiler, behind the one that embeds bitcode: without machine code an object costs next to what its bitcode
 * costs. Does nothing to a module whose bitcode is not embedded yet, since the optimizer's pipeline runs in front of that, too.
 */
#ifndef WM_INSTRUMENT_THIN_H
#define WM_INSTRUMENT_THIN_H

#include <llvm/IR/PassManager.h>

struct ThinObjectPass : llvm::PassInfoMixin<ThinObjectPass> {
	llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &manager);
	static bool isRequired()
	{
		return true;
	}
};

#endif
