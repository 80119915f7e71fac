/*
 * host.h - what the instrumenter needs of LLVM and the C API of LLVM 19 does not offer. plugin.cpp fills it in.
 *
 * All calls are for the module being instrumented, on the linker's LTO thread.
 */
#ifndef WM_INSTRUMENT_HOST_H
#define WM_INSTRUMENT_HOST_H

#include <llvm-c/Types.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct host {
	void *state;
	/* Executions of a block for each entry of its function (block frequency; the profile's where there is one). */
	double (*block_frequency)(void *state, LLVMBasicBlockRef block);
	/* Entry count from an LLVM profile; false when there is none. */
	bool (*entry_count)(void *state, LLVMValueRef function, uint64_t *ret);
	/* The definition in this module is the one that runs: no other image can preempt it. */
	bool (*is_final)(LLVMValueRef global);
	/* Gives a function that unwinding may leave a cleanup landing pad for every call that may throw. */
	void (*guard_unwinding)(void *state, LLVMValueRef function);
	/* The block entered only when this invoke returns normally; splits the edge where it must. */
	LLVMBasicBlockRef (*normal_edge)(LLVMValueRef invoke);
	/* Linkage name, else name, of the function a debug location or a subprogram is in; NULL when not known. */
	const char *(*location_function)(LLVMMetadataRef location, unsigned *ret_len);
	const char *(*subprogram_name)(LLVMMetadataRef subprogram, unsigned *ret_len);
	const char *producer; /* "LLVM 19.1.7" */
};

/* Instruments one whole-program module. is_shared: the output is a shared library. Returns NULL, or one line that says
 * what went wrong; the caller of instrument_module frees it with free(). */
char *instrument_module(LLVMModuleRef module, const struct host *host, const char *unit, bool is_shared);

#ifdef __cplusplus
}
#endif
#endif
