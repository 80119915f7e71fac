/* A direct call that is resolved to a callee farther away than a branch reaches. */
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
	call_of 0x7f0012340000
