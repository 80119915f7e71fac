/* entry.S - calls on the agent's own stack (own_stack.h), and a `ret` (entry.h). */
#include "agent/threads/entry_point.inc"

	.text

	/* void own_stack_call(void (*fn)(void *), void *data): own_stack.h */
	.globl	own_stack_call
	.hidden	own_stack_call
	.type	own_stack_call, @function
	.balign	16
own_stack_call:
	.cfi_startproc
	endbr64
	PUSH	%rbx
	PUSH	%r12
	PUSH	%r13
	mov	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	mov	agent_thread@gottpoff(%rip), %r12
	mov	%fs:AGENT_STACK_OFFSET(%r12), %r13
	test	%r13, %r13
	jz	1f
	movq	$0, %fs:AGENT_STACK_OFFSET(%r12)
	mov	%r13, %rsp
1:	and	$-16, %rsp
	mov	%rdi, %rax
	mov	%rsi, %rdi
	call	*%rax
	test	%r13, %r13
	jz	2f
	mov	%r13, %fs:AGENT_STACK_OFFSET(%r12)
2:	mov	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	POP	%r13
	POP	%r12
	POP	%rbx
	ret
	.cfi_endproc
	.size	own_stack_call, . - own_stack_call

	.globl	agent_ret
	.hidden	agent_ret
agent_ret:
	.cfi_startproc
	ret
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
