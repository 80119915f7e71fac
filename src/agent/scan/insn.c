/*
 * insn.c - what Zydis says of an instruction, boiled down, and the same instruction written for another address.
 *
 * Zydis's decoder is a table walk over the caller's bytes into the caller's structs: it calls nothing.
 */
#include "agent/scan/insn.h"

#include <assert.h>
#include <string.h>

#include <Zydis/Zydis.h>

static_assert(sizeof(struct insn) <= 64, "one for each instruction of a function");
static_assert(ZYDIS_CPUFLAG_OF == 0x800 && ZYDIS_CPUFLAG_DF == 0x400, "flags have their places in EFLAGS");

/* The number of a general register of any width; INSN_NO_REG for others. */
static uint8_t general_number(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return INSN_NO_REG;
	return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
}

static uint16_t general_bit(uint8_t number)
{
	return number == INSN_NO_REG ? 0 : (uint16_t)(1U << number);
}

static enum insn_kind kind_of_branch(const ZydisDecodedInstruction *z)
{
	bool is_direct = z->raw.imm[0].is_relative;

	if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || z->mnemonic == ZYDIS_MNEMONIC_XBEGIN)
		return INSN_REFUSED;
	if (z->meta.category == ZYDIS_CATEGORY_CALL)
		return is_direct ? INSN_CALL_DIRECT : INSN_CALL_INDIRECT;
	if (z->meta.category == ZYDIS_CATEGORY_UNCOND_BR)
		return is_direct ? INSN_JUMP_DIRECT : INSN_JUMP_INDIRECT;
	return INSN_JUMP_CONDITIONAL;
}

static enum insn_kind kind_of(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
		return INSN_STOP;
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_INT:
		return INSN_SYSCALL;
	case ZYDIS_MNEMONIC_RET:
		return z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? INSN_REFUSED : INSN_RETURN;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_XBEGIN:
		return INSN_REFUSED;
	case ZYDIS_MNEMONIC_JKZD: /* of Xeon Phi */
	case ZYDIS_MNEMONIC_JKNZD:
		return INSN_REFUSED;
	default:
		break;
	}
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return kind_of_branch(z);
	default:
		return INSN_OTHER;
	}
}

static enum insn_op op_of(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_NOP:
		return INSN_OP_NOP;
	case ZYDIS_MNEMONIC_ENDBR64:
		return INSN_OP_ENDBR;
	case ZYDIS_MNEMONIC_LEA:
		return INSN_OP_LEA;
	case ZYDIS_MNEMONIC_MOV:
		return INSN_OP_MOV;
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_CDQE:
		return INSN_OP_MOVSXD;
	case ZYDIS_MNEMONIC_ADD:
		return INSN_OP_ADD;
	case ZYDIS_MNEMONIC_SUB:
		return INSN_OP_SUB;
	case ZYDIS_MNEMONIC_CMP:
		return INSN_OP_CMP;
	default:
		return INSN_OP_OTHER;
	}
}

static void add_memory(const ZydisDecodedInstruction *z, const ZydisDecodedOperandMem *mem, struct insn *i)
{
	i->regs_read |= general_bit(general_number(mem->base)) | general_bit(general_number(mem->index));
	/* String instructions and push have more operands in memory than the one that is encoded. */
	if (i->has_memory || !(z->attributes & ZYDIS_ATTRIB_HAS_MODRM) || z->raw.modrm.mod == 3)
		return;
	i->has_memory = true;
	i->has_segment = mem->segment == ZYDIS_REGISTER_FS || mem->segment == ZYDIS_REGISTER_GS;
	if (z->raw.disp.size == 32)
		i->disp_off_bytes = z->raw.disp.offset;
	if (mem->base == ZYDIS_REGISTER_RIP || mem->base == ZYDIS_REGISTER_EIP) {
		i->is_rip_relative = true;
		i->rip_target = i->address + i->len_bytes + (uint64_t)z->raw.disp.value;
		if (mem->base == ZYDIS_REGISTER_EIP)
			i->kind = INSN_REFUSED;
		return;
	}
	i->base = general_number(mem->base);
	i->index = general_number(mem->index);
	i->scale = mem->scale;
	i->disp = mem->disp.has_displacement ? mem->disp.value : 0;
}

static void add_register(const ZydisDecodedOperand *operand, struct insn *i)
{
	uint8_t number = general_number(operand->reg.value);
	uint16_t bit = general_bit(number);
	bool is_wide = operand->size >= 32;

	if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		i->regs_read |= bit;
	if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		i->regs_written |= bit;
	if ((operand->actions & ZYDIS_OPERAND_ACTION_WRITE) && is_wide)
		i->regs_killed |= bit;
	if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		return;
	if (operand->id == 0)
		i->reg = number;
	else if (operand->id == 1)
		i->reg_source = number;
}

static void add_operands(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands, struct insn *i)
{
	for (size_t n = 0; n < z->operand_count; n++) {
		const ZydisDecodedOperand *operand = &operands[n];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			add_memory(z, &operand->mem, i);
		} else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			add_register(operand, i);
		} else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !operand->imm.is_relative) {
			i->has_imm = true;
			i->imm = operand->imm.value.s;
		}
	}
	/* Zeroes, whatever was in it. */
	if (z->mnemonic == ZYDIS_MNEMONIC_XOR && i->reg != INSN_NO_REG && i->reg == i->reg_source &&
	    operands[0].size >= 32)
		i->regs_read &= (uint16_t)~general_bit(i->reg);
}

/* A count of 0 leaves the flags as they are. */
static bool may_keep_flags(const ZydisDecodedInstruction *z)
{
	return z->meta.category == ZYDIS_CATEGORY_SHIFT || z->meta.category == ZYDIS_CATEGORY_ROTATE ||
	       z->mnemonic == ZYDIS_MNEMONIC_SHLD || z->mnemonic == ZYDIS_MNEMONIC_SHRD ||
	       (z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE));
}

static void add_flags(const ZydisDecodedInstruction *z, struct insn *i)
{
	const ZydisAccessedFlags *flags = z->cpu_flags;
	uint32_t touched;

	if (!flags)
		return;
	touched = flags->modified | flags->set_0 | flags->set_1 | flags->undefined;
	i->flags_read = (uint16_t)(flags->tested & INSN_FLAGS_ALL);
	i->flags_touched = (uint16_t)(touched & INSN_FLAGS_ALL);
	i->flags_written = may_keep_flags(z) ? 0 : i->flags_touched;
}

/* Writes of rsp that leave it in the same stack. */
static bool stays_in_stack(const ZydisDecodedInstruction *z, const struct insn *i)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_LEAVE: /* from rbp */
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
		return true;
	case ZYDIS_MNEMONIC_LEA:
		return i->base == INSN_REG_SP || i->base == INSN_REG_BP;
	case ZYDIS_MNEMONIC_MOV:
		return i->reg_source == INSN_REG_BP;
	default:
		return z->operand_count_visible == 0 || i->reg != INSN_REG_SP;
	}
}

static void add_stack(const ZydisDecodedInstruction *z, struct insn *i)
{
	uint16_t sp = 1U << INSN_REG_SP;

	i->reads_stack_pointer = (i->regs_read & sp) != 0;
	i->writes_stack_pointer = (i->regs_written & sp) != 0;
	if (!i->writes_stack_pointer)
		return;
	i->reads_stack_pointer = true;
	/* xchg and xadd may name rsp second. */
	i->switches_stack =
		!stays_in_stack(z, i) || (i->reg_source == INSN_REG_SP &&
					  (z->mnemonic == ZYDIS_MNEMONIC_XCHG || z->mnemonic == ZYDIS_MNEMONIC_XADD));
}

/* The kernel's convention: what it reads, and that it leaves rip and the flags in rcx and r11. */
static void add_syscall(struct insn *i)
{
	i->regs_read |= 0x07c5; /* rax rdx rsi rdi r8 r9 r10 */
	i->regs_written |= 0x0803;
	i->flags_read = 0;
	i->flags_written = 0;
}

/* Where control goes: all that needs no operands. */
static bool decode_flow(const uint8_t *bytes, size_t available_bytes, uint64_t address, ZydisDecoder *decoder,
			ZydisDecoderContext *context, ZydisDecodedInstruction *z, struct insn *ret)
{
	if (available_bytes > INSN_MAX_BYTES)
		available_bytes = INSN_MAX_BYTES;
	if (!ZYAN_SUCCESS(ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, context, bytes, available_bytes, z)))
		return false;
	*ret = (struct insn){.address = address,
			     .len_bytes = z->length,
			     .base = INSN_NO_REG,
			     .index = INSN_NO_REG,
			     .reg = INSN_NO_REG,
			     .reg_source = INSN_NO_REG};
	ret->kind = (uint8_t)kind_of(z);
	ret->op = (uint8_t)op_of(z);
	if (ret->kind == INSN_CALL_DIRECT || ret->kind == INSN_JUMP_DIRECT || ret->kind == INSN_JUMP_CONDITIONAL) {
		ret->target = address + z->length + (uint64_t)z->raw.imm[0].value.s;
		ret->is_short = z->raw.imm[0].size == 8;
		/* 16 bits would cut rip. */
		if (z->raw.imm[0].size == 16)
			ret->kind = INSN_REFUSED;
	}
	return true;
}

bool insn_decode_flow(const uint8_t *bytes, size_t available_bytes, uint64_t address, struct insn *ret)
{
	ZydisDecoder decoder;
	ZydisDecoderContext context;
	ZydisDecodedInstruction z;

	return decode_flow(bytes, available_bytes, address, &decoder, &context, &z, ret);
}

static bool decode(const uint8_t *bytes, size_t available_bytes, uint64_t address, ZydisDecodedInstruction *z,
		   struct insn *ret)
{
	ZydisDecoder decoder;
	ZydisDecoderContext context;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	if (!decode_flow(bytes, available_bytes, address, &decoder, &context, z, ret))
		return false;
	if (ret->op == INSN_OP_NOP || ret->op == INSN_OP_ENDBR)
		return true;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, z, operands, z->operand_count)))
		return false;
	add_operands(z, operands, ret);
	add_flags(z, ret);
	add_stack(z, ret);
	if (ret->kind == INSN_SYSCALL)
		add_syscall(ret);
	return true;
}

bool insn_decode(const uint8_t *bytes, size_t available_bytes, uint64_t address, struct insn *ret)
{
	ZydisDecodedInstruction z;

	return decode(bytes, available_bytes, address, &z, ret);
}

static struct insn_fields fields_of(const ZydisDecodedInstruction *z)
{
	struct insn_fields ret = {.shape_bytes = z->length};

	/* Another encoding, or two immediates (enter). */
	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || z->raw.imm[1].size)
		return (struct insn_fields){0};
	if (z->raw.imm[0].size) {
		ret.shape_bytes = ret.imm_at = z->raw.imm[0].offset;
		ret.imm_bytes = z->raw.imm[0].size / 8;
		ret.is_imm_signed = z->raw.imm[0].is_signed;
		ret.is_imm_target = z->raw.imm[0].is_relative && z->mnemonic != ZYDIS_MNEMONIC_XBEGIN;
	}
	if (z->raw.disp.size) {
		ret.shape_bytes = ret.disp_at = z->raw.disp.offset;
		ret.disp_bytes = z->raw.disp.size / 8;
	}
	return ret;
}

bool insn_decode_fields(const uint8_t *bytes, size_t available_bytes, uint64_t address, struct insn *ret,
			struct insn_fields *ret_fields)
{
	ZydisDecodedInstruction z;

	if (!decode(bytes, available_bytes, address, &z, ret))
		return false;
	*ret_fields = fields_of(&z);
	return true;
}

/* What a field of 32 bits at the end of an instruction holds so that it reaches target. */
static bool reach(uint64_t target, uint64_t end, int32_t *ret)
{
	int64_t distance = (int64_t)(target - end);

	*ret = (int32_t)distance;
	return *ret == distance;
}

/* opcode..., then the distance: [opcode] [rel32]. */
static size_t write_branch(const uint8_t *opcode, size_t opcode_bytes, uint64_t target, uint64_t to, uint8_t *to_bytes)
{
	int32_t distance;

	if (!reach(target, to + opcode_bytes + 4, &distance))
		return 0;
	memcpy(to_bytes, opcode, opcode_bytes);
	memcpy(to_bytes + opcode_bytes, &distance, 4);
	return opcode_bytes + 4;
}

/* The conditional branch's opcode: the last byte but the distance. */
static size_t relocate_conditional(const uint8_t *bytes, const struct insn *insn, uint64_t to, uint8_t *to_bytes)
{
	static const uint8_t jump[] = {0xe9};
	uint8_t opcode = insn->is_short ? bytes[insn->len_bytes - 2] : bytes[insn->len_bytes - 5];
	size_t short_bytes, len_bytes;

	if ((opcode & 0xf0) == (insn->is_short ? 0x70 : 0x80)) {
		uint8_t jcc[] = {0x0f, (uint8_t)(0x80 | (opcode & 0x0f))};

		return write_branch(jcc, sizeof(jcc), insn->target, to, to_bytes);
	}
	/* loop and jrcxz, with an address-size prefix perhaps */
	short_bytes = insn->len_bytes;
	memcpy(to_bytes, bytes, short_bytes - 1);
	to_bytes[short_bytes - 1] = 2;
	to_bytes[short_bytes] = 0xeb;
	to_bytes[short_bytes + 1] = 5;
	len_bytes = write_branch(jump, sizeof(jump), insn->target, to + short_bytes + 2, to_bytes + short_bytes + 2);
	return len_bytes ? short_bytes + 2 + len_bytes : 0;
}

size_t insn_relocate(const uint8_t *bytes, const struct insn *insn, uint64_t to, uint8_t to_bytes[INSN_RELOCATED_MAX])
{
	static const uint8_t jump[] = {0xe9};
	int32_t distance;

	switch (insn->kind) {
	case INSN_CALL_DIRECT:
	case INSN_CALL_INDIRECT:
	case INSN_REFUSED:
		return 0;
	case INSN_JUMP_DIRECT:
		return write_branch(jump, sizeof(jump), insn->target, to, to_bytes);
	case INSN_JUMP_CONDITIONAL:
		return relocate_conditional(bytes, insn, to, to_bytes);
	default:
		break;
	}
	memcpy(to_bytes, bytes, insn->len_bytes);
	if (insn->is_rip_relative) {
		if (!reach(insn->rip_target, to + insn->len_bytes, &distance))
			return 0;
		memcpy(to_bytes + insn->disp_off_bytes, &distance, 4);
	}
	return insn->len_bytes;
}
