/* A jump over it and what is behind; a trampoline makes the call, with the target in a register. */
#include "pattern.inc"
	area
f:
	test	%rdx, %rdx
	je	1f
	mov	%rdi, %rdx
1:	jmp	choose
	nop4
behind:
	ret
	callees

	.section .stubs, "ax", @progbits
	stub AFTER, SITE, first=moved-after, done=moved-after
after:
	subq	$7, %fs:ID
moved:
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	jmp	behind
	stub BEFORE, CALL, first=done-before, done=done-before
before:
	lea	-8(%rsp), %rsp
	addq	$7, %fs:ID
done:
	lea	8(%rsp), %rsp
	movabs	$a, %r11
	jmp	trampoline
	stub DISPATCH, SITE, first=choose-literals, done=choose-literals
literals:
	.quad	a
choose:
	mov	%rax, %r11
	cmp	literals(%rip), %r11
	je6	before
	push	$1b + 2
	movl	$0, 4(%rsp)
	push	$SITE
	jmp	discover
