/*
 * debug_info.h - variables and types of a module's debug information. LLVM's C interface has no questions for most of them, so they are read as
 * the nodes' operands (LLVM 19: DebugInfoMetadata.h has the order).
 */
#ifndef WM_ANALYZE_DEBUG_INFO_H
#define WM_ANALYZE_DEBUG_INFO_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>

#include "base/arena.h"

/* The name of a variable or type; "" for none. It lives as long as the context. */
const char *debug_variable_name(LLVMContextRef context, LLVMMetadataRef variable);
/* NULL: void. */
LLVMMetadataRef debug_variable_type(LLVMContextRef context, LLVMMetadataRef variable);

/* A scope is another one, or within it. */
bool debug_scope_is_in(LLVMContextRef context, LLVMMetadataRef scope, LLVMMetadataRef outer);

/* Without names, const and the like. NULL: void. */
LLVMMetadataRef debug_type_plain(LLVMContextRef context, LLVMMetadataRef type);
/* Of a plain type: what it points to is *ret, NULL for void. */
bool debug_type_is_pointer(LLVMContextRef context, LLVMMetadataRef type, LLVMMetadataRef *ret);
uint64_t debug_type_bytes(LLVMContextRef context, LLVMMetadataRef type);

struct debug_member {
	LLVMMetadataRef type;
	uint64_t offset_bits, size_bits;
};
/* Of a plain type, also within members that have no name. */
bool debug_type_member(LLVMContextRef context, LLVMMetadataRef type, const char *name, struct debug_member *ret);
/* "a, b and 3 more"; NULL: memory is short. */
const char *debug_type_members(LLVMContextRef context, LLVMMetadataRef type, struct arena *arena);

#endif
