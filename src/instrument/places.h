/*
 * places.h - where in a function a value is loaded that several places need, for host.h.
 */
#ifndef WM_INSTRUMENT_PLACES_H
#define WM_INSTRUMENT_PLACES_H

#include <llvm-c/Types.h>

#include "llvm/host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* See host.h. */
void load_places(const struct host *host, LLVMValueRef ref, const LLVMBasicBlockRef *blocks, unsigned count,
		 LLVMBasicBlockRef *ret);

#ifdef __cplusplus
}
#endif
#endif
