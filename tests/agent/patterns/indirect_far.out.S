/* A call that does nothing to the context gets a stub nevertheless: the compare branches there, and it reads the address. */
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
	stub BEFORE, CALL
before:
	jmp	*1f(%rip)
1:	.quad	0x7f0012340000
	stub DISPATCH, SITE, first=choose-literals, done=choose-literals
literals:
	.quad	0x7f0012340000
choose:
	mov	0x100(%rdi,%rcx,8), %r11
	cmp	literals(%rip), %r11
	je6	before
	push	$SITE
	jmp	discover
