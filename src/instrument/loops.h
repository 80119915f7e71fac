/*
 * loops.h - loops around one call, for host.h.
 */
#ifndef WM_INSTRUMENT_LOOPS_H
#define WM_INSTRUMENT_LOOPS_H

#include <llvm-c/Types.h>
#include <stdbool.h>

#include "llvm/host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* See host.h. */
bool loop_around(LLVMValueRef call, const LLVMValueRef *others, unsigned count, struct call_loop *ret);

#ifdef __cplusplus
}
#endif
#endif
