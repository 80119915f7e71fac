/* A direct call that pushes, with no room behind it. */
#include "pattern.inc"
f:
	.cfi_startproc
	call	a
	sub	$1, %rbx
1:	add	$1, %rcx
	jne	1b
	ret
	.cfi_endproc
	callees
	plan PLAN_SITE
	call_of a, pushes=1, restart=0x55, record=0x777
