/* The call that foreign code makes next. */
#include "pattern.inc"
f:
	.cfi_startproc
next:
	call	a
	ret
	.cfi_endproc
	callees
	plan PLAN_FOREIGN_CALL, at=next, len=5, to=a
