/* A tail call that was not made yet. */
#include "pattern.inc"
f:
	.cfi_startproc
	{disp32} jmp	a
	.cfi_endproc
	callees
	plan PLAN_SITE
