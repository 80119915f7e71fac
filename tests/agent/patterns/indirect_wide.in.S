/* An indirect call with an addend of more than 31 bits: one call adds, one pushes. */
#include "pattern.inc"
f:
	.cfi_startproc
	mov	%rdi, %rdx
	call	*%rax
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	.cfi_endproc
	callees
	plan PLAN_SITE, addend=0x123456789a
	call_of a
	call_of b, pushes=1, restart=0x55, record=0x777
