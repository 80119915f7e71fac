/*
 * thread_entry.S - the outermost frames of threads: they call sampler_thread (start.c), and have its personality routine, which the unwinder
 * calls when pthread_exit or a cancellation takes the frame off the stack.
 */
	.text

	.macro entry name, run
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.cfi_personality 0x1b, sampler_thread_personality
	endbr64
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	\run
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm

	.hidden	sampler_thread, sampler_thread_c11, sampler_thread_personality
	entry	sampler_thread_entry, sampler_thread
	entry	sampler_thread_c11_entry, sampler_thread_c11

	.section .note.GNU-stack, "", @progbits
