/* The program's own call. */
#include "pattern.inc"
	area
f:
	call	a
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	callees
	.section .stubs, "ax", @progbits
