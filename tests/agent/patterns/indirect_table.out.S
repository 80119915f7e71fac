/* They are looked up in a table. */
#include "pattern.inc"
	area
f:
	nop
	call	choose
	mov	%rax, %rbx
	lea	1(%rbx), %rcx
	ret
	callees

	.section .stubs, "ax", @progbits
	stub DISPATCH, SITE
choose:
	mov	a(%rip), %r11
	push	%rax
	push	%rcx
	imul	$-0x61c8864f, %r11d, %eax
	shr	$(32 - SLOT_BITS), %eax
	shl	$4, %eax
	movabs	$SLOTS, %rcx
again:
	cmp	(%rcx,%rax), %r11
	je	found
	cmpq	$0, (%rcx,%rax)
	je	other
	add	$16, %eax
	and	$((1 << SLOT_BITS) - 1) << 4, %eax
	jmp	again
found:
	mov	8(%rcx,%rax), %r11
	pop	%rcx
	pop	%rax
	jmp	*%r11
other:
	pop	%rcx
	pop	%rax
	push	$SITE
	jmp	discover
