/* An indirect call that follows on what stands behind another call. */
#include "pattern.inc"
f:
	.cfi_startproc
	call	a
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	call	*%rax
	ret
	.cfi_endproc
	callees
	plan PLAN_SITE, site=1
	call_of a
