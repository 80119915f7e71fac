/* An indirect call, not made yet, through memory that the stack pointer addresses. */
#include "pattern.inc"
f:
	.cfi_startproc
	call	*0x100(%rsp)
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	.cfi_endproc
	callees
	plan PLAN_SITE
