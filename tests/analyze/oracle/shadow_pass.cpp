/*
 * shadow_pass.cpp - test only: a program that records its own dynamic dependences (shadow.h has what is recorded and where).
 *
 * Each value gets a label, which is the node of the instruction's execution that made it. A node is made of the instruction's number and of
 * the nodes that it depends on: the labels of its operands, the stores that a load sees byte by byte, and what decided that it ran, which is the
 * latest execution, in this activation, of a branch that its block is control dependent on, or the call. Postdominators are LLVM's. Nothing here
 * is of src/analyze.
 *
 * Numbers are those of the instructions in the module's order, debug intrinsics not counted.
 */
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/xxhash.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

namespace
{
using Numbers = DenseMap<const Instruction *, unsigned>;
using Blocks = DenseMap<const BasicBlock *, unsigned>;
using Functions = SmallPtrSet<const Function *, 32>;

/* Of a function: it counts as code outside, and what it does is recorded, but not as its instructions. */
constexpr char outside[] = "shadow-outside";
/* The numbers of its first instruction and block, where they do not follow those of the function before it. */
constexpr char firstInstruction[] = "shadow-instruction", firstBlock[] = "shadow-block";

/* A call that code of ours or of a library runs in. */
bool isCall(const Instruction &i)
{
	return isa<CallInst>(i) && !isa<IntrinsicInst>(i) && !cast<CallInst>(i).isInlineAsm();
}

const Function *calleeOf(const CallBase &call)
{
	return dyn_cast<Function>(call.getCalledOperand()->stripPointerCastsAndAliases());
}

/* By name: they need not return, or return from somewhere else. */
bool endsAlone(const Function &f)
{
	static const char *const names[] = {"exit",          "_exit",    "_Exit",      "abort",
					    "longjmp",       "_longjmp", "siglongjmp", "__longjmp_chk",
					    "__assert_fail", "err",      "errx"};
	return f.isDeclaration() && (f.doesNotReturn() || is_contained(names, f.getName()));
}

/* Functions that may end the process, or jump out of it, themselves or by those that they name. */
Functions findEnding(Module &module)
{
	Functions ending;
	for (Function &f : module)
		if (endsAlone(f))
			ending.insert(&f);
	for (size_t before = 0; before != ending.size();) {
		before = ending.size();
		for (Function &f : module)
			for (Instruction &i : instructions(f))
				if (isCall(i) && ending.count(calleeOf(cast<CallBase>(i))))
					ending.insert(&f);
	}
	return ending;
}

/* Nobody gets to a block that only is unreachable: a switch without such a way decides no more than it does. */
void dropImpossibleWays(Function &f)
{
	for (BasicBlock &block : f) {
		auto *choice = dyn_cast<SwitchInst>(block.getTerminator());
		if (!choice || !choice->getNumCases() ||
		    !isa<UnreachableInst>(choice->getDefaultDest()->getFirstNonPHIOrDbg()))
			continue;
		BasicBlock *to = choice->case_begin()->getCaseSuccessor();
		choice->getDefaultDest()->removePredecessor(&block);
		choice->setDefaultDest(to);
		for (PHINode &phi : to->phis())
			phi.addIncoming(phi.getIncomingValueForBlock(&block), &block);
	}
}

/* Each function with the numbers of its first instruction and block. Code outside takes none. */
template <typename Visit> void forEachNumber(Module &module, Visit visit)
{
	unsigned next = 1, nextBlock = 1;
	for (Function &f : module) {
		visit(f, next, nextBlock);
		if (f.hasFnAttribute(outside))
			continue;
		nextBlock += f.size();
		for (Instruction &i : instructions(f))
			next += !isa<DbgInfoIntrinsic>(i);
	}
}

struct Runtime {
	Module &module;
	Type *i32, *i64, *ptr, *nothing;

	explicit Runtime(Module &module)
		: module(module), i32(Type::getInt32Ty(module.getContext())),
		  i64(Type::getInt64Ty(module.getContext())), ptr(PointerType::getUnqual(module.getContext())),
		  nothing(Type::getVoidTy(module.getContext()))
	{
	}

	CallInst *call(IRBuilder<> &b, const char *name, Type *result, ArrayRef<Value *> arguments)
	{
		SmallVector<Type *, 8> types;
		for (Value *v : arguments)
			types.push_back(v->getType());
		CallInst *call = b.CreateCall(module.getOrInsertFunction(name, FunctionType::get(result, types, false)),
					      arguments);
		call->setDoesNotThrow();
		return call;
	}
};

class Shadow
{
	Runtime &r;
	Function &f;
	const Numbers &numbers;
	const Blocks &blocks;
	const Functions &ending;
	DenseMap<Value *, Value *> labels;
	DenseMap<BasicBlock *, SmallSetVector<BasicBlock *, 4>> deciders;
	DenseMap<BasicBlock *, Value *> last;    /* where the latest execution of its branch is */
	DenseMap<BasicBlock *, Value *> leaving; /* the label of having left the block */
	SmallVector<std::pair<PHINode *, std::array<PHINode *, 2>>, 16> phis;
	Value *entered = nullptr; /* the label of the activation */
	Value *isFromLibrary = nullptr;
	Value *frame = nullptr;   /* of the recording's stack */
	Value *control = nullptr; /* of the block that is at hand */
	bool returnsTwice;
	IRBuilder<> b;

	IRBuilder<> &before(Instruction *i)
	{
		b.SetInsertPoint(i);
		b.SetCurrentDebugLocation(DebugLoc());
		if (DISubprogram *s = f.getSubprogram())
			b.SetCurrentDebugLocation(DILocation::get(f.getContext(), 0, 0, s));
		return b;
	}

	IRBuilder<> &after(Instruction *i)
	{
		return before(i->getNextNode());
	}

	Value *number(const Instruction *i)
	{
		return ConstantInt::get(r.i32, numbers.lookup(i));
	}

	Value *labelOf(Value *v)
	{
		Value *label = labels.lookup(v);
		return label ? label : ConstantInt::get(r.i32, 0);
	}

	AllocaInst *reserve(Type *type)
	{
		return new AllocaInst(type, 0, "", f.getEntryBlock().begin());
	}

	/* All labels as one. */
	Value *joined(ArrayRef<Value *> all)
	{
		SmallSetVector<Value *, 8> some;
		for (Value *v : all)
			if (!isa<Constant>(v))
				some.insert(v);
		Value *one = ConstantInt::get(r.i32, 0);
		for (size_t i = 0; i < some.size(); i++)
			one = i ? r.call(b, "shadow_join", r.i32, {one, some[i]}) : some[i];
		return one;
	}

	Value *node(const Instruction *i, Value *first, Value *second)
	{
		return r.call(b, "shadow_node", r.i32, {number(i), control, first, second});
	}

	void findDeciders(PostDominatorTree &tree)
	{
		for (BasicBlock &block : f) {
			DomTreeNode *own = tree.getNode(&block);
			if (block.getTerminator()->getNumSuccessors() < 2 || !own)
				continue;
			for (BasicBlock *to : successors(&block))
				for (DomTreeNode *at = tree.getNode(to); at && at->getBlock() && at != own->getIDom();
				     at = at->getIDom())
					deciders[at->getBlock()].insert(&block);
		}
	}

	Value *size(Type *type)
	{
		TypeSize bytes = f.getDataLayout().getTypeStoreSize(type);
		return ConstantInt::get(r.i64, bytes.isScalable() ? 0 : bytes.getFixedValue());
	}

	/* ---- calls ---- */

	Value *asWord(Value *v)
	{
		if (v->getType()->isPointerTy())
			return b.CreatePtrToInt(v, r.i64);
		if (v->getType()->isIntegerTy() && v->getType()->getIntegerBitWidth() <= 64)
			return b.CreateSExt(v, r.i64);
		return ConstantInt::get(r.i64, 0);
	}

	/* Arrays of the arguments' values, labels and kinds: 0 in a register, 1 in one for floats, more: bytes in memory. */
	void listArguments(CallInst *call, Value *(&lists)[3])
	{
		unsigned count = call->arg_size();
		Type *types[] = {r.i64, r.i32, r.i32};
		for (int k = 0; k < 3; k++)
			lists[k] = reserve(ArrayType::get(types[k], count + 1));
		for (unsigned i = 0; i < count; i++) {
			Value *argument = call->getArgOperand(i);
			Type *type = argument->getType();
			uint64_t kind = type->isDoubleTy() || type->isFloatTy() || type->isVectorTy();
			if (type->isX86_FP80Ty())
				kind = 16;
			if (Type *copied = call->getParamByValType(i))
				kind = std::max<uint64_t>(f.getDataLayout().getTypeAllocSize(copied).getFixedValue(),
							  2);
			Value *words[] = {asWord(argument), labelOf(argument), ConstantInt::get(r.i32, kind)};
			for (int k = 0; k < 3; k++)
				b.CreateStore(words[k], b.CreateConstGEP1_32(types[k], lists[k], i));
		}
	}

	/* What a library's function is called, with room for what the runtime finds for it. */
	Value *siteOf(const Function &callee)
	{
		std::string name = ("shadow.site." + callee.getName()).str();
		if (GlobalVariable *there = r.module.getNamedGlobal(name))
			return there;
		Constant *text = ConstantDataArray::getString(f.getContext(), callee.getName());
		Constant *both = ConstantStruct::getAnon({ConstantPointerNull::get(cast<PointerType>(r.ptr)), text});
		return new GlobalVariable(r.module, both->getType(), false, GlobalValue::InternalLinkage, both, name);
	}

	void call(CallInst *call)
	{
		const Function *callee = calleeOf(*call);
		bool isLibrary = callee && callee->isDeclaration();
		before(call);
		Value *count = ConstantInt::get(r.i32, call->arg_size()), *lists[3];
		Value *target =
			callee ? (Value *)ConstantPointerNull::get(cast<PointerType>(r.ptr)) : call->getCalledOperand();
		Value *made = node(call, labelOf(call->getCalledOperand()), ConstantInt::get(r.i32, 0));
		listArguments(call, lists);
		r.call(b, "shadow_call_at", r.nothing, {frame, number(call)});
		Value *site = isLibrary ? siteOf(*callee) : ConstantPointerNull::get(cast<PointerType>(r.ptr));
		if (callee && !isLibrary)
			target = const_cast<Function *>(callee);
		Value *saved = r.call(b, "shadow_before_call", r.i32,
				      {site, target, number(call), made, count, lists[0], lists[1], lists[2]});
		if (call->isMustTailCall()) {
			r.call(b, "shadow_pop", r.nothing, {frame});
			return;
		}
		Value *place = call->canReturnTwice() ? reserve(r.i32) : nullptr;
		if (place)
			b.CreateStore(made, place, true);
		call->setTailCallKind(CallInst::TCK_None);
		after(call);
		r.call(b, "shadow_call_at", r.nothing, {frame, b.getInt32(0)});
		Value *result =
			r.call(b, "shadow_after_call", r.i32,
			       {site, target, number(call), made, count, lists[0], lists[1], saved,
				call->getType()->isVoidTy() ? (Value *)ConstantInt::get(r.i64, 0) : asWord(call)});
		labels[call] = result;
		if (call->canReturnTwice())
			forget(call, place);
		if (!callee || ending.count(callee) || call->canReturnTwice())
			control = r.call(b, "shadow_control", r.i32, {control});
	}

	/* Behind a jump to here, branches that ran since the call of setjmp decided about other code. */
	void forget(CallInst *call, Value *place)
	{
		Value *isJump = b.CreateIsNotNull(call), *since = b.CreateLoad(r.i32, place, true);
		for (auto &[block, where] : last) {
			Value *latest = b.CreateLoad(r.i32, where, true);
			Value *isStale = b.CreateAnd(isJump, b.CreateICmpUGT(latest, since));
			b.CreateStore(b.CreateSelect(isStale, ConstantInt::get(r.i32, 0), latest), where, true);
		}
	}

	bool intrinsic(IntrinsicInst *call)
	{
		before(call);
		if (auto *copy = dyn_cast<MemTransferInst>(call)) {
			Value *made = node(call, joined({labelOf(copy->getRawDest()), labelOf(copy->getRawSource())}),
					   labelOf(copy->getLength()));
			r.call(b, "shadow_copy", r.nothing,
			       {number(call), made, copy->getRawDest(), copy->getRawSource(),
				b.CreateZExt(copy->getLength(), r.i64)});
			return true;
		}
		if (auto *set = dyn_cast<MemSetInst>(call)) {
			Value *made = node(call, joined({labelOf(set->getRawDest()), labelOf(set->getValue())}),
					   labelOf(set->getLength()));
			r.call(b, "shadow_fill", r.nothing,
			       {made, set->getRawDest(), b.CreateZExt(set->getLength(), r.i64)});
			return true;
		}
		if (isa<VAStartInst>(call)) {
			Value *made = node(call, labelOf(call->getArgOperand(0)), ConstantInt::get(r.i32, 0));
			after(call);
			r.call(b, "shadow_va_start", r.nothing, {made, call->getArgOperand(0), variadic});
			return true;
		}
		if (isa<VACopyInst>(call)) {
			Value *made = node(call, labelOf(call->getArgOperand(0)), labelOf(call->getArgOperand(1)));
			r.call(b, "shadow_copy", r.nothing,
			       {number(call), made, call->getArgOperand(0), call->getArgOperand(1),
				ConstantInt::get(r.i64, 24)});
			return true;
		}
		return call->isAssumeLikeIntrinsic();
	}

	/* ---- instructions ---- */

	void access(Instruction *i, Value *pointer, Type *type, Value *stored)
	{
		before(i);
		if (!stored) {
			labels[i] = r.call(b, "shadow_load", r.i32,
					   {number(i), control, labelOf(pointer), pointer, size(type)});
			return;
		}
		r.call(b, "shadow_store", r.i32,
		       {number(i), control, labelOf(pointer), joined({labelOf(stored)}), pointer, size(type)});
	}

	/* Reads and writes the same place. */
	void change(Instruction *i, Value *pointer, Type *type, ArrayRef<Value *> operands)
	{
		before(i);
		Value *read =
			r.call(b, "shadow_load", r.i32, {number(i), control, labelOf(pointer), pointer, size(type)});
		SmallVector<Value *, 4> all = {read};
		for (Value *v : operands)
			all.push_back(labelOf(v));
		labels[i] = r.call(b, "shadow_store", r.i32,
				   {number(i), control, labelOf(pointer), joined(all), pointer, size(type)});
	}

	void leave(Instruction *i)
	{
		before(i);
		BasicBlock *block = i->getParent();
		if (auto *ret = dyn_cast<ReturnInst>(i)) {
			if (auto *tail = dyn_cast_or_null<CallInst>(i->getPrevNonDebugInstruction()))
				if (tail->isMustTailCall())
					return;
			Value *value = ret->getReturnValue();
			Value *made = node(i, value ? labelOf(value) : ConstantInt::get(r.i32, 0),
					   ConstantInt::get(r.i32, 0));
			r.call(b, "shadow_return", r.nothing,
			       {&f, value ? made : ConstantInt::get(r.i32, 0), control, isFromLibrary,
				b.getInt32(ending.count(&f))});
			r.call(b, "shadow_pop", r.nothing, {frame});
			return;
		}
		leaving[block] = control;
		if (i->getNumSuccessors() < 2)
			return;
		leaving[block] = node(i, labelOf(i->getOperand(0)), ConstantInt::get(r.i32, 0));
		if (Value *where = last.lookup(block))
			b.CreateStore(leaving[block], where, returnsTwice);
	}

	void instruction(Instruction *i)
	{
		if (isa<PHINode>(i))
			return;
		if (i->isTerminator())
			return leave(i);
		if (isCall(*i))
			return call(cast<CallInst>(i));
		if (auto *special = dyn_cast<IntrinsicInst>(i))
			if (intrinsic(special))
				return;
		if (auto *load = dyn_cast<LoadInst>(i))
			return access(i, load->getPointerOperand(), load->getType(), nullptr);
		if (auto *store = dyn_cast<StoreInst>(i))
			return access(i, store->getPointerOperand(), store->getValueOperand()->getType(),
				      store->getValueOperand());
		if (auto *change = dyn_cast<AtomicRMWInst>(i))
			return this->change(i, change->getPointerOperand(), change->getType(),
					    {change->getValOperand()});
		if (auto *change = dyn_cast<AtomicCmpXchgInst>(i))
			return this->change(i, change->getPointerOperand(), change->getNewValOperand()->getType(),
					    {change->getNewValOperand(), change->getCompareOperand()});
		before(i);
		SmallVector<Value *, 4> all;
		if (auto *select = dyn_cast<SelectInst>(i);
		    select && !select->getCondition()->getType()->isVectorTy()) {
			all = {labelOf(select->getCondition()),
			       b.CreateSelect(select->getCondition(), labelOf(select->getTrueValue()),
					      labelOf(select->getFalseValue()))};
		} else {
			for (Value *v : i->operands())
				all.push_back(labelOf(v));
		}
		Value *one = joined(all);
		labels[i] = node(i, one, ConstantInt::get(r.i32, 0));
		if (auto *variable = dyn_cast<AllocaInst>(i)) {
			after(i);
			Value *bytes = b.CreateMul(b.CreateZExtOrTrunc(variable->getArraySize(), r.i64),
						   size(variable->getAllocatedType()));
			r.call(b, "shadow_clear", r.nothing, {variable, bytes});
		}
	}

	/* ---- blocks ---- */

	Value *variadic = nullptr; /* where the labels of variable arguments are kept */

	void enter()
	{
		before(&*f.getEntryBlock().begin());
		frame = ConstantPointerNull::get(cast<PointerType>(r.ptr));
		if (!f.hasFnAttribute(outside))
			frame = r.call(b, "shadow_push", r.ptr,
				       {b.getInt32(blocks.lookup(&f.getEntryBlock())), b.getInt32(f.size())});
		entered = r.call(b, "shadow_enter", r.i32, {&f, b.getInt32(f.arg_size())});
		isFromLibrary = r.call(b, "shadow_is_from_library", r.i32, {});
		for (Argument &a : f.args()) {
			labels[&a] = r.call(b, "shadow_argument", r.i32, {b.getInt32(a.getArgNo())});
			if (Type *copied = a.getParamByValType())
				r.call(b, "shadow_copied_argument", r.nothing,
				       {b.getInt32(a.getArgNo()), &a, size(copied)});
		}
		variadic = ConstantPointerNull::get(cast<PointerType>(r.ptr));
		if (f.isVarArg()) {
			variadic = b.CreateAlloca(ArrayType::get(r.i32, 256));
			r.call(b, "shadow_keep_variadic", r.nothing, {b.getInt32(f.arg_size()), variadic});
		}
		for (auto &[block, its] : deciders)
			for (BasicBlock *d : its)
				if (!last.lookup(d)) {
					last[d] = b.CreateAlloca(r.i32);
					b.CreateStore(b.getInt32(0), last[d], returnsTwice);
				}
	}

	void beginBlock(BasicBlock &block, Instruction *first)
	{
		before(first);
		Value *latest = nullptr;
		for (BasicBlock *d : deciders[&block]) {
			Value *one = b.CreateLoad(r.i32, last[d], returnsTwice);
			latest = latest ? b.CreateBinaryIntrinsic(Intrinsic::umax, latest, one) : one;
		}
		if (latest)
			latest = b.CreateSelect(b.CreateIsNull(latest), entered, latest);
		control = r.call(b, "shadow_block", r.i32,
				 {b.getInt32(blocks.lookup(&block)), latest ? latest : entered, frame});
		for (PHINode &phi : block.phis()) {
			if (!numbers.count(&phi))
				continue;
			for (auto &[own, made] : phis)
				if (own == &phi)
					labels[&phi] = node(&phi, made[0], made[1]);
		}
	}

	void addPhis()
	{
		for (BasicBlock &block : f)
			for (PHINode &phi : make_early_inc_range(block.phis())) {
				if (!numbers.count(&phi))
					continue;
				std::array<PHINode *, 2> made;
				for (PHINode *&one : made)
					one = PHINode::Create(r.i32, phi.getNumIncomingValues(), "",
							      block.getFirstNonPHIIt());
				phis.push_back({&phi, made});
			}
	}

public:
	Shadow(Runtime &r, Function &f, const Numbers &numbers, const Blocks &blocks, const Functions &ending)
		: r(r), f(f), numbers(numbers), blocks(blocks), ending(ending),
		  returnsTwice(f.callsFunctionThatReturnsTwice()), b(f.getContext())
	{
	}

	void add()
	{
		PostDominatorTree tree(f);
		SmallVector<std::pair<BasicBlock *, SmallVector<Instruction *, 16>>, 16> all;

		findDeciders(tree);
		for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&f)) {
			all.push_back({block, {}});
			for (Instruction &i : *block)
				if (numbers.count(&i))
					all.back().second.push_back(&i);
		}
		addPhis();
		enter();
		for (auto &[block, instructions] : all) {
			Instruction *first = nullptr;
			for (Instruction *i : instructions)
				if (!isa<PHINode>(i) && !first)
					first = i;
			beginBlock(*block, first);
			for (Instruction *i : instructions)
				instruction(i);
		}
		for (auto &[phi, made] : phis)
			for (unsigned k = 0; k < phi->getNumIncomingValues(); k++) {
				Value *left = leaving.lookup(phi->getIncomingBlock(k));
				made[0]->addIncoming(labelOf(phi->getIncomingValue(k)), phi->getIncomingBlock(k));
				made[1]->addIncoming(left ? left : ConstantInt::get(r.i32, 0),
						     phi->getIncomingBlock(k));
			}
	}
};

struct ShadowPass : PassInfoMixin<ShadowPass> {
	static bool isRequired()
	{
		return true;
	}

	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		Numbers numbers;
		Blocks blocks;
		Functions ending = findEnding(module);
		SmallVector<Function *, 64> functions;

		forEachNumber(module, [&](Function &f, unsigned next, unsigned nextBlock) {
			bool isOutside = f.hasFnAttribute(outside);
			for (BasicBlock &block : f)
				blocks[&block] = isOutside ? 0 : nextBlock++;
			for (Instruction &i : instructions(f))
				if (!isa<DbgInfoIntrinsic>(i))
					numbers[&i] = isOutside ? 0 : next++;
			if (!f.isDeclaration() && !f.hasAvailableExternallyLinkage())
				functions.push_back(&f);
		});
		Runtime runtime(module);
		for (Function *f : functions) {
			if (any_of(instructions(*f), [](Instruction &i) { return isa<InvokeInst>(i); }))
				continue; /* of C++: left as it is */
			dropImpossibleWays(*f);
			f->removeFnAttr(Attribute::Memory);
			f->removeFnAttr(Attribute::WillReturn);
			for (Instruction &i : instructions(*f))
				if (auto *call = dyn_cast<CallInst>(&i); call && !isa<IntrinsicInst>(call))
					call->removeFnAttr(Attribute::Memory);
			Shadow(runtime, *f, numbers, blocks, ending).add();
		}
		return PreservedAnalyses::none();
	}
};
} // namespace

/* ---- code outside ---- */

namespace
{
/* Globals that a constant is made of. */
void collect(Value *v, SmallSetVector<Value *, 32> &ret)
{
	if (isa<GlobalVariable>(v) || isa<Function>(v))
		ret.insert(v);
	else if (auto *constant = dyn_cast<Constant>(v))
		for (Value *operand : constant->operands())
			collect(operand, ret);
}

/* The program whose main function it is gives code outside all that its functions there name. */
void keepOfOutside(Function &main)
{
	StringRef prefix = main.getName().drop_back(strlen("main"));
	SmallSetVector<Value *, 32> used;
	for (Function &f : *main.getParent()) {
		if (!f.hasFnAttribute(outside) || !f.getName().starts_with(prefix))
			continue;
		for (Instruction &i : instructions(f))
			for (Value *operand : i.operands())
				collect(operand, used);
	}
	SmallVector<Value *, 32> arguments;
	for (Value *v : used)
		if (auto *f = dyn_cast<Function>(v); !f || (!f->isDeclaration() && !f->hasFnAttribute(outside)))
			arguments.push_back(v);
	IRBuilder<> b(&*main.getEntryBlock().getFirstInsertionPt());
	b.CreateCall(main.getParent()->getOrInsertFunction("shadow_keep", FunctionType::get(b.getVoidTy(), true)),
		     arguments);
}

/* pN_ */
bool isOfAProgram(const GlobalValue &g)
{
	StringRef name = g.getName();
	return name.consume_front("p") && name.drop_while(isDigit).starts_with("_") && !name.starts_with("_");
}

bool canBeOutside(const Function &f)
{
	StringRef name = f.getName();
	return !f.isDeclaration() && name != "main" && !name.ends_with("_main") && !name.ends_with("_body");
}
} // namespace

extern "C" {
/* record.h */
void shadow_change(LLVMModuleRef module)
{
	ModuleAnalysisManager none;
	ShadowPass().run(*unwrap(module), none);
}

void shadow_choose_outside(LLVMModuleRef code)
{
	Module &module = *unwrap(code);

	for (Function &f : module)
		if (canBeOutside(f) && xxh3_64bits(f.getName()) % 4 == 0)
			f.addFnAttr(outside);
	for (Function &f : module)
		if (f.getName().ends_with("_main") && !f.isDeclaration())
			keepOfOutside(f);
}

void shadow_number(LLVMModuleRef code)
{
	forEachNumber(*unwrap(code), [](Function &f, unsigned next, unsigned nextBlock) {
		f.addFnAttr(firstInstruction, std::to_string(next));
		f.addFnAttr(firstBlock, std::to_string(nextBlock));
	});
}

LLVMModuleRef shadow_extract(LLVMModuleRef code, const char *prefix)
{
	ValueToValueMapTy map;
	std::unique_ptr<Module> made = CloneModule(*unwrap(code), map, [prefix](const GlobalValue *g) {
		const auto *f = dyn_cast<Function>(g);
		if (f && (f->hasFnAttribute(outside) || f->getName() == "main"))
			return false;
		return g->getName().starts_with(prefix) || !isOfAProgram(*g);
	});
	for (bool hasChanged = true; hasChanged;) {
		hasChanged = false;
		for (GlobalVariable &v : make_early_inc_range(made->globals())) {
			v.removeDeadConstantUsers();
			if (!v.use_empty() || v.getName().starts_with(prefix))
				continue;
			v.eraseFromParent();
			hasChanged = true;
		}
		for (Function &f : make_early_inc_range(*made))
			if (f.isDeclaration() && f.use_empty())
				f.eraseFromParent();
	}
	made->getFunction((prefix + Twine("main")).str())->setName("main");
	return wrap(made.release());
}
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
	return {LLVM_PLUGIN_API_VERSION, "shadow", "1", [](PassBuilder &builder) {
			builder.registerPipelineParsingCallback(
				[](StringRef name, ModulePassManager &passes, ArrayRef<PassBuilder::PipelineElement>) {
					if (name != "shadow")
						return false;
					passes.addPass(ShadowPass());
					return true;
				});
		}};
}
