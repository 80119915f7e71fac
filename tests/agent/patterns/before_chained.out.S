/* The stub behind it goes on in `choose` of the other. */
#include "pattern.inc"
	area
f:
	call	a
	jmp	after
	nop2
	call	*%rax
	ret
	callees

	.section .stubs, "ax", @progbits
	stub AFTER, SITE, first=moved-after
after:
moved:
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	jmp	next_dispatch
