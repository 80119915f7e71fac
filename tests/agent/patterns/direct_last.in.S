/* A direct call that does not return. */
#include "pattern.inc"
f:
	.cfi_startproc
	call	a
	.cfi_endproc
	callees
	plan PLAN_SITE, addend=7
	call_of a
