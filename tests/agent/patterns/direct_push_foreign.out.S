/* The callee begins with the id of foreign code; keys are compared without flags. */
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
	stub BEFORE, CALL, first=pushed-before, done=done-before
before:
	begin_push
	put_entry 0x778
	lea	32(%r11), %r11
	mov	%r11, %fs:TOP
pushed:
	pushq	foreign(%rip)
	popq	%fs:ID
done:
	pop	%r11
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
	jmp	undone
1:	take_off
	mov	-24(%r11), %rcx
	not	%rcx
	lea	1(%rsp,%rcx), %rcx
	jrcxz	1b
	mov	%r11, %fs:TOP
undone:
	pop	%r11
	pop	%rcx
moved:
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	jmp	behind
