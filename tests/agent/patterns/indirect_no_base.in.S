/* An indirect call through a table at a fixed address. */
#include "pattern.inc"
f:
	.cfi_startproc
	call	*0x12345678(,%rcx,8)
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	.cfi_endproc
	callees
	plan PLAN_SITE
	call_of a
