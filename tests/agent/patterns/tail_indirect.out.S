/* A jump, and nothing behind it. */
#include "pattern.inc"
	area
f:
	jmp	choose
	nop2
	callees

	.section .stubs, "ax", @progbits
	stub DISPATCH, SITE, first=choose-literals, done=choose-literals
literals:
	.quad	a
choose:
	mov	0x100(%rdi,%rcx,8), %r11
	cmp	literals(%rip), %r11
	je6	a
	push	$SITE - 0x80000000
	jmp	discover
