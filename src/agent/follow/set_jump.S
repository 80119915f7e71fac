/*
 * set_jump.S - interposes setjmp and its kin. They return twice, so they are jumped to: what they keep is the program's.
 *
 * agent_set_jump (jump.c) is called with the buffer, where the return address is, and the number of the function. It returns where to go on.
 */
	.text

	.macro SET_JUMP name, own, number
	.globl	\name
	.type	\name, @function
	.globl	\own
	.hidden	\own
	.balign	16
\name:
\own:
	.cfi_startproc
	endbr64
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	lea	16(%rsp), %rsi
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	mov	$\number, %edx
	call	agent_set_jump
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.size	\name, . - \name
	.endm

	SET_JUMP setjmp, agent_setjmp, 0
	SET_JUMP _setjmp, agent_underscore_setjmp, 1
	SET_JUMP __sigsetjmp, agent_sigsetjmp, 2

	.section .note.GNU-stack, "", @progbits
