/* A tail call that pushes. */
#include "pattern.inc"
f:
	.cfi_startproc
	{disp32} jmp	a
	.cfi_endproc
	callees
	plan PLAN_SITE
	call_of a, pushes=1, restart=0x55, record=0x777
