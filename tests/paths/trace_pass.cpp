/*
 * trace_pass.cpp - test only: tells trace.c of every block that a function enters and of every end of a path.
 *
 * It only inserts calls, so what Waymark's pass sees after it has the same control flow, which trace_graph.h tells.
 * WMTRACE_STAGE=final: at the end of full LTO; else at the start of clang's pipeline.
 */
#include <cstdlib>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include "trace_graph.h"

namespace
{
std::string keyOf(const Function &function)
{
	if (!function.hasLocalLinkage())
		return function.getName().str();
	return function.getParent()->getSourceFileName() + ":" + function.getName().str();
}

class Tracer
{
	Module &module;
	Type *i32, *i64, *ptr, *none;

	CallInst *call(Instruction *before, const char *name, ArrayRef<Value *> arguments, Type *result = nullptr)
	{
		std::vector<Type *> types;
		for (Value *a : arguments)
			types.push_back(a->getType());
		auto callee = module.getOrInsertFunction(name, FunctionType::get(result ? result : none, types, false));
		IRBuilder<> builder(before);
		builder.SetCurrentDebugLocation(DebugLoc());
		CallInst *call = builder.CreateCall(callee, arguments);
		call->setDoesNotThrow();
		call->addFnAttr(Attribute::WillReturn);
		return call;
	}

	Constant *describe(Function &function, std::vector<Node> &nodes)
	{
		std::vector<Constant *> back;
		for (unsigned n = 0; n < nodes.size(); n++)
			for (Edge &e : nodes[n].edges)
				if (e.cut == BACK) {
					back.push_back(ConstantInt::get(i32, n));
					back.push_back(ConstantInt::get(i32, e.to));
				}
		auto *list = ConstantArray::get(ArrayType::get(i32, back.size()), back);
		auto *name = ConstantDataArray::getString(module.getContext(), keyOf(function));
		auto global = [&](Constant *value) {
			return new GlobalVariable(module, value->getType(), false, GlobalValue::PrivateLinkage, value,
						  "wmtrace");
		};
		Constant *fields[] = {global(name), ConstantInt::get(i32, back.size() / 2), ConstantInt::get(i32, 0),
				      global(list), ConstantInt::get(i64, 0)};
		return global(ConstantStruct::getAnon(fields));
	}

	Value *activation(Function &function, Instruction *entry)
	{
		auto *type = ArrayType::get(i64, 4);
		if (function.isPresplitCoroutine()) /* its frame dies before its last block ends */
			return call(entry, "malloc", {ConstantInt::get(i64, 32)}, ptr);
		return new AllocaInst(type, 0, nullptr, Align(8), "wmtrace", function.getEntryBlock().begin());
	}

public:
	explicit Tracer(Module &module) : module(module)
	{
		LLVMContext &context = module.getContext();
		i32 = Type::getInt32Ty(context);
		i64 = Type::getInt64Ty(context);
		ptr = PointerType::get(context, 0);
		none = Type::getVoidTy(context);
	}

	void trace(Function &function)
	{
		Graph graph(function);
		auto &nodes = graph.all();
		Constant *described = describe(function, nodes);
		Instruction *entry = &*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
		Value *activation_ = activation(function, entry);
		for (unsigned n = 0; n < nodes.size(); n++) {
			Node &node = nodes[n];
			Instruction *begin = n == 0       ? entry
					     : node.begin ? node.begin
							  : &*node.block->getFirstInsertionPt();
			if (n == 0)
				call(begin, "wmtrace_enter", {activation_, described});
			else if (node.begin)
				call(begin, "wmtrace_again", {activation_, described});
			call(begin, "wmtrace_block", {activation_, described, ConstantInt::get(i32, n)});
			uint32_t how = node.edges.empty()           ? 0
				       : node.edges[0].cut == TWICE ? 1
				       : node.edges[0].cut == JUMP  ? 2
								    : 3;
			if (how < 3)
				call(node.end, "wmtrace_end", {activation_, described, ConstantInt::get(i32, how)});
		}
	}
};

struct TracePass : PassInfoMixin<TracePass> {
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		SmallPtrSet<Function *, 4> resolvers; /* run before anything else can */
		for (GlobalIFunc &ifunc : module.ifuncs())
			resolvers.insert(ifunc.getResolverFunction());
		std::vector<Function *> functions;
		for (Function &function : module)
			if (!function.isDeclaration() && !function.hasFnAttribute(Attribute::Naked) &&
			    !function.hasFnAttribute(Attribute::NoProfile) && !resolvers.count(&function))
				functions.push_back(&function);
		Tracer tracer(module);
		for (Function *function : functions)
			tracer.trace(*function);
		return PreservedAnalyses::none();
	}
	static bool isRequired()
	{
		return true;
	}
};

bool isFinal()
{
	const char *stage = std::getenv("WMTRACE_STAGE");
	return stage && StringRef(stage) == "final";
}
} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
	return {LLVM_PLUGIN_API_VERSION, "wmtrace", LLVM_VERSION_STRING, [](PassBuilder &builder) {
			builder.registerPipelineStartEPCallback([](ModulePassManager &manager, OptimizationLevel) {
				if (!isFinal())
					manager.addPass(TracePass());
			});
			builder.registerFullLinkTimeOptimizationLastEPCallback(
				[](ModulePassManager &manager, OptimizationLevel) {
					if (isFinal())
						manager.addPass(TracePass());
				});
		}};
}
