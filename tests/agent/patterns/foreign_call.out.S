/* The id is that of foreign code again before the callee begins. */
#include "pattern.inc"
	area
f:
next:
	call	before
	ret
	callees

	.section .stubs, "ax", @progbits
	stub FOREIGN, FUNCTION, first=before-data, done=done-data
data:
	.quad	next
before:
	pushq	foreign(%rip)
	popq	%fs:ID
done:
	jmp	a
