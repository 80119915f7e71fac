/*
 * assembly.S - functions without call frame information, as hand assembly has them. C calls by_push, which calls by_branches, which calls
 * by_frame, which calls back(); the registers that they use are those that compilers keep values in. on_stack(f, top) calls f on another stack.
 * on_saved(f, top) does, too, and keeps its place on that stack, as Go's asmcgocall does; of made(f), which calls f, the bytes up to made_end may be
 * copied. on_goroutine(f, top) calls f from the first function of a goroutine, as Go begins one; f ends by leave_goroutine.
 * late has call frame information that is wrong where it spends its time, as clang's is when it moves the end of a frame.
 */
	.text
	.globl by_push, on_stack, on_saved, on_goroutine, leave_goroutine, made, made_end, late
	.lcomm left, 8

by_push:
	pushq	%rbx
	pushq	%r12
	subq	$24, %rsp
	movl	%edi, %ebx
	xorl	%r12d, %r12d
0:	leal	1(%rbx), %edi
	call	by_branches
	incl	%r12d
	cmpl	$2, %r12d
	jl	0b
	addq	$24, %rsp
	popq	%r12
	popq	%rbx
	ret

/* The nearest way to a ret is a branch backwards, the way straight on is a table. */
1:	movq	(%rsp), %rbp
	movq	8(%rsp), %r13
	leaq	1000(%rsp), %rsp
	ret
by_branches:
	leaq	-1000(%rsp), %rsp
	movq	%rbp, (%rsp)
	movq	%r13, 8(%rsp)
	movl	$7, %ebp
	movq	%rsp, %r13
	call	by_frame
	testl	%ebp, %ebp
	jne	1b
	leaq	2f(%rip), %rax
	jmp	*%rax
2:	ud2

by_frame:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%r14
	subq	$8, %rsp
	andq	$-64, %rsp
	subq	$64, %rsp
	xorl	%r14d, %r14d
	call	back
	leaq	-8(%rbp), %rsp
	popq	%r14
	leave
	ret

on_stack:
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rsi, %rsp
	call	*%rdi
	leave
	ret

on_saved:
	movq	%rsp, %rdx
	leaq	-64(%rsi), %rsp
	andq	$-16, %rsp
	movq	%rdx, 40(%rsp)
	call	*%rdi
	movq	40(%rsp), %rsi
	movq	%rsi, %rsp
	ret

on_goroutine:
	pushq	%rbx
	pushq	%rbp
	movq	%rsp, left(%rip)
	leaq	-64(%rsi), %rsp
	andq	$-16, %rsp
	leaq	go_exit(%rip), %rax
	incq	%rax
	pushq	%rax
	xorl	%ebp, %ebp
go_first:
	pushq	%rbp
	movq	%rsp, %rbp
	call	*%rdi
	ud2
leave_goroutine:
	movq	left(%rip), %rsp
	popq	%rbp
	popq	%rbx
	ret
go_exit:
	nop
	call	go_exit1
	nop
go_exit1:
	ud2

made:
	pushq	%rbx
	pushq	%rbp
	subq	$40, %rsp
	movl	$9, %ebp
	movb	$7, %ah
	call	*%rdi
	testl	%ebp, %ebp
	je	0f
	addq	$40, %rsp
	popq	%rbp
	popq	%rbx
	ret
0:	ud2
made_end:

	.type	late, @function
late:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	pushq	%rax
	.cfi_def_cfa_offset 24
	addq	$8, %rsp
0:	decq	%rdi
	jnz	0b
	.cfi_def_cfa_offset 16
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	late, .-late

#ifdef ENTRY
	.globl	_start
_start:	xorl	%ebp, %ebp
	andq	$-16, %rsp
	movl	$1, %edi
	call	main
	movl	%eax, %edi
	call	exit
	hlt
#endif

	.section .note.GNU-stack, "", @progbits
