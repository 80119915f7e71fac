/* An indirect call whose base and index are registers that need a prefix. */
#include "pattern.inc"
f:
	.cfi_startproc
	call	*0x100(%r8,%r13,4)
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	.cfi_endproc
	callees
	plan PLAN_SITE
	call_of a
