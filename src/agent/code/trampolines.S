/*
 * trampolines.S - room for calls that the agent makes itself, in an image that unwinders know.
 *
 * A call with no room behind it is made from a trampoline: its return address lies here, and one FDE says for every trampoline, wherever in it
 * a thread is, which return address stands for it. So exceptions, backtrace() and debuggers see a frame of this library and then the
 * caller.
 *
 * The two frames have the same CFA, by which libgcc would take one for the other where the caller catches. It tells them apart when the
 * trampoline's is a signal frame: then the address in the caller is taken for that of an instruction, so it is one less.
 *
 * The return address on the stack may be aimed elsewhere, at the program's call or from it, while a thread unwinds: an epoch can begin
 * in a timer's handler. An unwinder has then read the trampoline's address and found this FDE, but its rule reads the stack again (libgcc
 * keeps where the return address is, not what it was). So the rule looks whether that address is of a trampoline, by the trampoline's mark, and
 * takes it as it is where it is not.
 *
 *      0  call *24(trampoline), or nops and call *%r11
 *      6  jmp  *32(trampoline)        <- return address
 *     16  AGENT_TRAMPOLINE_MARK
 *     24  the callee
 *     32  the stub behind the call
 *     40  the return address of the program's call
 */
#include "agent/code/trampolines.h"

	.section .text.agent_trampolines, "ax", @progbits
	.globl	agent_trampolines
	.hidden	agent_trampolines
	.type	agent_trampolines, @function
	.balign	4096
agent_trampolines:
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 0
	/* DW_CFA_val_expression of column 16:
	 *	DW_OP_breg16 0; DW_OP_const1s -64; DW_OP_and
	 *	DW_OP_dup; DW_OP_plus_uconst 16; DW_OP_deref; DW_OP_const8u mark; DW_OP_eq; DW_OP_bra trampoline
	 *	DW_OP_drop; DW_OP_breg16 0; DW_OP_skip end
	 *  trampoline:	DW_OP_plus_uconst 40; DW_OP_deref
	 *  end:	DW_OP_lit1; DW_OP_minus */
	.cfi_escape 0x16, 0x10, 33
	.cfi_escape 0x80, 0x00, 0x09, 0x100 - AGENT_TRAMPOLINE_BYTES, 0x1a
	.cfi_escape 0x12, 0x23, AGENT_TRAMPOLINE_AT_MARK, 0x06, 0x0e
	.cfi_escape AGENT_TRAMPOLINE_MARK & 0xff, AGENT_TRAMPOLINE_MARK >> 8 & 0xff, AGENT_TRAMPOLINE_MARK >> 16 & 0xff, AGENT_TRAMPOLINE_MARK >> 24 & 0xff
	.cfi_escape AGENT_TRAMPOLINE_MARK >> 32 & 0xff, AGENT_TRAMPOLINE_MARK >> 40 & 0xff, AGENT_TRAMPOLINE_MARK >> 48 & 0xff, AGENT_TRAMPOLINE_MARK >> 56 & 0xff
	.cfi_escape 0x29, 0x28, 6, 0
	.cfi_escape 0x13, 0x80, 0x00, 0x2f, 3, 0
	.cfi_escape 0x23, AGENT_TRAMPOLINE_RETURN, 0x06
	.cfi_escape 0x31, 0x1c
	.zero	AGENT_TRAMPOLINES * AGENT_TRAMPOLINE_BYTES
	.cfi_endproc
	.size	agent_trampolines, . - agent_trampolines

	.section .note.GNU-stack, "", @progbits
