/* The loader's function for debuggers. */
#include "pattern.inc"
f:
	.cfi_startproc
	endbr64
	ret
	.cfi_endproc
	callees
	plan PLAN_LOADER, at=f, len=5, to=b
