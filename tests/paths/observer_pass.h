/*
 * observer_pass.h - test only: what the passes of the oracles (trace_pass.cpp, ../trace/record_pass.cpp) have in common: which
 * functions they observe, how they call their runtime, how they tell it of back edges, and where they stand.
 *
 * They stand in front of Waymark's pass and add no block, so that it sees the control flow that trace_graph.h tells.
 */
#ifndef OBSERVER_PASS_H
#define OBSERVER_PASS_H

#include <cstdlib>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include "trace_graph.h"

namespace
{
struct Types {
	Type *i8, *i32, *i64, *ptr, *none;
	explicit Types(LLVMContext &context)
		: i8(Type::getInt8Ty(context)), i32(Type::getInt32Ty(context)), i64(Type::getInt64Ty(context)),
		  ptr(PointerType::get(context, 0)), none(Type::getVoidTy(context))
	{
	}
};

/* All that have code of their own; not the resolvers of ifuncs, which run before anything else can. */
std::vector<Function *> observedFunctions(Module &module)
{
	SmallPtrSet<Function *, 4> resolvers;
	for (GlobalIFunc &ifunc : module.ifuncs())
		resolvers.insert(ifunc.getResolverFunction());
	std::vector<Function *> functions;
	for (Function &function : module)
		if (!function.isDeclaration() && !function.hasFnAttribute(Attribute::Naked) &&
		    !function.hasFnAttribute(Attribute::NoProfile) && !resolvers.count(&function))
			functions.push_back(&function);
	return functions;
}

/* A call that no pass takes for one that might not come back. */
CallInst *callObserver(Instruction *before, DebugLoc line, const char *name, ArrayRef<Value *> arguments, Type *result)
{
	std::vector<Type *> types;
	for (Value *a : arguments)
		types.push_back(a->getType());
	auto callee = before->getModule()->getOrInsertFunction(name, FunctionType::get(result, types, false));
	IRBuilder<> builder(before);
	builder.SetCurrentDebugLocation(line);
	CallInst *call = builder.CreateCall(callee, arguments);
	call->setDoesNotThrow();
	call->addFnAttr(Attribute::WillReturn);
	return call;
}

Constant *constantObject(Module &module, Constant *value)
{
	return new GlobalVariable(module, value->getType(), false, GlobalValue::PrivateLinkage, value, "observed");
}

/* Pairs of the nodes that back edges leave and reach. */
struct BackEdges {
	Constant *count, *list;
	BackEdges(Module &module, const std::vector<Node> &nodes)
	{
		Type *i32 = Type::getInt32Ty(module.getContext());
		std::vector<Constant *> back;
		for (unsigned n = 0; n < nodes.size(); n++)
			for (const Edge &e : nodes[n].edges)
				if (e.cut == BACK) {
					back.push_back(ConstantInt::get(i32, n));
					back.push_back(ConstantInt::get(i32, e.to));
				}
		count = ConstantInt::get(i32, back.size() / 2);
		list = constantObject(module, ConstantArray::get(ArrayType::get(i32, back.size()), back));
	}
};

/* Registers PASS where its environment variable PASS::STAGE says: "final", at the end of full LTO; else at the start of clang's pipeline. */
template <typename PASS> struct ObserverPlugin {
	static bool isFinal()
	{
		const char *stage = std::getenv(PASS::STAGE);
		return stage && StringRef(stage) == "final";
	}
	static void registerAt(PassBuilder &builder)
	{
		builder.registerPipelineStartEPCallback([](ModulePassManager &manager, OptimizationLevel) {
			if (!isFinal())
				manager.addPass(PASS());
		});
		builder.registerFullLinkTimeOptimizationLastEPCallback(
			[](ModulePassManager &manager, OptimizationLevel) {
				if (isFinal())
					manager.addPass(PASS());
			});
	}
	static PassPluginLibraryInfo info()
	{
		return {LLVM_PLUGIN_API_VERSION, PASS::STAGE, LLVM_VERSION_STRING, registerAt};
	}
};
} // namespace

#endif
