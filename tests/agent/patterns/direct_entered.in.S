/* A direct call to whose return address a branch leads, too. */
#include "pattern.inc"
f:
	.cfi_startproc
	call	a
1:	lea	1(%rbx), %rcx
	lea	-1(%rcx), %rbx
	test	%rbx, %rbx
	jne	1b
	ret
	.cfi_endproc
	callees
	plan PLAN_SITE
	call_of a, pushes=1, restart=0x55, record=0x777
