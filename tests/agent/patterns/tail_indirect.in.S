/* An indirect tail call, in as many bytes as a jump has. */
#include "pattern.inc"
f:
	.cfi_startproc
	jmp	*0x100(%rdi,%rcx,8)
	.cfi_endproc
	callees
	plan PLAN_SITE
	call_of a
