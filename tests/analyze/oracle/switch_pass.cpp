/*
 * switch_pass.cpp - test only: a program one of whose branches can be made to go the other way once, and which tells what each instruction
 * computed (switches.h).
 */
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

using namespace llvm;

namespace
{
class Switches
{
	Module &module;
	IRBuilder<> b;
	unsigned nextInstruction = 1, nextBlock = 1;

	void call(const char *name, Type *result, ArrayRef<Value *> arguments, CallInst **ret = nullptr)
	{
		SmallVector<Type *, 2> types;
		for (Value *v : arguments)
			types.push_back(v->getType());
		CallInst *made = b.CreateCall(module.getOrInsertFunction(name, FunctionType::get(result, types, false)),
					      arguments);
		if (ret)
			*ret = made;
	}

	void tell(Instruction &i, unsigned number)
	{
		Type *type = i.getType();
		bool isNumber = type->isIntegerTy() && type->getIntegerBitWidth() <= 32;
		call("switch_value", b.getVoidTy(),
		     {b.getInt32(number), isNumber ? b.CreateZExt(&i, b.getInt64Ty()) : b.getInt64(0)});
	}

	void tellPlace(Instruction &i, unsigned number, Value *pointer)
	{
		b.SetInsertPoint(&i);
		call("switch_place", b.getVoidTy(), {b.getInt32(number), b.CreatePtrToInt(pointer, b.getInt64Ty())});
	}

	/* Where it writes, or what of a library does. */
	void tellPlaces(Instruction &i, unsigned number)
	{
		if (auto *store = dyn_cast<StoreInst>(&i))
			return tellPlace(i, number, store->getPointerOperand());
		auto *made = dyn_cast<CallInst>(&i);
		Function *callee = made ? made->getCalledFunction() : nullptr;
		if (!callee || !callee->isDeclaration() || (callee->isIntrinsic() && !isa<MemIntrinsic>(made)))
			return;
		for (Value *argument : made->args())
			if (argument->getType()->isPointerTy())
				tellPlace(i, number, argument);
	}

	void instruction(Instruction &i, unsigned number)
	{
		tellPlaces(i, number);
		if (auto *branch = dyn_cast<BranchInst>(&i)) {
			if (!branch->isConditional())
				return;
			CallInst *way;
			b.SetInsertPoint(branch);
			call("switch_way", b.getInt32Ty(),
			     {b.getInt32(number), b.CreateZExt(branch->getCondition(), b.getInt32Ty())}, &way);
			branch->setCondition(b.CreateIsNotNull(way));
			return;
		}
		if (i.isTerminator())
			return;
		if (auto *made = dyn_cast<CallInst>(&i))
			if (made->isMustTailCall() || (isa<IntrinsicInst>(made) && made->getType()->isVoidTy()))
				return;
		if (isa<PHINode>(i))
			b.SetInsertPoint(i.getParent(), i.getParent()->getFirstInsertionPt());
		else
			b.SetInsertPoint(i.getNextNode());
		tell(i, number);
	}

	void block(BasicBlock &block)
	{
		SmallVector<std::pair<Instruction *, unsigned>, 32> all;
		unsigned own = nextBlock++;
		for (Instruction &i : block)
			if (!isa<DbgInfoIntrinsic>(i))
				all.push_back({&i, nextInstruction++});
		for (auto [i, number] : all)
			instruction(*i, number);
		b.SetInsertPoint(&block, block.getFirstInsertionPt());
		call("switch_block", b.getVoidTy(), {b.getInt32(own)});
	}

public:
	explicit Switches(Module &module) : module(module), b(module.getContext())
	{
	}

	void add()
	{
		SmallVector<Function *, 64> functions;
		for (Function &f : module)
			functions.push_back(&f);
		for (Function *f : functions) {
			f->removeFnAttr(Attribute::Memory);
			for (Instruction &i : instructions(*f))
				if (auto *made = dyn_cast<CallInst>(&i); made && !isa<IntrinsicInst>(made))
					made->removeFnAttr(Attribute::Memory);
			for (BasicBlock &each : *f)
				block(each);
		}
	}
};

struct SwitchPass : PassInfoMixin<SwitchPass> {
	static bool isRequired()
	{
		return true;
	}

	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		Switches(module).add();
		return PreservedAnalyses::none();
	}
};
} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
	return {LLVM_PLUGIN_API_VERSION, "switches", "1", [](PassBuilder &builder) {
			builder.registerPipelineParsingCallback(
				[](StringRef name, ModulePassManager &passes, ArrayRef<PassBuilder::PipelineElement>) {
					if (name != "switches")
						return false;
					passes.addPass(SwitchPass());
					return true;
				});
		}};
}
