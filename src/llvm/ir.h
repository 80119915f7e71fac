/*
 * ir.h - small questions and steps on LLVM's code that every part of the instrumenter has, and LLVM's C interface has not.
 */
#ifndef WM_LLVM_IR_H
#define WM_LLVM_IR_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/vec.h"

VEC_DECLARE(ir_value_vec, LLVMValueRef);

/* LLVM's numbers; 0 for a name that it does not know. */
unsigned ir_attribute_kind(const char *name);
unsigned ir_intrinsic_kind(const char *name);

/* On another body of a function, which is entered in its place and has the same calls: the name of the function. */
#define IR_VARIANT_OF "waymark-variant-of"

/* For qsort and bsearch of values: by their addresses. */
int ir_compare_values(const void *a, const void *b);
bool ir_is_call(LLVMValueRef instruction);
bool ir_is_must_tail_call(LLVMValueRef instruction); /* NULL is none */
/* A call of setjmp or its like. */
bool ir_returns_twice(LLVMValueRef call);
/* The function has the attribute of that kind (ir_attribute_kind). */
bool ir_has_attribute(LLVMValueRef function, unsigned kind);

/* The global belongs to this module alone, whatever its name is. */
bool ir_is_local(LLVMValueRef global);

/* The first instruction of the function behind the allocas that it begins with. */
LLVMValueRef ir_after_allocas(LLVMValueRef function);

/* Gathers the allocas for code that splits the block there: all others of known size in the entry block come before it, too; behind it
 * they would move the stack. Moves the builder. */
LLVMValueRef ir_gather_allocas(LLVMBuilderRef builder, LLVMValueRef function);

/* Code of ours belongs to the line of the instruction it stands before; in a function with lines, it has at least that of 0. */
void ir_position_before(LLVMBuilderRef builder, LLVMValueRef instruction);

/* A local function of that type that is what its assembly says; it is not inlined. operands: addresses and the like, one for each
 * of the constraints; at most IR_OPERANDS_MAX. */
struct ir_assembly {
	const struct buffer *text;
	const char *constraints;
	size_t constraints_len;
	LLVMValueRef *operands;
	unsigned operand_count;
};
enum {
	IR_OPERANDS_MAX = 16,
};
LLVMValueRef ir_add_naked(LLVMModuleRef module, const char *name, LLVMTypeRef type, const struct ir_assembly *code);
void ir_add_attribute(LLVMValueRef function, const char *name, uint64_t value);

/* Of all functions of the module. */
uint64_t ir_count_instructions(LLVMModuleRef module);

/* A broken module would end the linker in a crash far from its cause. The error says "UNIT: WHAT is not valid". */
struct error *ir_verify(LLVMModuleRef module, const char *unit, const char *what);

#endif
