/* Behind the call there may be no entry, though each call pushes. */
#include "pattern.inc"
	area
f:
	call	before
1:	jmp	after
	nop3
behind:
	test	%rbx, %rbx
	jne	1b
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
	pop_if_any
undone:
	pop	%r11
moved:
	lea	1(%rbx), %rcx
	lea	-1(%rcx), %rbx
	jmp	behind
