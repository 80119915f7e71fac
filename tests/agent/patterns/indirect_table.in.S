/* An indirect call with many targets, through a word of the program. */
#include "pattern.inc"
f:
	.cfi_startproc
	call	*a(%rip)
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	.cfi_endproc
	callees
	plan PLAN_SITE
	.rept 13
	call_of b
	.endr
