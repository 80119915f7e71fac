/*
 * promote.h - calls through pointers made direct ones, for host.h.
 */
#ifndef WM_INSTRUMENT_PROMOTE_H
#define WM_INSTRUMENT_PROMOTE_H

#include <llvm-c/Types.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* See host.h. */
bool promote_is_possible(LLVMValueRef call, LLVMValueRef function);
void promote_call(LLVMValueRef call_ref, LLVMValueRef function_ref, uint32_t taken, uint32_t other);

#ifdef __cplusplus
}
#endif
#endif
