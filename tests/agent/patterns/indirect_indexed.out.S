/* A call that does nothing goes to its callee from `choose`. */
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
	stub DISPATCH, SITE, first=choose-literals, done=compare-literals
literals:
	.quad	a
choose:
	mov	%rdi, %rdx
compare:
	{disp32} mov	16(%rbx,%rcx,8), %r11
	cmp	literals(%rip), %r11
	je6	a
	push	$SITE
	jmp	discover
