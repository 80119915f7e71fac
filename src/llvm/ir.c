/* ir.c - small questions and steps on LLVM's code (ir.h). */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>

#include "llvm/ir.h"

unsigned ir_attribute_kind(const char *name)
{
	return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

void ir_add_attribute(LLVMValueRef function, const char *name, uint64_t value)
{
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
	LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
				LLVMCreateEnumAttribute(context, ir_attribute_kind(name), value));
}

LLVMValueRef ir_add_naked(LLVMModuleRef module, const char *name, LLVMTypeRef type, const struct ir_assembly *code)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMValueRef function = LLVMAddFunction(module, name, type);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMTypeRef types[IR_OPERANDS_MAX];
	assert(code->operand_count <= IR_OPERANDS_MAX);
	for (unsigned i = 0; i < code->operand_count; i++)
		types[i] = LLVMTypeOf(code->operands[i]);
	LLVMTypeRef body = LLVMFunctionType(LLVMVoidTypeInContext(context), types, code->operand_count, 0);
	LLVMValueRef assembly =
		LLVMGetInlineAsm(body, (const char *)code->text->bytes, code->text->len_bytes, code->constraints,
				 code->constraints_len, 1, 0, LLVMInlineAsmDialectATT, 0);
	LLVMSetLinkage(function, LLVMInternalLinkage);
	ir_add_attribute(function, "naked", 0);
	ir_add_attribute(function, "noinline", 0);
	LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, ""));
	LLVMBuildCall2(builder, body, assembly, code->operands, code->operand_count, "");
	LLVMBuildUnreachable(builder);
	LLVMDisposeBuilder(builder);
	return function;
}

unsigned ir_intrinsic_kind(const char *name)
{
	return LLVMLookupIntrinsicID(name, strlen(name));
}

int ir_compare_values(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)*(const LLVMValueRef *)a;
	uintptr_t y = (uintptr_t)*(const LLVMValueRef *)b;
	return (x > y) - (x < y);
}

bool ir_is_call(LLVMValueRef instruction)
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
	return opcode == LLVMCall || opcode == LLVMInvoke || opcode == LLVMCallBr;
}

bool ir_is_must_tail_call(LLVMValueRef instruction)
{
	return instruction && LLVMIsACallInst(instruction) &&
	       LLVMGetTailCallKind(instruction) == LLVMTailCallKindMustTail;
}

bool ir_returns_twice(LLVMValueRef call)
{
	unsigned kind = ir_attribute_kind("returns_twice");
	LLVMValueRef callee = LLVMGetCalledValue(call);

	return LLVMGetCallSiteEnumAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind) ||
	       (LLVMIsAFunction(callee) && ir_has_attribute(callee, kind));
}

bool ir_has_attribute(LLVMValueRef function, unsigned kind)
{
	return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind) != NULL;
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

uint64_t ir_count_instructions(LLVMModuleRef module)
{
	uint64_t ret = 0;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
				ret++;
	return ret;
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
