/* `choose` loads the target by the index alone. */
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
	stub DISPATCH, SITE, first=choose-literals, done=choose-literals
literals:
	.quad	a
choose:
	mov	0x12345678(,%rcx,8), %r11
	cmp	literals(%rip), %r11
	je6	a
	push	$SITE
	jmp	discover
