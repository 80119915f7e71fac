/* An indirect call through a table, with what comes before it. */
#include "pattern.inc"
f:
	.cfi_startproc
	mov	%rdi, %rdx
	call	*16(%rbx,%rcx,8)
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	.cfi_endproc
	callees
	plan PLAN_SITE
	call_of a
