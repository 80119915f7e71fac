/* A jump over both, to a stub that does what comes before. */
#include "pattern.inc"
	area
	.org 0x80
f:
	jmp	lead
	callees

	.section .stubs, "ax", @progbits
	stub BEFORE, CALL, first=done-before, done=done-before
before:
	addq	$7, %fs:ID
done:
	jmp	a
	stub DISPATCH, SITE, done=moved-lead
lead:
	mov	%rdi, %rdx
moved:
	jump5	before
