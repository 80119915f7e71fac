/* The stub makes the room of the return address before it pushes, so that the entry has the key that the callee's frame will have. */
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
	stub AFTER, SITE, first=moved-after, done=undone-after
after:
	push	%rax
	push	%r11
	mov	%fs:TOP, %r11
	cmp	%rsp, -24(%r11)
	je	1f
	push	$back
	movl	$0, 4(%rsp)
	call	returned
	pop	%r11
	jmp	out
1:	take_off
	cmp	%rsp, -24(%r11)
	je	1b
	mov	%r11, %fs:TOP
undone:
out:
	pop	%r11
	pop	%rax
moved:
	jmp	back
	stub BEFORE, CALL, first=pushed-before, done=done-before
before:
	lea	-8(%rsp), %rsp
	begin_push
	put_entry 0x777
	incl	counters(%rip)
	lea	32(%r11), %r11
	mov	%r11, %fs:TOP
pushed:
	movq	$0x55, %fs:ID
done:
	pop	%r11
	lea	8(%rsp), %rsp
	jmp	trampoline
