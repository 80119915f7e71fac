/* Behind the call there is an entry of this frame, or the agent is asked. */
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
	stub BEFORE, CALL, first=pushed-before, done=done-before
before:
	begin_push
	put_entry 0x777
	incl	counters(%rip)
	lea	32(%r11), %r11
	mov	%r11, %fs:TOP
pushed:
	movq	$0x55, %fs:ID
done:
	pop	%r11
	jmp	a
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
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	jmp	behind
