/*
 * thin.cpp - takes the code out of what becomes an object's machine code, once its bitcode is embedded (--wm-thin-objects).
 *
 *      before                            after
 *      f: code                           f: call needs_waymark_cc, trap
 *      table: data, refers to f          the same
 *      .llvm.lto: bitcode of all         the same
 *      debug information                 none
 *
 * The object keeps each symbol with its binding, visibility and group, so that ar, nm, ranlib, strip and libtool see what they would
 * see in an ordinary one. A linker that does not take the bitcode finds the undefined symbol in whatever would run, and data are whole: no
 * program comes out that does something else.
 */
#include "instrument/thin.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>

using namespace llvm;

/* The linker's message has it. */
static const char missing[] = "__no_machine_code_in_this_object_link_it_with_waymark_cc";

static bool has_bitcode(const Module &module)
{
	for (const GlobalVariable &global : module.globals())
		if (global.hasSection() && global.getSection() == ".llvm.lto")
			return true;
	return false;
}

/* Also takes what instruments or protects code, and what would make code of its own. */
static void replace_body(Function &function, FunctionCallee needed)
{
	GlobalValue::LinkageTypes linkage = function.getLinkage();
	Comdat *group = function.getComdat();

	function.deleteBody();
	function.setLinkage(linkage);
	function.setComdat(group);
	function.setPersonalityFn(nullptr);
	function.setPrefixData(nullptr);
	function.setPrologueData(nullptr);
	function.setAttributes(AttributeList());
	function.addFnAttr(Attribute::NoUnwind);
	function.addFnAttr(Attribute::Naked);
	function.clearMetadata();

	IRBuilder<> builder(BasicBlock::Create(function.getContext(), "", &function));
	builder.CreateCall(needed);
	builder.CreateUnreachable();
}

/* A sanitizer, which runs once more behind this pass, has been over them. */
static void leave_alone(GlobalVariable &global)
{
	GlobalValue::SanitizerMetadata none = {};

	none.NoAddress = none.NoHWAddress = true;
	global.setSanitizerMetadata(none);
	global.clearMetadata();
}

namespace
{
struct ThinObjectPass : PassInfoMixin<ThinObjectPass> {
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		if (!has_bitcode(module))
			return PreservedAnalyses::all();
		FunctionCallee needed = module.getOrInsertFunction(
			missing, FunctionType::get(Type::getVoidTy(module.getContext()), false));

		StripDebugInfo(module);
		for (Function &function : module)
			if (!function.isDeclaration() && !function.hasAvailableExternallyLinkage())
				replace_body(function, needed);
		for (GlobalVariable &global : module.globals())
			if (!global.isDeclaration())
				leave_alone(global);
		return PreservedAnalyses::none();
	}
	static bool isRequired()
	{
		return true;
	}
};
} // namespace

void thin_object_register(PassBuilder &builder)
{
	builder.registerOptimizerEarlyEPCallback(
		[](ModulePassManager &manager, OptimizationLevel, auto...) { manager.addPass(ThinObjectPass()); });
}
