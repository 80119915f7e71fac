/*
 * insn.h - one x86-64 instruction: what patching and the analysis of functions want to know of it, and the same instruction at
 * another address.
 *
 * Decoding is Zydis's (4.0). Nothing allocates, locks or fails but by its result: safe in any thread and signal handler.
 * Registers are numbers as the hardware has them: 0 rax, 1 rcx, 2 rdx, 3 rbx, 4 rsp, 5 rbp, 6 rsi, 7 rdi, 8 .. 15 r8 .. r15;
 * sets of them are masks with bit 1 << number.
 */
#ifndef WM_AGENT_INSN_H
#define WM_AGENT_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_OTHER,
	INSN_CALL_DIRECT,
	INSN_CALL_INDIRECT, /* near, through a register or memory */
	INSN_JUMP_DIRECT,
	INSN_JUMP_CONDITIONAL, /* jcc, jrcxz, jecxz, loop and its kin */
	INSN_JUMP_INDIRECT,
	INSN_RETURN,  /* near */
	INSN_STOP,    /* ud2, ud1, hlt, int3: what follows is not reached from here */
	INSN_SYSCALL, /* syscall, int, sysenter */
	INSN_REFUSED, /* far branches, xbegin, iret: nothing here patches them */
};

/* What the analysis asks for by name; INSN_OP_OTHER is every other instruction. */
enum insn_op {
	INSN_OP_OTHER,
	INSN_OP_NOP, /* of any length */
	INSN_OP_ENDBR,
	INSN_OP_LEA,
	INSN_OP_MOV,    /* mov, also with an immediate, and movzx of 32-bit registers */
	INSN_OP_MOVSXD, /* from 32 to 64 bits, also cdqe */
	INSN_OP_ADD,
	INSN_OP_SUB,
	INSN_OP_CMP,
};

enum {
	INSN_NO_REG = 0xff,
	INSN_REG_SP = 4,
	INSN_REG_BP = 5,
	INSN_MAX_BYTES = 15,
	/* An instruction at its new address has up to this many bytes. */
	INSN_RELOCATED_MAX = 32,
	/* CF, PF, AF, ZF, SF and OF: what is dead at calls and returns. Places are those of EFLAGS. */
	INSN_FLAGS_STATUS = 0x8d5,
	INSN_FLAGS_ALL = 0xcd5, /* and DF */
};

/* Small: the analysis keeps one for each instruction of a function. */
struct insn {
	uint64_t address;
	uint64_t target; /* of direct branches; 0 for others */
	union {
		int64_t disp;        /* of the memory operand */
		uint64_t rip_target; /* with is_rip_relative: the address that the operand names */
	};
	int64_t imm; /* with has_imm */
	uint16_t regs_read;
	uint16_t regs_written; /* also those written in part, or under a condition */
	uint16_t regs_killed;  /* wholly written in any case */
	uint16_t flags_read;
	uint16_t flags_written; /* surely, or left undefined */
	uint16_t flags_touched; /* perhaps */
	uint8_t len_bytes;
	uint8_t kind; /* enum insn_kind */
	uint8_t op;   /* enum insn_op */
	/* The memory operand: [base + index * scale + disp]. INSN_NO_REG for none, also of both with is_rip_relative. */
	uint8_t base;
	uint8_t index;
	uint8_t scale;
	uint8_t disp_off_bytes; /* where a displacement of 32 bits is in the instruction; 0: there is none */
	uint8_t reg; /* first operand if that is a general register: what an indirect branch goes to, what mov writes */
	uint8_t reg_source;  /* second operand if that is a general register */
	bool has_memory : 1; /* lea's too */
	bool is_rip_relative : 1;
	bool has_segment : 1; /* %fs: or %gs: */
	bool has_imm : 1;     /* not a branch's */
	bool is_short : 1;    /* the branch has one byte for its target */
	/* Uses the stack pointer in any way, also implicitly (push, pop, call, ret, leave, enter, pushf) or in an address. */
	bool reads_stack_pointer : 1;
	bool writes_stack_pointer : 1;
	/* Writes it other than by push, pop, call, ret, leave, enter, add, sub, and, lea from rsp or rbp, mov from rbp: the stack may
	 * be another one after it. */
	bool switches_stack : 1;
};

enum {
	INSN_COMMON_AT = offsetof(struct insn, regs_read), /* from there on instructions of a shape are the same */
};

/* The instruction in the first bytes of available_bytes, which are what `address` holds. False when these are none: *ret is
 * undefined. */
bool insn_decode(const uint8_t *bytes, size_t available_bytes, uint64_t address, struct insn *ret);

/* Where instructions differ that begin alike: all else of them is said by the bytes in front of these. */
struct insn_fields {
	uint8_t shape_bytes; /* in front of displacement and immediate; 0: it is not so simple */
	uint8_t disp_at, disp_bytes;
	uint8_t imm_at, imm_bytes;
	bool is_imm_signed;
	bool is_imm_target; /* a branch's distance */
};

/* The same, and its fields. */
bool insn_decode_fields(const uint8_t *bytes, size_t available_bytes, uint64_t address, struct insn *ret,
			struct insn_fields *ret_fields);

/* Fills in address, len_bytes, kind, target, is_short and op only, in half the time. */
bool insn_decode_flow(const uint8_t *bytes, size_t available_bytes, uint64_t address, struct insn *ret);

/*
 * Writes to to_bytes what does at address `to` what the instruction does where it is: operands relative to rip are aimed anew,
 * branches get 32 bits for their target, and jrcxz and loop, which have none of that width, become
 *
 *     jrcxz 1f; jmp 2f; 1: jmp target; 2:
 *
 * bytes are those that insn was decoded from. Returns the length; 0, with to_bytes undefined, for calls (a return address is
 * the caller's concern), INSN_REFUSED, operands relative to eip, and what is out of reach (2 GB).
 */
size_t insn_relocate(const uint8_t *bytes, const struct insn *insn, uint64_t to, uint8_t to_bytes[INSN_RELOCATED_MAX]);

#endif
