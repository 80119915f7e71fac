/* Where the id is that of foreign code: the function's own, or the agent is asked. */
#include "pattern.inc"
	area
f:
	endbr64
	jmp	hook
	nop2
behind:
	ret
	callees

	.section .stubs, "ax", @progbits
	stub ENTRY, FUNCTION, first=hook-literals, done=own-literals
literals:
	.quad	a, b
hook:
	cmpl	$0x80000000, %fs:ID+4
	jne	own
	cmpl	$0, %fs:ID
	jne	own
	push	%r11
	mov	8(%rsp), %r11
	cmp	literals(%rip), %r11
	je	known
	cmp	literals+8(%rip), %r11
	je	left
	pop	%r11
	push	$FUNCTION
	jmp	entered
known:
	movabs	$0x123456789a, %r11
	mov	%r11, %fs:ID
left:
	pop	%r11
own:
	mov	%rdi, %rbx
	lea	1(%rbx), %rcx
	jmp	behind
