/* The assembly half of assembly.c: foreign code, whatever assembles it. */
	.text
	.globl	asm_call_back
	.type	asm_call_back, @function
asm_call_back:
	.cfi_startproc
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	addl	$1, %edi
	call	called_by_asm@PLT
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	asm_call_back, .-asm_call_back

	.globl	asm_call_pointer
	.type	asm_call_pointer, @function
asm_call_pointer:
	.cfi_startproc
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	movq	%rdi, %rax
	leal	1(%rsi), %edi
	call	*%rax
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	asm_call_pointer, .-asm_call_pointer

	.globl	asm_tail_pointer
	.type	asm_tail_pointer, @function
asm_tail_pointer:
	.cfi_startproc
	movq	%rdi, %rax
	leal	2(%rsi), %edi
	jmp	*%rax
	.cfi_endproc
	.size	asm_tail_pointer, .-asm_tail_pointer

	.section .note.GNU-stack,"",@progbits
