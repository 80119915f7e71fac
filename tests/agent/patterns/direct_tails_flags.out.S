/* The entries are taken off first, then the addend: both without flags, by the same two registers. */
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
	mov	%fs:TOP, %r11
	mov	-24(%r11), %rcx
	not	%rcx
	lea	1(%rsp,%rcx), %rcx
	jrcxz	1f
	jmp	none
1:	take_off
	mov	-24(%r11), %rcx
	not	%rcx
	lea	1(%rsp,%rcx), %rcx
	jrcxz	1b
	mov	%r11, %fs:TOP
none:
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
