/* What tail calls have left is taken off, and the id is that of foreign code again. */
#include "pattern.inc"
	area
f:
	call	a
back:
	jmp	after
	nop2
behind:
	ret
	callees

	.section .stubs, "ax", @progbits
	stub FOREIGN, FUNCTION, first=after-data, done=moved-data
data:
	.quad	back
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
after:
	pop_if_any
	pop	%r11
	pushq	foreign(%rip)
	popq	%fs:ID
moved:
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	jmp	behind
