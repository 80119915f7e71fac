/* An indirect call with no room in front, and room behind: what is before it is a target of its own. */
#include "pattern.inc"
f:
	.cfi_startproc
	test	%rdx, %rdx
	je	1f
	mov	%rdi, %rdx
1:	call	*%rax
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	.cfi_endproc
	callees
	plan PLAN_SITE, addend=7
	call_of a
