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
struct loops *loops_of(LLVMValueRef function);
bool loop_around(struct loops *loops, LLVMValueRef call, const LLVMValueRef *calls, unsigned count,
		 struct call_loop *ret);
void loops_free(struct loops *loops);

#ifdef __cplusplus
}
#endif
#endif
