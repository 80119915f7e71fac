/*
 * entry.S - from a stub into the agent and back: saves every register, goes to the agent's own stack, calls C.
 *
 * The stub has pushed a number; above it is the return address of the program's call:
 *
 *      number            <- %rsp at entry; C writes over it where to go on
 *      return address
 *
 * The program's stack takes the saved general registers only: an alternate signal stack may be small. The agent's stack, of
 * agent_thread.agent_stack, holds the vector registers, which the C library's memcpy may change. When it is in use (a handler
 * interrupted the agent) the program's stack is used. A thread that is on an alternate stack blocks all signals before it leaves that: the
 * kernel would begin another handler of SA_ONSTACK at its top.
 *
 * struct agent_saved (entry.h) is what C sees, in this order from low addresses on.
 */
#include "agent/threads/entry_offsets.h"

	.text

	.macro PUSH register
	push	\register
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \register, 0
	.endm

	.macro POP register
	pop	\register
	.cfi_adjust_cfa_offset -8
	.cfi_restore \register
	.endm

	/*
	 * name: the label; handler: the C function, called with the saved registers; return: where the program's return address is above
	 * the number, and above: how many bytes the stub has pushed from there on. An unwinder passes at every instruction.
	 */
	.macro ENTRY_POINT name, handler, return=8, above=0
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	.cfi_def_cfa_offset 8 + \return + \above
	.cfi_offset %rip, -8 - \above
	pushfq
	.cfi_adjust_cfa_offset 8
	cld
	PUSH	%rax
	PUSH	%rcx
	PUSH	%rdx
	PUSH	%rbx
	PUSH	%rbp
	PUSH	%rsi
	PUSH	%rdi
	PUSH	%r8
	PUSH	%r9
	PUSH	%r10
	PUSH	%r11
	PUSH	%r12
	PUSH	%r13
	PUSH	%r14
	PUSH	%r15
	mov	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	mov	agent_thread@gottpoff(%rip), %r12
	cmpb	$0, %fs:AGENT_ALTERNATE_OFFSET(%r12)
	je	4f
	and	$-16, %rsp
	call	agent_block_early
4:	mov	%fs:AGENT_STACK_OFFSET(%r12), %rcx
	test	%rcx, %rcx
	jz	1f
	movq	$0, %fs:AGENT_STACK_OFFSET(%r12)
	mov	%rcx, %rsp
1:	mov	%rcx, %r13
	mov	agent_xsave_bytes(%rip), %rax
	sub	%rax, %rsp
	and	$-64, %rsp
	mov	%rsp, %r14
	/* The header of the area must be zero. */
	xor	%eax, %eax
	lea	512(%r14), %rdi
	mov	$8, %ecx
	rep stosq
	mov	agent_xsave_mask(%rip), %eax
	xor	%edx, %edx
	xsave64	(%r14)
	mov	%rbx, %rdi
	call	\handler
	mov	agent_xsave_mask(%rip), %eax
	xor	%edx, %edx
	xrstor64 (%r14)
	test	%r13, %r13
	jz	2f
	mov	%r13, %fs:AGENT_STACK_OFFSET(%r12)
2:	mov	%rbx, %rsp
	cmpl	$0, %fs:AGENT_LATE_OFFSET(%r12)
	je	3f
	and	$-16, %rsp
	call	agent_unblock_late
	mov	%rbx, %rsp
3:
	.cfi_def_cfa_register %rsp
	POP	%r15
	POP	%r14
	POP	%r13
	POP	%r12
	POP	%r11
	POP	%r10
	POP	%r9
	POP	%r8
	POP	%rdi
	POP	%rsi
	POP	%rbp
	POP	%rbx
	POP	%rdx
	POP	%rcx
	POP	%rax
	popfq
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	/* A call that is not known: goes on where C says. */
	ENTRY_POINT agent_discover_entry, agent_discover
	/* Foreign code entered a function that is hooked. */
	ENTRY_POINT agent_entered_entry, agent_entered
	/* Behind a call: called, with the address behind it on top and above that two registers. */
	ENTRY_POINT agent_returned_entry, agent_returned, return=8, above=16
	/* The loader has changed what is loaded: goes on where C says. */
	ENTRY_POINT agent_loader_entry, agent_loader
	/* The thread has no context stack: called from a stub, which has pushed a register; it then looks again. */
	ENTRY_POINT agent_grow, agent_begin_thread, return=16

	/* Where a jump over frames lands, before the program goes on there. */
	.macro LANDING name, handler
	.globl	\name
	.hidden	\name
	.balign	16
\name:
	endbr64
	push	$0
	jmp	\name\()_saved
	ENTRY_POINT \name\()_saved, \handler, return=0
	.endm

	LANDING	agent_land, agent_landed
	/* The same for a cleanup of a cancellation (cancel.c). */
	LANDING	agent_land_cleanup, agent_landed_cleanup

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
	ret

	.section .note.GNU-stack, "", @progbits
