/*
 * steps.h - what getelementptr adds to a pointer, as steps of core/pointers.
 */
#ifndef WM_ANALYZE_STEPS_H
#define WM_ANALYZE_STEPS_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "core/pointers/locations.h"

enum {
	STEPS_MAX = 16,
};

/* The steps of a getelementptr, an instruction or a constant, one after the other. Returns how many; more than STEPS_MAX are one that
 * leads anywhere in the object. */
uint32_t steps_of(LLVMTargetDataRef layout, LLVMValueRef getelementptr, struct pointer_step ret[STEPS_MAX]);

#endif
