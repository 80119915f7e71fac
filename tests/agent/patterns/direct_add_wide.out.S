/* Goes through a register, which is kept. */
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
	push	%r11
	movabs	$0x123456789a, %r11
	add	%r11, %fs:ID
done:
	pop	%r11
	jmp	a
	stub AFTER, SITE, first=moved-after, done=undone-after
after:
	push	%r11
	movabs	$0x123456789a, %r11
	sub	%r11, %fs:ID
undone:
	pop	%r11
moved:
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	jmp	behind
