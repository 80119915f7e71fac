/*
 * trace_pass.cpp - test only: tells trace.c of every block that a function enters and of every end of a path.
 *
 * It only inserts calls, so what Waymark's pass sees after it has the same control flow, which trace_graph.h tells. But at the source
 * stage it makes branches of conditional expressions first, as the source has them.
 * WMTRACE_STAGE=final: at the end of full LTO; else at the start of clang's pipeline.
 */
#include "observer_pass.h"

namespace
{
std::string keyOf(const Function &function)
{
	if (!function.hasLocalLinkage())
		return function.getName().str();
	return function.getParent()->getSourceFileName() + ":" + function.getName().str();
}

/* if (condition) ; else ; in front of the value, with nothing but a jump on either side. */
void branchOn(SelectInst *select)
{
	Function *function = select->getFunction();
	BasicBlock *head = select->getParent();
	BasicBlock *rest = head->splitBasicBlock(select);
	BasicBlock *chosen = BasicBlock::Create(function->getContext(), "", function, rest);
	BasicBlock *other = BasicBlock::Create(function->getContext(), "", function, rest);
	head->getTerminator()->eraseFromParent();
	BranchInst::Create(chosen, other, select->getCondition(), head);
	BranchInst::Create(rest, chosen);
	BranchInst::Create(rest, other);
	auto *phi = PHINode::Create(select->getType(), 2, "", rest->begin());
	phi->addIncoming(select->getTrueValue(), chosen);
	phi->addIncoming(select->getFalseValue(), other);
	select->replaceAllUsesWith(phi);
	select->eraseFromParent();
}

void branchOnSelects(Function &function)
{
	std::vector<SelectInst *> selects;
	for (BasicBlock &block : function)
		for (Instruction &i : block)
			if (auto *select = dyn_cast<SelectInst>(&i))
				if (select->getCondition()->getType()->isIntegerTy(1))
					selects.push_back(select);
	for (SelectInst *select : selects)
		branchOn(select);
}

class Tracer
{
	Module &module;
	Types t;

	CallInst *call(Instruction *before, const char *name, ArrayRef<Value *> arguments)
	{
		return callObserver(before, DebugLoc(), name, arguments, t.none);
	}

	Constant *describe(Function &function, std::vector<Node> &nodes)
	{
		BackEdges back(module, nodes);
		auto *name = ConstantDataArray::getString(module.getContext(), keyOf(function));
		Constant *fields[] = {constantObject(module, name), back.count, ConstantInt::get(t.i32, 0), back.list,
				      ConstantInt::get(t.i64, 0)};
		return constantObject(module, ConstantStruct::getAnon(fields));
	}

	Value *activation(Function &function, Instruction *entry)
	{
		auto *type = ArrayType::get(t.i64, 4);
		if (function.isPresplitCoroutine()) /* its frame dies before its last block ends */
			return callObserver(entry, DebugLoc(), "malloc", {ConstantInt::get(t.i64, 32)}, t.ptr);
		return new AllocaInst(type, 0, nullptr, Align(8), "wmtrace", function.getEntryBlock().begin());
	}

public:
	explicit Tracer(Module &module) : module(module), t(module.getContext())
	{
	}

	void trace(Function &function)
	{
		Graph graph(function);
		auto &nodes = graph.all();
		Constant *described = describe(function, nodes);
		Instruction *entry = graph.firstOf(0);
		Value *activation_ = activation(function, entry);
		for (unsigned n = 0; n < nodes.size(); n++) {
			Node &node = nodes[n];
			Instruction *begin = n == 0 ? entry : graph.firstOf(n);
			if (n == 0)
				call(begin, "wmtrace_enter", {activation_, described});
			else if (node.begin)
				call(begin, "wmtrace_again", {activation_, described});
			call(begin, "wmtrace_block", {activation_, described, ConstantInt::get(t.i32, n)});
			uint32_t how = node.edges.empty()           ? 0
				       : node.edges[0].cut == TWICE ? 1
				       : node.edges[0].cut == JUMP  ? 2
								    : 3;
			if (how < 3)
				call(node.end, "wmtrace_end", {activation_, described, ConstantInt::get(t.i32, how)});
		}
	}
};

struct TracePass : PassInfoMixin<TracePass> {
	static constexpr const char *STAGE = "WMTRACE_STAGE";
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		Tracer tracer(module);
		for (Function *function : observedFunctions(module)) {
			if (!ObserverPlugin<TracePass>::isFinal())
				branchOnSelects(*function);
			tracer.trace(*function);
		}
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
	return ObserverPlugin<TracePass>::info();
}
