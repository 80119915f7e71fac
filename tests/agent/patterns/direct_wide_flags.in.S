/* An addend of more than 31 bits, and flags that are read behind the call. */
#include "pattern.inc"
f:
	.cfi_startproc
	call	a
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	jc	1f
	mov	%rcx, %rdx
1:	ret
	.cfi_endproc
	callees
	plan PLAN_SITE, addend=0x123456789a
	call_of a
