/*
 * epilogue.h - ends of functions whose call frame information is wrong, by their code.
 *
 * gcc describes two ends with rules that need rbp after it was restored. Both are a few instructions long, so only the innermost
 * frame or one that a signal interrupted can be there. Safe in signal handlers; reads the text from f->start to f->end only.
 */
#ifndef WM_NATIVE_EPILOGUE_H
#define WM_NATIVE_EPILOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "native/unwind/cfi.h"
#include "native/unwind/eh_frame.h"

enum epilogue {
	EPILOGUE_NONE, /* the CFI is right, as far as this knows */
	/*
	 * A realigned stack:   pop %rbp or leave | lea -8(%r10),%rsp | ret
	 * Registers that the rules find through rbp are restored; pc is at one of the last two.
	 */
	EPILOGUE_REALIGNED,
	/*
	 * __builtin_eh_return, in the unwinder of exceptions:   mov (%rbp),%rbp | mov %rcx,%rsp | pop %rcx | jmp *%rcx
	 * All callee-saved registers are those of the landing pad; pc is at one of the last three.
	 */
	EPILOGUE_LANDING_RCX,     /* its address is at rcx */
	EPILOGUE_LANDING_RSP,     /* its address is at rsp */
	EPILOGUE_LANDING_REACHED, /* its address is rcx, rsp is right */
};

enum epilogue epilogue_at(const struct eh_function *f, uintptr_t pc);

/* The row of EPILOGUE_REALIGNED: registers that were to be found through rbp are what they are. */
void epilogue_correct(const struct eh_table *t, struct cfi_row *row);

#endif
