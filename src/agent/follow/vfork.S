/*
 * vfork.S - vfork: the child runs in the memory of its parent, so also with its context, until it ends or execs; then the parent goes on
 * where the child began, and its context must be what it was.
 *
 * All memory is the child's meanwhile, the stack below this call too. The parent's registers are its own: what its context is made of is
 * kept in those that the call need not keep, vector registers among them, which the kernel does not change either.
 *
 *      %rdi  the return address, as in the C library's vfork
 *      %xmm0 id, top          %rsi  base               %rdx  agent_stack
 *      %xmm1 root, outer      %r8   landing            %r9d  is_on_alternate, and of the words around it what they are
 *      %xmm2 %xmm3            the entry on top, which is the call's own
 */
#include <sys/syscall.h>

#include "agent/threads/entry_offsets.h"

	.text
	.globl	agent_vfork
	.hidden	agent_vfork
	.type	agent_vfork, @function
	.balign	16
agent_vfork:
	.cfi_startproc
	endbr64
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rdi
	mov	agent_thread@gottpoff(%rip), %r10
	add	%fs:0, %r10
	movups	AGENT_ID_OFFSET(%r10), %xmm0
	mov	AGENT_BASE_OFFSET(%r10), %rsi
	mov	AGENT_STACK_OFFSET(%r10), %rdx
	movups	AGENT_ROOT_OFFSET(%r10), %xmm1
	mov	AGENT_LANDING_OFFSET(%r10), %r8
	movzbl	AGENT_ALTERNATE_OFFSET(%r10), %r9d
	mov	AGENT_TOP_OFFSET(%r10), %rax
	test	%rax, %rax
	jz	1f
	movups	-32(%rax), %xmm2
	movups	-16(%rax), %xmm3
1:	incl	AGENT_VFORKING_OFFSET(%r10)
	mov	$SYS_vfork, %eax
	syscall
	push	%rdi
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rip, -8
	test	%eax, %eax
	jz	3f
	movups	%xmm0, AGENT_ID_OFFSET(%r10)
	mov	%rsi, AGENT_BASE_OFFSET(%r10)
	mov	%rdx, AGENT_STACK_OFFSET(%r10)
	movups	%xmm1, AGENT_ROOT_OFFSET(%r10)
	mov	%r8, AGENT_LANDING_OFFSET(%r10)
	mov	%r9b, AGENT_ALTERNATE_OFFSET(%r10)
	decl	AGENT_VFORKING_OFFSET(%r10)
	mov	AGENT_TOP_OFFSET(%r10), %rcx
	test	%rcx, %rcx
	jz	2f
	movups	%xmm2, -32(%rcx)
	movups	%xmm3, -16(%rcx)
2:	movslq	%eax, %rsi
	cmp	$-4095, %eax
	jae	agent_vfork_failed
3:	ret
	.cfi_endproc
	.size	agent_vfork, . - agent_vfork

	.weak	vfork
	.set	vfork, agent_vfork
	.weak	__vfork
	.set	__vfork, agent_vfork

	.section .note.GNU-stack, "", @progbits
