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
 * interrupted the agent) the program's stack is used.
 *
 * struct agent_saved (entry.h) is what C sees, in this order from low addresses on.
 */
#include "agent/entry_offsets.h"

	.text

	/* name: the label; handler: the C function, called with the saved registers. */
	.macro ENTRY_POINT name, handler
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	pushfq
	cld
	push	%rax
	push	%rcx
	push	%rdx
	push	%rbx
	push	%rbp
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	.cfi_def_cfa_offset 16 + 16 * 8
	mov	%rsp, %rbx
	.cfi_def_cfa %rbx, 16 + 16 * 8
	mov	agent_thread@gottpoff(%rip), %r12
	mov	%fs:AGENT_STACK_OFFSET(%r12), %rcx
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
	.cfi_def_cfa %rsp, 16 + 16 * 8
	cmpl	$0, %fs:AGENT_LATE_OFFSET(%r12)
	je	3f
	and	$-16, %rsp
	.cfi_def_cfa_register %rbx
	call	agent_unblock_late
	mov	%rbx, %rsp
	.cfi_def_cfa_register %rsp
3:
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rbp
	pop	%rbx
	pop	%rdx
	pop	%rcx
	pop	%rax
	popfq
	.cfi_def_cfa_offset 16
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	/* A call that is not known: goes on where C says. */
	ENTRY_POINT agent_discover_entry, agent_discover
	/* Foreign code entered a function that is hooked. */
	ENTRY_POINT agent_entered_entry, agent_entered

	/* Behind a call: called, so the number is above the return address into the stub; ours drops both. */
	.globl	agent_returned_entry
	.hidden	agent_returned_entry
	.balign	16
agent_returned_entry:
	xchg	%rax, (%rsp)		/* the address in the stub */
	xchg	%rax, 8(%rsp)		/* the number */
	xchg	%rax, (%rsp)
	jmp	agent_returned_saved
	ENTRY_POINT agent_returned_saved, agent_returned

	/* The thread has no context stack: called from a stub, keeps all registers; the stub then looks again. */
	.globl	agent_grow
	.hidden	agent_grow
	.balign	16
agent_grow:
	push	$0
	jmp	agent_grow_saved
	ENTRY_POINT agent_grow_saved, agent_begin_thread

	/* Where a jump over frames lands, before the program goes on there. */
	.globl	agent_land
	.hidden	agent_land
	.balign	16
agent_land:
	endbr64
	push	$0
	jmp	agent_land_saved
	ENTRY_POINT agent_land_saved, agent_landed

	/* The same for a cleanup of a cancellation (cancel.c). */
	.globl	agent_land_cleanup
	.hidden	agent_land_cleanup
	.balign	16
agent_land_cleanup:
	endbr64
	push	$0
	jmp	agent_land_cleanup_saved
	ENTRY_POINT agent_land_cleanup_saved, agent_landed_cleanup

	.globl	agent_ret
	.hidden	agent_ret
agent_ret:
	ret

	.section .note.GNU-stack, "", @progbits
