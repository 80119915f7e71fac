/* ir.c - small questions and steps on LLVM's code (ir.h). */
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>

#include "llvm/ir.h"

unsigned ir_attribute_kind(const char *name)
{
	return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

unsigned ir_intrinsic_kind(const char *name)
{
	return LLVMLookupIntrinsicID(name, strlen(name));
}

bool ir_is_local(LLVMValueRef global)
{
	LLVMLinkage linkage = LLVMGetLinkage(global);
	return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

LLVMValueRef ir_after_allocas(LLVMValueRef function)
{
	LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
	while (LLVMIsAAllocaInst(i))
		i = LLVMGetNextInstruction(i);
	return i;
}

LLVMValueRef ir_gather_allocas(LLVMBuilderRef builder, LLVMValueRef function)
{
	LLVMValueRef first = ir_after_allocas(function);
	for (LLVMValueRef i = first; i;) {
		LLVMValueRef next = LLVMGetNextInstruction(i);
		if (LLVMIsAAllocaInst(i) && LLVMIsAConstantInt(LLVMGetOperand(i, 0))) {
			LLVMInstructionRemoveFromParent(i);
			LLVMPositionBuilderBefore(builder, first);
			LLVMInsertIntoBuilder(builder, i);
		}
		i = next;
	}
	return first;
}

void ir_position_before(LLVMBuilderRef builder, LLVMValueRef instruction)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	if (!location && subprogram)
		location = LLVMDIBuilderCreateDebugLocation(LLVMGetModuleContext(LLVMGetGlobalParent(function)), 0, 0,
							    subprogram, NULL);
	LLVMPositionBuilderBefore(builder, instruction);
	LLVMSetCurrentDebugLocation2(builder, location);
}

struct error *ir_verify(LLVMModuleRef module, const char *unit, const char *what)
{
	char *message = NULL;
	struct error *err = NULL;
	if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
		err = error_create(ERROR_MISMATCH, "%s: %s is not valid: %s", unit, what, message);
	LLVMDisposeMessage(message);
	return err;
}
