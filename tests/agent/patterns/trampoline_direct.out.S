/* A trampoline makes the call: nothing is on the stack before. */
#include "pattern.inc"
	area
f:
	jmp	before
back:
	sub	$1, %rbx
1:	add	$1, %rcx
	jne	1b
	ret
	callees

	.section .stubs, "ax", @progbits
	stub AFTER, SITE, first=moved-after, done=moved-after
after:
	subq	$7, %fs:ID
moved:
	jmp	back
	stub BEFORE, CALL, first=done-before, done=done-before
before:
	lea	-8(%rsp), %rsp
	addq	$7, %fs:ID
done:
	lea	8(%rsp), %rsp
	jmp	trampoline
