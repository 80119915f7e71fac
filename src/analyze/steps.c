/*
 * steps.c - indices of a getelementptr become offsets and strides. An index into an array that is a member stays within it, as C demands, but
 * for one at the end of its structure, which may be longer than it says (flexible array members and their forerunners).
 */
#include "analyze/steps.h"

#include <stdbool.h>

struct walk {
	LLVMTargetDataRef layout;
	uint64_t size_bytes; /* of the outermost type */
	uint64_t at;         /* offset of the type in it, along constant indices */
	bool is_at_known;
	struct pointer_step *steps;
	uint32_t count;
};

static uint32_t fit(uint64_t n)
{
	return n > INT32_MAX ? 1 : (uint32_t)n;
}

static void add_offset(struct walk *w, int64_t offset)
{
	w->at += (uint64_t)offset;
	if (!w->count || w->steps[w->count - 1].stride)
		w->steps[w->count++] = (struct pointer_step){.offset = offset};
	else
		w->steps[w->count - 1].offset += offset;
}

static void add_index(struct walk *w, LLVMValueRef index, LLVMTypeRef element, uint64_t count, bool is_first)
{
	uint64_t stride = LLVMABISizeOfType(w->layout, element);
	bool is_last = !w->is_at_known || w->at + count * stride >= w->size_bytes;
	struct pointer_step step = {.stride = fit(stride)};

	if (LLVMIsAConstantInt(index)) {
		add_offset(w, LLVMConstIntGetSExtValue(index) * (int64_t)stride);
		if (is_first)
			w->at = 0;
		return;
	}
	if (!stride)
		return;
	if (!is_first && count > 1 && !is_last && count * stride < INT32_MAX)
		step.span = (uint32_t)(count * stride);
	step.is_upwards = !is_first && !step.span;
	w->steps[w->count++] = step;
	if (!is_first)
		w->is_at_known = false;
}

uint32_t steps_of(LLVMTargetDataRef layout, LLVMValueRef getelementptr, struct pointer_step ret[STEPS_MAX])
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(getelementptr);
	int operands = LLVMGetNumOperands(getelementptr);
	struct walk w = {
		.layout = layout, .size_bytes = LLVMABISizeOfType(layout, type), .is_at_known = true, .steps = ret};

	if (operands > STEPS_MAX || LLVMGetTypeKind(LLVMTypeOf(getelementptr)) == LLVMVectorTypeKind) {
		ret[0] = (struct pointer_step){.stride = 1};
		return 1;
	}
	for (int i = 1; i < operands; i++) {
		LLVMValueRef index = LLVMGetOperand(getelementptr, (unsigned)i);

		if (i == 1) {
			add_index(&w, index, type, 0, true);
			continue;
		}
		switch (LLVMGetTypeKind(type)) {
		case LLVMStructTypeKind: {
			unsigned member = (unsigned)LLVMConstIntGetZExtValue(index);

			add_offset(&w, (int64_t)LLVMOffsetOfElement(layout, type, member));
			type = LLVMStructGetTypeAtIndex(type, member);
			break;
		}
		case LLVMArrayTypeKind: {
			uint64_t count = LLVMGetArrayLength2(type);

			type = LLVMGetElementType(type);
			add_index(&w, index, type, count, false);
			break;
		}
		default: {
			uint64_t count = LLVMGetVectorSize(type);

			type = LLVMGetElementType(type);
			add_index(&w, index, type, count, false);
		}
		}
	}
	return w.count;
}
