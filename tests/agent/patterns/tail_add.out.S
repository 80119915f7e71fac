/* Nothing is behind it. */
#include "pattern.inc"
	area
f:
	jmp	before
	callees

	.section .stubs, "ax", @progbits
	stub BEFORE, CALL, first=done-before, done=done-before
before:
	addq	$7, %fs:ID
done:
	jmp	a
