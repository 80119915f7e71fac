/* The other one can go on in the function. */
#include "pattern.inc"
	area
f:
	jmp	enter
	nop2
behind:
	call	a
	ret
	callees

	.section .stubs, "ax", @progbits
	stub FOREIGN, FUNCTION, first=enter-data, done=own-data
data:
	.quad	f
	mov	%rdi, %rbx
	lea	1(%rbx), %rcx
enter:
	jmp	b
own:
	mov	%rdi, %rbx
	lea	1(%rbx), %rcx
	jmp	behind
