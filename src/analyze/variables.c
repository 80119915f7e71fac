/* variables.c - reads which alloca each declaration of the debug information is about (variables.h). */
#include "analyze/variables.h"

#include "analyze/debug_info.h"
#include "base/text.h"
#include "llvm/ir.h"

static struct error *take(const struct code *c, LLVMValueRef instruction, struct variables *ret)
{
	LLVMValueRef callee = ir_is_call(instruction) ? code_callee(instruction) : NULL, place = NULL;
	uint32_t number, before = ret->allocas.count;
	struct error *err;

	if (!callee || !text_equal(LLVMGetValueName(callee), "llvm.dbg.declare") ||
	    LLVMGetMetadataKind(LLVMValueAsMetadata(LLVMGetOperand(instruction, 0))) != LLVMLocalAsMetadataMetadataKind)
		return NULL;
	LLVMGetMDNodeOperands(LLVMGetOperand(instruction, 0), &place);
	err = hashmap_add(&ret->allocas, &(struct key){{(uintptr_t)place, 0, 0}}, &number);
	if (err || number < before)
		return err;
	return variable_names_append(
		&ret->names, debug_variable_name(c->context, LLVMValueAsMetadata(LLVMGetOperand(instruction, 1))));
}

struct error *variables_find(const struct code *c, struct variables *ret)
{
	/* LLVM's C interface shows declarations as calls alone. */
	bool has_records = LLVMIsNewDbgInfoFormat(c->module);
	struct variables v = {0};
	struct error *err = NULL;

	LLVMSetIsNewDbgInfoFormat(c->module, false);
	for (uint32_t b = 0; b < c->block_count && !err; b++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(c->blocks[b].value); i && !err;
		     i = LLVMGetNextInstruction(i))
			err = take(c, i, &v);
	LLVMSetIsNewDbgInfoFormat(c->module, has_records);
	if (err)
		variables_deinit(&v);
	else
		*ret = v;
	return err;
}

void variables_deinit(struct variables *v)
{
	hashmap_deinit(&v->allocas);
	variable_names_deinit(&v->names);
	*v = (struct variables){0};
}

const char *variables_name(const struct variables *v, LLVMValueRef value)
{
	const struct key key = {{(uintptr_t)value, 0, 0}};
	const char *name = NULL;
	uint32_t number;

	if (LLVMIsAGlobalVariable(value))
		name = LLVMGetValueName(value);
	else if (hashmap_find(&v->allocas, &key, &number))
		name = v->names.items[number];
	return name && *name ? name : NULL;
}
