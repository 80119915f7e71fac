/* The entry of a function that another one stands in for. */
#include "pattern.inc"
f:
	.cfi_startproc
	mov	%rdi, %rbx
	lea	1(%rbx), %rcx
	call	a
	ret
	.cfi_endproc
	callees
	plan PLAN_DETOUR, at=f, len=7, to=b
