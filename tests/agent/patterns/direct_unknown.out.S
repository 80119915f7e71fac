/* All of these call one stub. */
#include "pattern.inc"
	area
f:
	call	unknown
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	callees
	.section .stubs, "ax", @progbits
