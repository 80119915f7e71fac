/* The stub behind the call adds the negated addend by lea: two registers, and no flag changes. */
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
	push	%r11
	movabs	$0x123456789a, %r11
	add	%r11, %fs:ID
done:
	pop	%r11
	jmp	a
	stub AFTER, SITE, first=moved-after, done=undone-after
after:
	push	%rcx
	push	%r11
	mov	%fs:ID, %rcx
	movabs	$-0x123456789a, %r11
	lea	(%rcx,%r11), %rcx
	mov	%rcx, %fs:ID
undone:
	pop	%r11
	pop	%rcx
moved:
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	jmp	behind
