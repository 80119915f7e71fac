/*
 * plugin.cpp - registers the passes and answers what LLVM's C API cannot (host.h). Nothing else: the work is in C, in the
 * files beside this one. Contexts: at the end of full LTO. Paths: where the compiler's pipeline starts (source stage), or at
 * the end of full LTO (final stage). `waymark cc` says in the environment what is wanted.
 */
#include "instrument/loops.h"
#include "instrument/places.h"
#include "instrument/promote.h"
#include "instrument/thin.h"
#include "instrument/variables.h"
#include "llvm/host.h"

#include <cstdlib>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/CodeGen/StackProtector.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#if __has_include(<llvm/Plugins/PassPlugin.h>)
#include <llvm/Plugins/PassPlugin.h> /* since LLVM 22 */
#else
#include <llvm/Passes/PassPlugin.h>
#endif
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/EscapeEnumerator.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <string>
#include <waymark/paths.h>
#include <waymark/trace.h>

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

/* The linker binds it in the library (-Bsymbolic and its kin; `waymark cc` says which). */
static bool is_symbolic(const GlobalValue *global)
{
	const char *kind = std::getenv("WAYMARK_LINK_SYMBOLIC");
	if (!kind || global->isDeclarationForLinker() || global->isInterposable())
		return false;
	bool is_function = isa<Function>(global->getAliaseeObject());
	return StringRef(kind) == "non-weak" ? is_function && global->hasExternalLinkage() : is_function;
}

static bool is_final(LLVMValueRef ref)
{
	auto *global = unwrap<GlobalValue>(ref);
	return global->hasLocalLinkage() || (global->isDSOLocal() && !global->isInterposable()) || is_symbolic(global);
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

static double edge_probability(void *state, LLVMBasicBlockRef ref, unsigned successor)
{
	BasicBlock *block = unwrap(ref);
	auto &probabilities = analyses(state).getResult<BranchProbabilityAnalysis>(*block->getParent());
	auto share = probabilities.getEdgeProbability(block, successor);
	return double(share.getNumerator()) / double(BranchProbability::getDenominator());
}

static void changed(void *state, LLVMValueRef ref)
{
	analyses(state).invalidate(*unwrap<Function>(ref), PreservedAnalyses::none());
}

/* The one before it, debug information aside. */
static Instruction *instruction_before(Instruction *at)
{
	do
		at = at->getPrevNode();
	while (at && isa<DbgInfoIntrinsic>(at));
	return at;
}

/* The return of a block in which nothing else happens. */
static ReturnInst *only_return(BasicBlock &block)
{
	for (Instruction &instruction : block)
		if (!isa<PHINode>(instruction) && !isa<DbgInfoIntrinsic>(instruction))
			return dyn_cast<ReturnInst>(&instruction);
	return nullptr;
}

/* Ends in a tail call and a jump to block, which returns what was called returns. */
static bool tail_calls_into(BasicBlock &from, BasicBlock &block, const ReturnInst &ret)
{
	auto *jump = dyn_cast<BranchInst>(from.getTerminator());
	auto *call = jump ? dyn_cast_or_null<CallInst>(instruction_before(jump)) : nullptr;
	if (!call || jump->isConditional() || !call->isTailCall() || isa<IntrinsicInst>(call))
		return false;
	Value *value = ret.getReturnValue();
	auto *phi = dyn_cast_or_null<PHINode>(value);
	if (phi && phi->getParent() == &block)
		value = phi->getIncomingValueForBlock(&from);
	return !value || value == call || isa<UndefValue>(value);
}

static bool return_after_tail_calls(LLVMValueRef ref)
{
	auto *function = unwrap<Function>(ref);
	bool any = false;
	for (BasicBlock &block : make_early_inc_range(*function)) {
		ReturnInst *ret = only_return(block);
		if (!ret || &block == &function->getEntryBlock())
			continue;
		SmallVector<BasicBlock *, 8> callers;
		for (BasicBlock *from : predecessors(&block))
			if (tail_calls_into(*from, block, *ret))
				callers.push_back(from);
		for (BasicBlock *from : callers)
			FoldReturnIntoUncondBranch(ret, &block, from);
		any |= !callers.empty();
		if (!callers.empty() && pred_empty(&block) && !block.hasAddressTaken())
			DeleteDeadBlock(&block);
	}
	return any;
}

/* Phis get one value from there: what the computed gotos bring comes together before. */
static void land_before(BasicBlock &block)
{
	Function *function = block.getParent();
	BasicBlock *landing = BasicBlock::Create(block.getContext(), "wm1.landing", function, &block);
	SmallPtrSet<IndirectBrInst *, 8> jumps;
	for (BasicBlock *from : predecessors(&block))
		if (auto *jump = dyn_cast<IndirectBrInst>(from->getTerminator()))
			jumps.insert(jump);
	for (PHINode &phi : block.phis()) {
		PHINode *brought = PHINode::Create(phi.getType(), 4, "", landing);
		for (unsigned i = phi.getNumIncomingValues(); i-- > 0;)
			if (isa<IndirectBrInst>(phi.getIncomingBlock(i)->getTerminator())) {
				brought->addIncoming(phi.getIncomingValue(i), phi.getIncomingBlock(i));
				phi.removeIncomingValue(i, /*DeletePHIIfEmpty=*/false);
			}
		phi.addIncoming(brought, landing);
	}
	BranchInst::Create(&block, landing);
	for (IndirectBrInst *jump : jumps)
		jump->replaceSuccessorWith(&block, landing);
	if (BlockAddress *label = BlockAddress::lookup(&block)) {
		label->replaceAllUsesWith(BlockAddress::get(function, landing));
		label->destroyConstant();
	}
}

static void land_apart(LLVMValueRef ref)
{
	SmallVector<BasicBlock *, 8> shared;
	for (BasicBlock &block : *unwrap<Function>(ref)) {
		bool is_landing = false, has_others = false;
		for (BasicBlock *from : predecessors(&block)) {
			bool jumps = isa<IndirectBrInst>(from->getTerminator());
			is_landing |= jumps;
			has_others |= !jumps;
		}
		if (is_landing && has_others)
			shared.push_back(&block);
	}
	for (BasicBlock *block : shared)
		land_before(*block);
}

static LLVMBasicBlockRef split_before(LLVMValueRef ref)
{
	auto *instruction = unwrap<Instruction>(ref);
	return wrap(SplitBlock(instruction->getParent(), instruction));
}

static LLVMBasicBlockRef split_edge(LLVMValueRef ref, unsigned successor)
{
	auto *terminator = unwrap<Instruction>(ref);
	auto options = CriticalEdgeSplittingOptions().setMergeIdenticalEdges();
	BasicBlock *middle = SplitCriticalEdge(terminator, successor, options);
	if (!middle)
		middle = SplitEdge(terminator->getParent(), terminator->getSuccessor(successor));
	return wrap(middle);
}

static LLVMValueRef insert_if(LLVMValueRef condition, LLVMValueRef before)
{
	auto *at = unwrap<Instruction>(before);
	MDNode *rarely = MDBuilder(at->getContext()).createBranchWeights(1, 4000);
	return wrap(SplitBlockAndInsertIfThen(unwrap(condition), at->getIterator(), /*Unreachable=*/false, rarely));
}

static void insert_if_else(LLVMValueRef condition, LLVMValueRef before, LLVMValueRef *ret_then, LLVMValueRef *ret_else)
{
	auto *at = unwrap<Instruction>(before);
	MDNode *usually = MDBuilder(at->getContext()).createBranchWeights(4000, 1);
	Instruction *then, *other;
	SplitBlockAndInsertIfThenElse(unwrap(condition), at->getIterator(), &then, &other, usually);
	*ret_then = wrap(then);
	*ret_else = wrap(other);
}

static void branch_on_select(LLVMValueRef ref)
{
	auto *select = unwrap<SelectInst>(ref);
	Instruction *then, *other;
	SplitBlockAndInsertIfThenElse(select->getCondition(), select->getIterator(), &then, &other,
				      select->getMetadata(LLVMContext::MD_prof));
	auto *phi = PHINode::Create(select->getType(), 2, "", select->getIterator());
	phi->addIncoming(select->getTrueValue(), then->getParent());
	phi->addIncoming(select->getFalseValue(), other->getParent());
	phi->takeName(select);
	phi->copyIRFlags(select);
	select->replaceAllUsesWith(phi);
	select->eraseFromParent();
}

static LLVMValueRef first_insertion(LLVMBasicBlockRef block)
{
	return wrap(&*unwrap(block)->getFirstInsertionPt());
}

static void bind_locally(LLVMValueRef ref)
{
	unwrap<GlobalValue>(ref)->setDSOLocal(true);
}

namespace
{
struct Warning : DiagnosticInfo {
	const char *text;
	explicit Warning(const char *words)
		: DiagnosticInfo(getNextAvailablePluginDiagnosticKind(), DS_Warning), text(words)
	{
	}
	void print(DiagnosticPrinter &printer) const override
	{
		printer << text;
	}
};
} // namespace

static void diagnose(LLVMModuleRef ref, const char *text)
{
	std::string line = std::string("waymark: ") + text;
	unwrap(ref)->getContext().diagnose(Warning(line.c_str()));
}

static bool is_artificial(LLVMValueRef ref)
{
	const DISubprogram *subprogram = unwrap<Function>(ref)->getSubprogram();
	return subprogram && subprogram->isArtificial();
}

static const char *plain_name(LLVMMetadataRef ref, unsigned *ret_len)
{
	StringRef name = unwrap<DISubprogram>(ref)->getName();
	*ret_len = unsigned(name.size());
	return name.data();
}

static void keep(LLVMValueRef ref)
{
	auto *global = unwrap<GlobalValue>(ref);
	appendToCompilerUsed(*global->getParent(), {global});
}

static void keep_linked(LLVMValueRef ref)
{
	auto *global = unwrap<GlobalValue>(ref);
	appendToUsed(*global->getParent(), {global});
}

static LLVMValueRef clone(LLVMValueRef ref, const char *name)
{
	auto *function = unwrap<Function>(ref);
	ValueToValueMapTy values;
	Function *copy = CloneFunction(function, values);
	copy->setName(name);
	copy->setLinkage(GlobalValue::InternalLinkage);
	copy->setComdat(function->getComdat());
	copy->addFnAttr(Attribute::NoInline);
	copy->removeFnAttr(Attribute::AlwaysInline);
	return wrap(copy);
}

static void move_to_end(LLVMValueRef ref)
{
	auto *function = unwrap<Function>(ref);
	auto &functions = function->getParent()->getFunctionList();
	functions.splice(functions.end(), functions, function->getIterator());
}

static LLVMValueRef prologue_data(LLVMValueRef ref)
{
	auto *function = unwrap<Function>(ref);
	return function->hasPrologueData() ? wrap(function->getPrologueData()) : nullptr;
}

static void set_prologue_data(LLVMValueRef ref, LLVMValueRef constant)
{
	unwrap<Function>(ref)->setPrologueData(unwrap<Constant>(constant));
}

static void drop_needless_protector(LLVMValueRef ref)
{
	auto *function = unwrap<Function>(ref);
	bool wants = function->hasFnAttribute(Attribute::StackProtect) ||
		     function->hasFnAttribute(Attribute::StackProtectStrong);
	if (!wants || SSPLayoutAnalysis::requiresStackProtector(function))
		return;
	function->removeFnAttr(Attribute::StackProtect);
	function->removeFnAttr(Attribute::StackProtectStrong);
}

static const char own_memory[] = "wm1.memory";

static void mark_own_memory(LLVMValueRef ref)
{
	auto *memory = unwrap<AllocaInst>(ref);
	MDNode *yes = MDNode::get(memory->getContext(), {});
	memory->setMetadata(own_memory, yes);
	memory->setMetadata(LLVMContext::MD_nosanitize, yes); /* no red zones around it */
}

static void add_constructor(LLVMValueRef ref)
{
	auto *function = unwrap<Function>(ref);
	appendToGlobalCtors(*function->getParent(), function, /*Priority=*/0, function);
}

static struct host make_host(FunctionAnalysisManager &functions)
{
	return {&functions,
		block_frequency,
		entry_count,
		is_final,
		guard_unwinding,
		normal_edge,
		location_function,
		subprogram_name,
		is_artificial,
		"LLVM " LLVM_VERSION_STRING,
		edge_probability,
		changed,
		return_after_tail_calls,
		land_apart,
		split_before,
		split_edge,
		insert_if,
		insert_if_else,
		branch_on_select,
		first_insertion,
		bind_locally,
		diagnose,
		plain_name,
		keep,
		keep_linked,
		clone,
		move_to_end,
		prologue_data,
		set_prologue_data,
		drop_needless_protector,
		mark_own_memory,
		add_constructor,
		variable_name,
		promote_is_possible,
		promote_call,
		loops_of,
		loop_around,
		loops_free,
		load_places,
		0,
		0};
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
/*
 * Functions that never return are not inlined. The code generator makes one of the copies that inlining leaves in a function; with sites of
 * their own they are no longer equal, and each would stay.
 */
struct KeepFailuresPass : PassInfoMixin<KeepFailuresPass> {
	static bool fails(const Function &function)
	{
		bool ends = false;
		for (const BasicBlock &block : function) {
			if (isa<ReturnInst>(block.getTerminator()))
				return false;
			ends |= isa<UnreachableInst>(block.getTerminator());
		}
		return ends;
	}
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		for (Function &function : module)
			if (!function.hasFnAttribute(Attribute::AlwaysInline) && fails(function))
				function.addFnAttr(Attribute::NoInline);
		return PreservedAnalyses::all();
	}
	static bool isRequired()
	{
		return true;
	}
};

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

/* ---- what is inlined, for path_hidden.c ---- */

/* The function's name in debug information, as written in the source. */
static StringRef source_name(const Function &function)
{
	const DISubprogram *subprogram = function.getSubprogram();
	if (!subprogram)
		return function.getName();
	return subprogram->getLinkageName().empty() ? subprogram->getName() : subprogram->getLinkageName();
}

static void note(Module &module, const char *list, ArrayRef<StringRef> names)
{
	SmallVector<Metadata *, 3> texts;
	for (StringRef name : names)
		texts.push_back(MDString::get(module.getContext(), name));
	module.getOrInsertNamedMetadata(list)->addOperand(MDNode::get(module.getContext(), texts));
}

/*
 * The inliner says what it inlines in remarks, also of what then folds to nothing: each is noted in the module, which carries it
 * to the link. All else goes where it went before.
 */
class InliningNotes : public DiagnosticHandler
{
	std::unique_ptr<DiagnosticHandler> next;
	static bool is_inliner(StringRef pass)
	{
		return pass == "inline" || pass == "sample-profile-inline";
	}
	static void take(const OptimizationRemark &remark)
	{
		Module &module = *const_cast<Module *>(remark.getFunction().getParent());
		for (const auto &argument : remark.getArgs()) {
			if (argument.Key != "Callee")
				continue;
			const Function *callee = module.getFunction(argument.Val);
			note(module, PATH_NOTES_INLINED,
			     {callee && callee->getSubprogram() ? source_name(*callee) : StringRef(argument.Val),
			      source_name(remark.getFunction())});
		}
	}

public:
	explicit InliningNotes(std::unique_ptr<DiagnosticHandler> before) : next(std::move(before))
	{
	}
	bool handleDiagnostics(const DiagnosticInfo &info) override
	{
		const auto *remark = dyn_cast<OptimizationRemark>(&info);
		if (remark && is_inliner(remark->getPassName()))
			take(*remark);
		if (remark && !(next && next->isPassedOptRemarkEnabled(remark->getPassName())))
			return true;
		return next && next->handleDiagnostics(info);
	}
	bool isAnalysisRemarkEnabled(StringRef pass) const override
	{
		return next && next->isAnalysisRemarkEnabled(pass);
	}
	bool isMissedOptRemarkEnabled(StringRef pass) const override
	{
		return next && next->isMissedOptRemarkEnabled(pass);
	}
	bool isPassedOptRemarkEnabled(StringRef pass) const override
	{
		return is_inliner(pass) || (next && next->isPassedOptRemarkEnabled(pass));
	}
	bool isAnyRemarkEnabled() const override
	{
		return true;
	}
};

static void note_inlining(LLVMContext &context)
{
	context.setDiagnosticHandler(std::make_unique<InliningNotes>(context.getDiagnosticHandler()), true);
}

/* A unit before it is optimized: who calls whom by name, and what runs before main. */
struct NoteCallsPass : PassInfoMixin<NoteCallsPass> {
	static void note_calls(Module &module, Function &function)
	{
		SmallPtrSet<const Function *, 16> seen;
		for (Instruction &i : instructions(function)) {
			auto *call = dyn_cast<CallBase>(&i);
			auto *callee =
				call ? dyn_cast<Function>(call->getCalledOperand()->stripPointerCasts()) : nullptr;
			if (callee && !callee->isIntrinsic() && seen.insert(callee).second)
				note(module, PATH_NOTES_CALLS, {source_name(*callee), source_name(function)});
		}
	}
	/* Lines of one block that call something: an execution of them makes the call. */
	static void note_firm_lines(Module &module, Function &function)
	{
		DenseMap<unsigned, const BasicBlock *> blocks; /* nullptr: several */
		for (Instruction &i : instructions(function)) {
			if (!i.getDebugLoc() || !i.getDebugLoc().getLine())
				continue;
			auto [at, is_new] = blocks.insert({i.getDebugLoc().getLine(), i.getParent()});
			if (!is_new && at->second != i.getParent())
				at->second = nullptr;
		}
		for (Instruction &i : instructions(function)) {
			auto *call = dyn_cast<CallBase>(&i);
			auto *callee = call ? call->getCalledFunction() : nullptr;
			if (!callee || callee->isIntrinsic() || !i.getDebugLoc() ||
			    !blocks.lookup(i.getDebugLoc().getLine()))
				continue;
			std::string line = std::to_string(i.getDebugLoc().getLine());
			note(module, PATH_NOTES_FIRM, {source_name(*callee), source_name(function), line});
		}
	}
	static void note_starts(Module &module)
	{
		auto *starts = module.getNamedGlobal("llvm.global_ctors");
		auto *list = starts && starts->hasInitializer() ? dyn_cast<ConstantArray>(starts->getInitializer())
								: nullptr;
		if (!list)
			return;
		for (Use &entry : list->operands()) {
			auto *parts = dyn_cast<ConstantStruct>(entry);
			auto *function =
				parts ? dyn_cast<Function>(parts->getOperand(1)->stripPointerCasts()) : nullptr;
			if (function)
				note(module, PATH_NOTES_STARTS, {source_name(*function)});
		}
	}
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		for (Function &function : module)
			if (!function.isDeclaration()) {
				note_calls(module, function);
				note_firm_lines(module, function);
			}
		note_starts(module);
		note_inlining(module.getContext());
		return PreservedAnalyses::all();
	}
	static bool isRequired()
	{
		return true;
	}
};

/* At the link, before anything is inlined there. */
struct NoteInliningPass : PassInfoMixin<NoteInliningPass> {
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		note_inlining(module.getContext());
		return PreservedAnalyses::all();
	}
	static bool isRequired()
	{
		return true;
	}
};

/* Reads what `waymark cc` sets in the environment of the compiler and the linker. */
static bool says(const char *name, StringRef what)
{
	const char *value = std::getenv(name);
	return value && what == value;
}

/* Something counts or traces the code of the link. */
static bool is_final_stage()
{
	return says("WAYMARK_PATHS", "final") || says("WAYMARK_TRACE", "final");
}

static const char *link_output(const Module &module)
{
	const char *output = std::getenv("WAYMARK_LINK_OUTPUT");
	return output ? output : module.getName().data();
}

static void set_foreign(struct host &host)
{
	const char *value = std::getenv("WAYMARK_LINK_FOREIGN");
	char *end = nullptr;
	if (!value)
		return;
	host.foreign_objects = std::strtoul(value, &end, 10);
	host.foreign_members = std::strtoul(end, nullptr, 10);
}

static void report(Module &module, char *problem)
{
	if (problem)
		module.getContext().emitError(Twine("waymark: ") + problem);
	std::free(problem);
}

struct ContextsPass : PassInfoMixin<ContextsPass> {
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &manager)
	{
		removeFromUsedLists(module, is_kept);
		auto &functions = manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
		struct host host = make_host(functions);
		bool is_shared = says("WAYMARK_LINK_KIND", "shared");
		set_foreign(host);
		report(module, instrument_module(wrap(&module), &host, link_output(module), is_shared));
		return PreservedAnalyses::none();
	}
	static bool isRequired()
	{
		return true;
	}
};

/* Without a pass after it that needs them: the end of KeepSignaturesPass. */
struct ReleaseSignaturesPass : PassInfoMixin<ReleaseSignaturesPass> {
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		removeFromUsedLists(module, is_kept);
		return PreservedAnalyses::none();
	}
	static bool isRequired()
	{
		return true;
	}
};

struct PathsPass : PassInfoMixin<PathsPass> {
	bool is_final;
	explicit PathsPass(bool at_the_end) : is_final(at_the_end)
	{
	}
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &manager)
	{
		auto &functions = manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
		struct host host = make_host(functions);
		const char *limit = std::getenv("WAYMARK_PATHS_ARRAY");
		struct path_options options = {};
		options.is_final = is_final;
		options.is_shared = says("WAYMARK_LINK_KIND", "shared");
		options.with_contexts = says("WAYMARK_CONTEXTS", "1");
		options.hash_calls = says("WAYMARK_PATHS_HASH", "call");
		/* Calls have no tables to keep small: they get the papers' paths, as long as those can be numbered. */
		options.keeps_long_paths = options.hash_calls;
		options.array_limit =
			limit ? uint32_t(std::strtoul(limit, nullptr, 10)) : uint32_t(WM1_PATHS_ARRAY_DEFAULT);
		options.plan_path = std::getenv("WAYMARK_PATHS_PLAN");
		const char *unit = is_final ? link_output(module) : module.getSourceFileName().c_str();
		report(module, instrument_paths(wrap(&module), &host, unit, &options));
		return PreservedAnalyses::none();
	}
	static bool isRequired()
	{
		return true;
	}
};

/*
 * The source stage's records of frames, when nothing is inlined any more, which would take the wish for a protector with it: who
 * would be protected only for these records is not.
 */
struct DropProtectorsPass : PassInfoMixin<DropProtectorsPass> {
	static void run(Function &function)
	{
		SmallVector<std::pair<Use *, Value *>, 32> uses;
		for (Instruction &i : function.getEntryBlock())
			if (i.getMetadata(own_memory))
				for (Use &use : i.uses())
					uses.push_back({&use, &i});
		for (auto &[use, value] : uses)
			use->set(PoisonValue::get(value->getType()));
		if (!uses.empty())
			drop_needless_protector(wrap(&function));
		for (auto &[use, value] : uses)
			use->set(value);
	}
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		for (Function &function : module)
			if (!function.isDeclaration())
				run(function);
		return PreservedAnalyses::none();
	}
	static bool isRequired()
	{
		return true;
	}
};

struct TracePass : PassInfoMixin<TracePass> {
	bool is_final;
	explicit TracePass(bool at_the_end) : is_final(at_the_end)
	{
	}
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &manager)
	{
		auto &functions = manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
		struct host host = make_host(functions);
		const char *rules = std::getenv("WAYMARK_TRACE_RULES");
		const char *ring = std::getenv("WAYMARK_TRACE_RING");
		struct trace_options options = {};
		options.is_final = is_final;
		options.rules = rules ? rules : "*=cc+pt";
		options.ring = ring ? uint32_t(std::strtoul(ring, nullptr, 10)) : uint32_t(WM1_TRACE_RING_DEFAULT);
		options.names_units = says("WAYMARK_TRACE_UNITS", "1");
		const char *unit = is_final ? link_output(module) : module.getSourceFileName().c_str();
		report(module, instrument_trace(wrap(&module), &host, unit, &options));
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
					if (is_final_stage())
						manager.addPass(NoteInliningPass());
				});
			builder.registerPipelineStartEPCallback([](ModulePassManager &manager, OptimizationLevel) {
				if (says("WAYMARK_CONTEXTS", "1"))
					manager.addPass(KeepFailuresPass());
				if (says("WAYMARK_PATHS", "source"))
					manager.addPass(PathsPass(false));
				if (says("WAYMARK_TRACE", "source"))
					manager.addPass(TracePass(false));
				if (is_final_stage())
					manager.addPass(NoteCallsPass());
			});
			if (says("WAYMARK_THIN_OBJECT", "1"))
				thin_object_register(builder);
			builder.registerOptimizerLastEPCallback(
				[](ModulePassManager &manager, OptimizationLevel, auto...) {
					if (says("WAYMARK_TRACE", "source") && !says("WAYMARK_TRACE_UNITS", "1"))
						manager.addPass(DropProtectorsPass());
				});
			builder.registerFullLinkTimeOptimizationLastEPCallback(
				[](ModulePassManager &manager, OptimizationLevel) {
					manager.addPass(ReleaseSignaturesPass());
					if (says("WAYMARK_TRACE", "source"))
						manager.addPass(DropProtectorsPass());
					if (says("WAYMARK_PATHS", "final"))
						manager.addPass(PathsPass(true));
					if (says("WAYMARK_TRACE", "final"))
						manager.addPass(TracePass(true));
					if (says("WAYMARK_CONTEXTS", "1"))
						manager.addPass(ContextsPass());
				});
			/* By name, for `opt-19 -passes=...`: so that tests need no link. */
			builder.registerPipelineParsingCallback(
				[](StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>) {
					if (name == "waymark-keep-signatures")
						manager.addPass(KeepSignaturesPass());
					else if (name == "waymark-contexts")
						manager.addPass(ContextsPass());
					else if (name == "waymark-paths")
						manager.addPass(PathsPass(says("WAYMARK_PATHS", "final")));
					else if (name == "waymark-drop-protectors")
						manager.addPass(DropProtectorsPass());
					else if (name == "waymark-trace")
						manager.addPass(TracePass(!says("WAYMARK_TRACE", "source")));
					else
						return false;
					return true;
				});
		}};
}
