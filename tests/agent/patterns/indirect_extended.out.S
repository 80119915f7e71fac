/* `choose` loads the target with the same prefix bits. */
#include "pattern.inc"
	area
f:
	nop3
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
	mov	0x100(%r8,%r13,4), %r11
	cmp	literals(%rip), %r11
	je6	a
	push	$SITE
	jmp	discover
