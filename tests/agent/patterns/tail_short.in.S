/* A tail call of 2 bytes, with what comes before it. */
#include "pattern.inc"
	.org 0x80
f:
	.cfi_startproc
	mov	%rdi, %rdx
	jmp	a
	.cfi_endproc
	callees
	plan PLAN_SITE, addend=7
	call_of a
