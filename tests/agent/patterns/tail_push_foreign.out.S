/* The callee begins with the id of foreign code, and nothing is counted. */
#include "pattern.inc"
	area
f:
	jmp	before
	callees

	.section .stubs, "ax", @progbits
	stub TAIL, CALL, first=pushed-before, done=done-before
before:
	testb	$0xc0, %fs:ID+7
	jne6	end
	begin_push
	cmp	%rsp, -24(%r11)
	jne	plain
	lea	-288(%r11), %r11
	cmp	%r11, %fs:BASE
	{disp32} lea	288(%r11), %r11
	ja	plain
	cmp	%rsp, -280(%r11)
	jne	plain
	pushq	%fs:ID
	popq	-32(%r11)
	movl	$0x80000778, -16(%r11)
	movq	$0, -12(%r11)
	jmp	pushed
plain:
	put_entry 0x778
	lea	32(%r11), %r11
	mov	%r11, %fs:TOP
pushed:
	pushq	foreign(%rip)
	popq	%fs:ID
done:
	pop	%r11
end:
	jmp	a
