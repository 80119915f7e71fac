/* A jump over these. */
#include "pattern.inc"
	area
	.org 0x80
f:
	jmp	before
	.byte	0, 0
	callees

	.section .stubs, "ax", @progbits
	stub BEFORE, CALL, first=done-before, done=done-before
before:
	addq	$7, %fs:ID
done:
	jmp	a
