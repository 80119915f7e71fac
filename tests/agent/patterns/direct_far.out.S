/* The stub in front of the call reads the address of the callee from behind its jump. */
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
	jmp	*1f(%rip)
1:	.quad	0x7f0012340000
	stub AFTER, SITE, first=moved-after, done=moved-after
after:
	subq	$7, %fs:ID
moved:
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	jmp	behind
