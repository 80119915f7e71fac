/* variables.cpp - finds the variable of a value in LLVM's debug information, which LLVM's C API does not. */
#include "instrument/variables.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

using namespace llvm;

static bool is_of(const DILocalVariable *variable, const DISubprogram *function)
{
	return variable && variable->getScope() && variable->getScope()->getSubprogram() == function;
}

static const DIVariable *find_variable(Value *value, const DISubprogram *function)
{
	SmallVector<DIGlobalVariableExpression *, 1> globals;
	SmallVector<DbgVariableRecord *, 4> records;
	if (auto *global = dyn_cast<GlobalVariable>(value))
		global->getDebugInfo(globals);
	if (!globals.empty() || isa<Constant>(value))
		return globals.empty() ? nullptr : globals[0]->getVariable();
	for (DbgVariableRecord *record : findDVRDeclares(value))
		if (is_of(record->getVariable(), function))
			return record->getVariable();
#if LLVM_VERSION_MAJOR < 22 /* later ones have records alone */
	SmallVector<DbgValueInst *, 4> values;
	for (DbgDeclareInst *declare : findDbgDeclares(value))
		if (is_of(declare->getVariable(), function))
			return declare->getVariable();
	findDbgValues(values, value, &records);
	for (DbgValueInst *use : values)
		if (is_of(use->getVariable(), function) && !use->getExpression()->getNumElements())
			return use->getVariable();
#else
	findDbgValues(value, records);
#endif
	for (DbgVariableRecord *record : records)
		if (is_of(record->getVariable(), function) && !record->getExpression()->getNumElements())
			return record->getVariable();
	return nullptr;
}

const char *variable_name(LLVMValueRef ref, LLVMMetadataRef scope, unsigned *ret_len)
{
	auto *local = dyn_cast_or_null<DILocalScope>(unwrap(scope));
	const DIVariable *variable = find_variable(unwrap(ref), local ? local->getSubprogram() : nullptr);
	if (!variable || variable->getName().empty())
		return nullptr;
	*ret_len = unsigned(variable->getName().size());
	return variable->getName().data();
}
