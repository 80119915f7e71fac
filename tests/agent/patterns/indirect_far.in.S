/* An indirect call, in as many bytes as a call has, of a callee farther away than a branch reaches. */
#include "pattern.inc"
f:
	.cfi_startproc
	call	*0x100(%rdi,%rcx,8)
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	.cfi_endproc
	callees
	plan PLAN_SITE
	call_of 0x7f0012340000
