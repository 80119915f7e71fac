/* An entry that foreign code has called from two places, at one of which nothing can be done. */
#include "pattern.inc"
f:
	.cfi_startproc
	endbr64
	mov	%rdi, %rbx
	lea	1(%rbx), %rcx
	ret
	.cfi_endproc
	callees
	plan PLAN_ENTRY, at=f+4, len=7, restart=0x123456789a, left=2
	caller a
	caller b
