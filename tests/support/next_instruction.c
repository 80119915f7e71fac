/* next_instruction.c - decodes the instruction, and computes its target from registers, flags and memory. */
#include "support/next_instruction.h"

#include "base/instruction.h"

enum {
	FLAG_CARRY = 1 << 0,
	FLAG_PARITY = 1 << 2,
	FLAG_ZERO = 1 << 6,
	FLAG_SIGN = 1 << 7,
	FLAG_OVERFLOW = 1 << 11,
	RSP = 7,
};

static bool is_prefix(uint8_t b)
{
	return b == 0x66 || b == 0x67 || b == 0xf2 || b == 0xf3 || b == 0xf0 || b == 0x2e || b == 0x36 || b == 0x3e ||
	       b == 0x26 || b == 0x64 || b == 0x65 || (b & 0xf0) == 0x40;
}

/* Behind the prefixes. The instruction was decoded: it has an opcode. */
static const uint8_t *opcode_of(const uint8_t *code)
{
	while (is_prefix(*code))
		code++;
	return code;
}

/* By the low four bits of a conditional jump's opcode. */
static bool is_met(unsigned int condition, uint64_t flags)
{
	const bool sign = flags & FLAG_SIGN, overflow = flags & FLAG_OVERFLOW;
	const bool met[8] = {
		overflow, flags & FLAG_CARRY,  flags & FLAG_ZERO, flags & (FLAG_CARRY | FLAG_ZERO),
		sign,     flags & FLAG_PARITY, sign != overflow,  flags & FLAG_ZERO || sign != overflow,
	};

	return met[condition / 2] != (condition & 1);
}

/* System calls, interrupts, far calls, jumps and returns, hlt, xbegin. */
static bool needs_trap_flag(const uint8_t *opcode)
{
	switch (opcode[0]) {
	case 0x0f:
		return opcode[1] == 0x05 || opcode[1] == 0x34;
	case 0xca ... 0xcf:
	case 0xf1:
	case 0xf4:
		return true;
	case 0xc7:
		return opcode[1] == 0xf8;
	case 0xff:
		return (opcode[1] >> 3 & 7) == 3 || (opcode[1] >> 3 & 7) == 5;
	default:
		return false;
	}
}

static bool indirect_target(const struct next_state *s, const struct instruction *i,
			    bool (*read)(uint64_t address, void *to, size_t len_bytes), uint64_t *ret)
{
	uint64_t address = (uint64_t)i->displacement;

	if (!i->is_memory) {
		*ret = s->r[i->reg];
		return i->reg != INSTRUCTION_NONE;
	}
	if (i->is_far)
		return false;
	if (i->base == INSTRUCTION_RIP)
		address += s->pc + i->len_bytes;
	else if (i->base != INSTRUCTION_NONE)
		address += s->r[i->base];
	if (i->index != INSTRUCTION_NONE)
		address += s->r[i->index] * i->scale;
	return read(address, ret, sizeof *ret);
}

bool next_instruction(const struct next_state *s, const uint8_t *code, size_t len_bytes,
		      bool (*read)(uint64_t address, void *to, size_t len_bytes), uint64_t *ret)
{
	struct instruction i;
	const uint8_t *opcode;

	if (!instruction_decode(code, len_bytes, s->pc, &i))
		return false;
	opcode = opcode_of(code);
	switch (i.kind) {
	case INSTRUCTION_TRAP:
		return false;
	case INSTRUCTION_RETURN:
		return read(s->r[RSP], ret, sizeof *ret);
	case INSTRUCTION_CALL:
	case INSTRUCTION_JUMP:
		if (!i.is_direct)
			return indirect_target(s, &i, read, ret);
		*ret = i.target;
		return true;
	case INSTRUCTION_BRANCH:
		if ((opcode[0] & 0xfc) == 0xe0) /* loop, jrcxz */
			return false;
		*ret = is_met((opcode[0] == 0x0f ? opcode[1] : opcode[0]) & 15, s->flags) ? i.target
											  : s->pc + i.len_bytes;
		return true;
	default:
		*ret = s->pc + i.len_bytes;
		return !needs_trap_flag(opcode);
	}
}
