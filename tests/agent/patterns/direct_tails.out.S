/* Behind the call they are taken off, if there are any. */
#include "pattern.inc"
	area
f:
	call	before
back:
	jmp	after
	nop2
behind:
	ret
	callees

	.section .stubs, "ax", @progbits
	stub BEFORE, CALL, first=done-before, done=done-before
before:
	addq	$7, %fs:ID
done:
	jmp	a
	stub AFTER, SITE, first=moved-after, done=moved-after
after:
	pop_if_any
	pop	%r11
	subq	$7, %fs:ID
moved:
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	jmp	behind
