/* Both go through a register, which is kept: the entry has the addend in its id. */
#include "pattern.inc"
	area
f:
	call	choose
back:
	jmp	after
	nop2
behind:
	ret
	callees

	.section .stubs, "ax", @progbits
	stub BEFORE, CALL, first=added-to_a, done=added-to_a
to_a:
	push	%r11
	movabs	$0x123456789a, %r11
	add	%r11, %fs:ID
added:
	pop	%r11
	jmp	a
	stub BEFORE, CALL+1, first=pushed-to_b, done=done-to_b
to_b:
	begin_push
	put_entry 0x777
	push	%rax
	movabs	$0x123456789a, %rax
	add	%rax, (%r11)
	pop	%rax
	incl	counters(%rip)
	lea	32(%r11), %r11
	mov	%r11, %fs:TOP
pushed:
	movq	$0x55, %fs:ID
done:
	pop	%r11
	jmp	b
	stub DISPATCH, SITE, first=choose-literals, done=compare-literals
literals:
	.quad	a, b
choose:
	mov	%rdi, %rdx
compare:
	mov	%rax, %r11
	cmp	literals(%rip), %r11
	je6	to_a
	cmp	literals+8(%rip), %r11
	je6	to_b
	push	$SITE
	jmp	discover
	stub AFTER, SITE, first=moved-after, done=undone-after
after:
	pop_if_any
	pop	%r11
	push	%r11
	movabs	$0x123456789a, %r11
	sub	%r11, %fs:ID
undone:
	pop	%r11
moved:
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	jmp	behind
