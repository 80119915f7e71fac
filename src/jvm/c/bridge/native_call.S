/*
 * native_call.S - where the thunks of native methods jump to (native_code.c).
 *
 * Entry: all as the virtual machine calls the method, and r11: its struct thunk. What a JNI function is passed fits into six integer and
 * eight floating-point registers of eight bytes each, and words on the stack. The frame:
 *
 *      rbp + 16   words on the stack, which are copied for the method
 *      rbp        the caller's rbp, below it rbx and r12
 *      rsp + 112  struct native_call
 *      rsp + 48   xmm0 .. xmm7
 *      rsp        rdi, rsi, rdx, rcx, r8, r9; behind the call rax and, at 48, xmm0
 */
	.text
	.globl	jvm_native_call
	.hidden	jvm_native_call
	.type	jvm_native_call, @function
	.balign	16
jvm_native_call:
	.cfi_startproc
	cmpl	$0, jvm_native_code_is_on(%rip)
	jne	1f
	cmpl	$0, 12(%r11)
	jne	1f
	jmp	*(%r11)
1:	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	push	%rbx
	.cfi_offset %rbx, -24
	push	%r12
	.cfi_offset %r12, -32
	sub	$160, %rsp
	mov	%r11, %rbx
	mov	%rsp, %r12
	mov	%rdi, (%rsp)
	mov	%rsi, 8(%rsp)
	mov	%rdx, 16(%rsp)
	mov	%rcx, 24(%rsp)
	mov	%r8, 32(%rsp)
	mov	%r9, 40(%rsp)
	movsd	%xmm0, 48(%rsp)
	movsd	%xmm1, 56(%rsp)
	movsd	%xmm2, 64(%rsp)
	movsd	%xmm3, 72(%rsp)
	movsd	%xmm4, 80(%rsp)
	movsd	%xmm5, 88(%rsp)
	movsd	%xmm6, 96(%rsp)
	movsd	%xmm7, 104(%rsp)
	lea	112(%rsp), %rsi
	call	jvm_native_enter
	mov	8(%rbx), %ecx
	sub	%rcx, %rsp
	shr	$3, %ecx
	lea	16(%rbp), %rsi
	mov	%rsp, %rdi
	rep movsq
	mov	(%r12), %rdi
	mov	8(%r12), %rsi
	mov	16(%r12), %rdx
	mov	24(%r12), %rcx
	mov	32(%r12), %r8
	mov	40(%r12), %r9
	movsd	48(%r12), %xmm0
	movsd	56(%r12), %xmm1
	movsd	64(%r12), %xmm2
	movsd	72(%r12), %xmm3
	movsd	80(%r12), %xmm4
	movsd	88(%r12), %xmm5
	movsd	96(%r12), %xmm6
	movsd	104(%r12), %xmm7
	call	*(%rbx)
	mov	%r12, %rsp
	mov	(%r12), %rdi
	mov	%rax, (%r12)
	movsd	%xmm0, 48(%r12)
	lea	112(%r12), %rsi
	call	jvm_native_leave
	mov	(%r12), %rax
	movsd	48(%r12), %xmm0
	add	$160, %rsp
	pop	%r12
	pop	%rbx
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	jvm_native_call, . - jvm_native_call
	.section	.note.GNU-stack,"",@progbits
