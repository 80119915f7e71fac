/* A direct call of what is not instrumented, with flags that are read behind it. */
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
	plan PLAN_SITE
	call_of a, pushes=1, foreign=1, record=0x778
