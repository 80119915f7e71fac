/* A direct call whose callee may leave entries of tail calls. */
#include "pattern.inc"
f:
	.cfi_startproc
	call	a
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	.cfi_endproc
	callees
	plan PLAN_SITE, addend=7
	call_of a, tails=1
