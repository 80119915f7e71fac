/* The stub behind the call subtracts without flags. */
#include "pattern.inc"
	area
f:
	call	before
back:
	jmp	after
	nop2
behind:
	jc	1f
	mov	%rcx, %rdx
1:	ret
	callees

	.section .stubs, "ax", @progbits
	stub BEFORE, CALL, first=done-before, done=done-before
before:
	addq	$300, %fs:ID
done:
	jmp	a
	stub AFTER, SITE, first=moved-after, done=undone-after
after:
	push	%rcx
	push	%r11
	mov	%fs:ID, %rcx
	lea	-300(%rcx), %rcx
	mov	%rcx, %fs:ID
undone:
	pop	%r11
	pop	%rcx
moved:
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	jmp	behind
