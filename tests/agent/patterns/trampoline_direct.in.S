/* A direct call with no room behind it: a branch leads to what comes next. */
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
	plan PLAN_SITE, addend=7
	call_of a
