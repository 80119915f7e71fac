/*
 * variables.h - names of variables for host.h.
 */
#ifndef WM_INSTRUMENT_VARIABLES_H
#define WM_INSTRUMENT_VARIABLES_H

#include <llvm-c/Types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The variable, of the function that scope is in or global, that a value is the value or the address of. Not terminated, *ret_len
 * characters, owned by the module; NULL when not known. */
const char *variable_name(LLVMValueRef ref, LLVMMetadataRef scope, unsigned *ret_len);

#ifdef __cplusplus
}
#endif
#endif
