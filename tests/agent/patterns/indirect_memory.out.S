/* The return address is on the stack by then. */
#include "pattern.inc"
	area
f:
	nop2
	call	choose
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	callees

	.section .stubs, "ax", @progbits
	stub DISPATCH, SITE
choose:
	mov	0x108(%rsp), %r11
	push	$SITE
	jmp	discover
