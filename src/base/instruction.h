/*
 * instruction.h - how long an x86-64 instruction is, where it leads, which operand it has in memory or in a general register, and
 * which general registers it writes to.
 * Enough to say what an instruction that faulted asked for. What it computes is not told: the opcode is, for whoever follows some of them.
 *
 *      prefixes  REX | VEX | EVEX   opcode   ModRM  SIB  displacement   immediate
 *
 * Source: Intel SDM, volume 2, chapters 2 and appendix A; XOP and 3DNow! are not known.
 */
#ifndef WM_BASE_INSTRUCTION_H
#define WM_BASE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	INSTRUCTION_BYTES_MAX = 15,
	INSTRUCTION_NONE = 0xff, /* of a register */
	INSTRUCTION_RIP = 0xfe,  /* as the base: the address of the next instruction */
};

enum instruction_kind {
	INSTRUCTION_OTHER = 0,
	INSTRUCTION_CALL,
	INSTRUCTION_JUMP,   /* unconditional */
	INSTRUCTION_BRANCH, /* conditional */
	INSTRUCTION_RETURN,
	INSTRUCTION_DIVIDE, /* by an integer, the operand */
	INSTRUCTION_TRAP,   /* ud0, ud1, ud2 */
};

struct instruction {
	enum instruction_kind kind;
	uint8_t len_bytes;
	bool is_direct;      /* a call, jump or branch to `target` */
	bool has_operand;    /* the ModRM byte's: a register, or memory */
	bool is_memory;      /* the operand is */
	bool is_far;         /* memory, relative to fs or gs, or in a way that is not told here */
	bool is_fs;          /* memory, relative to fs */
	bool is_wide;        /* operands of 64 bits by REX.W */
	bool is_vector;      /* VEX or EVEX: `opcode` is one of theirs */
	uint8_t reg;         /* DWARF number of the operand's register; INSTRUCTION_NONE */
	uint8_t base, index; /* DWARF numbers of memory's; INSTRUCTION_NONE, INSTRUCTION_RIP */
	uint8_t scale;
	uint8_t operand_bytes; /* of an integer operand */
	uint8_t alignment;     /* that the memory operand must have; 1: any */
	uint8_t map;           /* of the opcode: 0; 1, 2, 3: behind 0f, 0f 38, 0f 3a */
	uint8_t opcode;
	uint8_t extension; /* ModRM.reg, three bits */
	uint8_t other;     /* DWARF number of the register that ModRM.reg or the opcode's low bits name */
	uint16_t written;  /* bit n: it writes to the general register of DWARF number n; of usual instructions */
	int32_t displacement;
	int64_t immediate;
	uint64_t target;
};

/* bytes[len_bytes] are at `address`. false: it is cut, too long, or not known. */
bool instruction_decode(const uint8_t *bytes, size_t len_bytes, uint64_t address, struct instruction *ret);

#endif
