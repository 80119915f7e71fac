/*
 * dlsym.S - dlsym interposes the C library's: java_dlsym (launch.c) looks at the name first. Whatever it does not answer goes on
 * to the C library's function by a jump, which keeps the return address: RTLD_NEXT means "behind the caller's library".
 *
 *      rdi  handle      rsi  name      (rsp)  the caller
 */
	.text
	.globl	dlsym
	.type	dlsym, @function
	.balign	16
dlsym:
	.cfi_startproc
	endbr64
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	java_dlsym		/* rax: the answer, or 0; rdx: the C library's dlsym */
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	test	%rax, %rax
	jnz	1f
	jmp	*%rdx
1:	ret
	.cfi_endproc
	.size	dlsym, . - dlsym
	.section .note.GNU-stack, "", @progbits
