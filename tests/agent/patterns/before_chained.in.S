/* A direct call that does nothing, and that an indirect call follows on. */
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
	plan PLAN_SITE, next=CHOOSE_NEXT
	call_of a
