/* A tail call with an addend. */
#include "pattern.inc"
f:
	.cfi_startproc
	{disp32} jmp	a
	.cfi_endproc
	callees
	plan PLAN_SITE, addend=7
	call_of a
