/* A tail call of 2 bytes, with bytes behind it that nothing reaches. */
#include "pattern.inc"
	.org 0x80
f:
	.cfi_startproc
	jmp	a
	nop5
	.cfi_endproc
	callees
	plan PLAN_SITE, addend=7
	call_of a
