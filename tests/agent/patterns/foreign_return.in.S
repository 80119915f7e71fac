/* Behind a call of foreign code. */
#include "pattern.inc"
f:
	.cfi_startproc
	call	a
back:
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	.cfi_endproc
	callees
	plan PLAN_FOREIGN_RETURN, at=back, len=7
