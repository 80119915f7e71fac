/*
 * record_pass.cpp - test only: tells record.c of every activation, block and call, in front of Waymark's pass.
 *
 * It adds no block and no call but its own. WMREC_STAGE=final: at the end of full LTO; else at the start of clang's
 * pipeline. WMREC_KILLS: each block, somewhere in it, counts down and faults at 0 (kill.c); in the same places in each
 * build. WMREC_RECORDS: records. Without either it does nothing but what Waymark's pass would do with the blocks anyway.
 */
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "../paths/observer_pass.h"

namespace
{
/* A tail call that another block returns for returns by itself. */
void returnAfterTailCalls(Function &function)
{
	for (BasicBlock &block : make_early_inc_range(function)) {
		auto *ret = dyn_cast<ReturnInst>(&*block.getFirstNonPHIOrDbg());
		if (!ret || &block == &function.getEntryBlock())
			continue;
		SmallVector<BasicBlock *, 8> callers;
		for (BasicBlock *from : predecessors(&block)) {
			auto *jump = dyn_cast<BranchInst>(from->getTerminator());
			auto *call = jump ? dyn_cast_or_null<CallInst>(jump->getPrevNonDebugInstruction()) : nullptr;
			if (!call || jump->isConditional() || !call->isTailCall() || isa<IntrinsicInst>(call))
				continue;
			Value *value = ret->getReturnValue();
			auto *phi = dyn_cast_or_null<PHINode>(value);
			if (phi && phi->getParent() == &block)
				value = phi->getIncomingValueForBlock(from);
			if (!value || value == call || isa<UndefValue>(value))
				callers.push_back(from);
		}
		for (BasicBlock *from : callers)
			FoldReturnIntoUncondBranch(ret, &block, from);
		if (!callers.empty() && pred_empty(&block) && !block.hasAddressTaken())
			DeleteDeadBlock(&block);
	}
}

/* What computed gotos and other code lead to: the gotos come by a block of their own, right in front of it. */
void landApart(Function &function)
{
	std::vector<BasicBlock *> shared;
	for (BasicBlock &block : function) {
		auto comesByGoto = [](BasicBlock *from) { return isa<IndirectBrInst>(from->getTerminator()); };
		if (any_of(predecessors(&block), comesByGoto) && !all_of(predecessors(&block), comesByGoto))
			shared.push_back(&block);
	}
	for (BasicBlock *block : shared) {
		SmallSetVector<BasicBlock *, 8> gotos;
		for (BasicBlock *from : predecessors(block))
			if (isa<IndirectBrInst>(from->getTerminator()))
				gotos.insert(from);
		auto *landing = BasicBlock::Create(function.getContext(), "landing", &function, block);
		IRBuilder<> builder(landing);
		builder.CreateBr(block);
		for (PHINode &phi : block->phis()) {
			builder.SetInsertPoint(landing, landing->begin());
			PHINode *merged = builder.CreatePHI(phi.getType(), phi.getNumIncomingValues());
			for (BasicBlock *from : gotos) {
				Value *value = phi.getIncomingValueForBlock(from);
				while (phi.getBasicBlockIndex(from) >= 0) {
					merged->addIncoming(value, from);
					phi.removeIncomingValue(from, false);
				}
			}
			phi.addIncoming(merged, landing);
		}
		for (BasicBlock *from : gotos)
			from->getTerminator()->replaceSuccessorWith(block, landing);
		if (block->hasAddressTaken())
			BlockAddress::get(&function, block)->replaceAllUsesWith(BlockAddress::get(&function, landing));
	}
}

/* ---- faults ---- */

class Killer
{
	Module &module;
	Types t;
	uint64_t dice = 0x9e3779b97f4a7c15;

	unsigned roll(unsigned sides)
	{
		dice = dice * 6364136223846793005u + 1442695040888963407u;
		return unsigned(dice >> 33) % sides;
	}

	void add(Instruction *before)
	{
		IRBuilder<> b(before); /* with its line, or where inlined code ends would not be known */
		if (DISubprogram *subprogram = before->getFunction()->getSubprogram();
		    subprogram && !before->getDebugLoc())
			b.SetCurrentDebugLocation(DILocation::get(module.getContext(), 0, 0, subprogram));
		Value *count = module.getOrInsertGlobal("wmrec_kill", t.i64);
		Value *left = b.CreateSub(b.CreateLoad(t.i64, count, true), b.getInt64(1));
		b.CreateStore(left, count, true);
		Value *now = b.CreateICmpEQ(left, b.getInt64(0));
		unsigned kind = roll(4);
		if (kind == 0) {
			auto *type = ArrayType::get(t.i64, 2);
			Value *divisors = module.getOrInsertGlobal("wmrec_divisors", type);
			Value *at = b.CreateGEP(type, divisors, {b.getInt64(0), b.CreateZExt(now, t.i64)});
			Value *result = b.CreateSDiv(left, b.CreateLoad(t.i64, at, true));
			b.CreateStore(b.CreateTrunc(result, t.i8), module.getOrInsertGlobal("wmrec_target", t.i8));
			return;
		}
		Value *target = b.CreatePtrToInt(module.getOrInsertGlobal("wmrec_target", t.i8), t.i64);
		Value *pointer = b.CreateIntToPtr(b.CreateSelect(now, b.getInt64(8), target), t.ptr);
		if (kind == 1)
			b.CreateLoad(t.i8, pointer, true);
		else
			b.CreateStore(b.getInt8(0), pointer, true);
	}

public:
	explicit Killer(Module &module) : module(module), t(module.getContext())
	{
	}

	void addTo(Function &function)
	{
		for (BasicBlock &block : function) {
			std::vector<Instruction *> places;
			for (Instruction &i : make_range(block.getFirstInsertionPt(), block.end())) {
				auto *call = dyn_cast<CallInst>(&i);
				if (!isa<AllocaInst>(i) && !isa<DbgInfoIntrinsic>(i))
					places.push_back(&i);
				if (call && call->isMustTailCall())
					break;
			}
			if (!places.empty())
				add(places[roll(unsigned(places.size()))]);
		}
	}
};

/* ---- records ---- */

class Recorder
{
	Module &module;
	Types t;

	CallInst *call(Instruction *before, const char *name, ArrayRef<Value *> arguments, Type *result)
	{
		DebugLoc line;
		if (DISubprogram *subprogram = before->getFunction()->getSubprogram())
			line = DILocation::get(module.getContext(), 0, 0, subprogram);
		CallInst *call = callObserver(before, line, name, arguments, result);
		call->addFnAttr(Attribute::NoCallback);
		return call;
	}

	Constant *describe(Function &function, std::vector<Node> &nodes)
	{
		BackEdges back(module, nodes);
		auto *name = ConstantDataArray::getString(module.getContext(), function.getName());
		Constant *fields[] = {constantObject(module, name), ConstantInt::get(t.i32, nodes.size()), back.count,
				      back.list, ConstantInt::get(t.i64, 0)};
		return constantObject(module, ConstantStruct::getAnon(fields));
	}

	static bool isOwn(const CallBase &call)
	{
		const Function *callee = call.getCalledFunction();
		return callee && callee->getName().starts_with("wmrec_");
	}

	/* Those of the node, in the order of the code; the one that does not return is the last. */
	static std::vector<CallBase *> callsOf(const Node &node)
	{
		std::vector<CallBase *> calls;
		for (Instruction *i = node.begin ? node.begin : &node.block->front(); i; i = i->getNextNode()) {
			auto *call = dyn_cast<CallBase>(i);
			if (call && !isa<IntrinsicInst>(i) && !isOwn(*call))
				calls.push_back(call);
			if (i == node.end && (node.leaves || node.returnsTwice))
				break;
		}
		return calls;
	}

	void recordEnd(Node &node, Value *activation)
	{
		unsigned how;
		if (!node.edges.empty() && node.edges[0].cut == TWICE)
			how = 2;
		else if (!node.edges.empty() && node.edges[0].cut == JUMP)
			how = 3;
		else if (!node.edges.empty() || node.leaves)
			return;
		else
			how = isa<CallInst>(node.end);
		call(node.end, "wmrec_end", {activation, ConstantInt::get(t.i32, how)}, t.none);
	}

public:
	explicit Recorder(Module &module) : module(module), t(module.getContext())
	{
	}

	void record(Function &function)
	{
		Graph graph(function);
		auto &nodes = graph.all();
		Constant *described = describe(function, nodes);
		std::vector<std::vector<CallBase *>> calls;
		for (Node &node : nodes)
			calls.push_back(callsOf(node));
		std::vector<Instruction *> begins;
		for (unsigned n = 0; n < nodes.size(); n++)
			begins.push_back(graph.firstOf(n));
		IRBuilder<> builder(begins[0]);
		Value *cfa = builder.CreateIntrinsic(Intrinsic::addressofreturnaddress, {t.ptr}, {});
		Value *activation = call(begins[0], "wmrec_enter", {described, cfa}, t.i64);
		std::vector<bool> isReturn(nodes.size());
		for (Node &node : nodes)
			for (Edge &e : node.edges)
				if (e.cut == TWICE)
					isReturn[e.to] = true;
		unsigned number = 0;
		for (unsigned n = 0; n < nodes.size(); n++) {
			if (isReturn[n])
				call(begins[n], "wmrec_end", {activation, ConstantInt::get(t.i32, 4)}, t.none);
			call(begins[n], "wmrec_block", {activation, ConstantInt::get(t.i32, n)}, t.none);
			for (CallBase *c : calls[n])
				call(c, "wmrec_call", {activation, ConstantInt::get(t.i32, number++)}, t.none);
			recordEnd(nodes[n], activation);
		}
	}
};

bool says(const char *name)
{
	return std::getenv(name);
}

struct RecordPass : PassInfoMixin<RecordPass> {
	static constexpr const char *STAGE = "WMREC_STAGE";
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		Killer killer(module);
		Recorder recorder(module);
		for (Function *function : observedFunctions(module)) {
			if (function->hasAvailableExternallyLinkage() || function->isPresplitCoroutine())
				continue;
			returnAfterTailCalls(*function);
			landApart(*function);
			if (says("WMREC_KILLS"))
				killer.addTo(*function);
			if (says("WMREC_RECORDS"))
				recorder.record(*function);
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
	return ObserverPlugin<RecordPass>::info();
}
