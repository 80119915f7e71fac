/* A tail call of what is not instrumented. */
#include "pattern.inc"
f:
	.cfi_startproc
	{disp32} jmp	a
	.cfi_endproc
	callees
	plan PLAN_SITE
	call_of a, pushes=1, foreign=1, record=0x778
