/* Its bytes stay: `choose` is entered from the stub behind the call before. */
#include "pattern.inc"
	area
f:
	call	a
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	call	*%rax
back:
	ret
	callees

	.section .stubs, "ax", @progbits
	stub AFTER, SITE
after:
	jmp	back
	stub BEFORE, CALL
before:
	movabs	$a, %r11
	jmp	trampoline
	stub DISPATCH, SITE, first=choose-literals, done=choose-literals
literals:
	.quad	a
choose:
	mov	%rax, %r11
	cmp	literals(%rip), %r11
	je6	before
	push	$back
	movl	$0, 4(%rsp)
	push	$SITE
	jmp	discover
