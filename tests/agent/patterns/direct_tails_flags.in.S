/* A direct call with an addend whose callee may leave entries of tail calls, and flags that are read behind it. */
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
	plan PLAN_SITE, addend=300
	call_of a, tails=1
