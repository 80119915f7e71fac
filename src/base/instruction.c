/*
 * instruction.c - decodes x86-64 instructions by three tables: which opcodes have a ModRM byte, and which immediates. One pass over
 * the bytes, which may end anywhere.
 */
#include "base/instruction.h"

enum map {
	MAP_ONE = 0, /* one-byte opcodes */
	MAP_0F,
	MAP_0F38,
	MAP_0F3A,
};

struct decoder {
	const uint8_t *bytes;
	size_t len_bytes;
	size_t off;
	bool is_cut;
	bool has_66, has_67, has_f2, has_f3, has_segment, has_fs;
	bool is_wide; /* REX.W */
	bool has_rex;
	bool is_vex, is_evex;
	uint8_t rex; /* .RXB as REX has them */
	enum map map;
	uint8_t opcode;
	uint8_t modrm;
};

/* Bit n of [n / 32]: the opcode has a ModRM byte. */
static const uint32_t one_byte_modrm[8] = {
	0x0f0f0f0f, /* 00-1f: 00-03 08-0b 10-13 18-1b */
	0x0f0f0f0f, /* 20-3f */
	0x00000000, /* 40-5f */
	0x00000a08, /* 60-7f: 63 69 6b */
	0x0000ffff, /* 80-9f: 80-8f */
	0x00000000, /* a0-bf */
	0xff0f00c3, /* c0-df: c0 c1 c6 c7 d0-d3 d8-df */
	0xc0c00000, /* e0-ff: f6 f7 fe ff */
};

/* The opcode behind 0f has none. */
static const uint32_t two_byte_bare[8] = {
	0x00004be0,             /* 00-1f: 05-09 0b 0e; 0d is a prefetch */
	0x00ff0000,             /* 20-3f: 30-37 */
	0x00000000, 0x00800000, /* 77 */
	0x0000ffff,             /* 80-8f */
	0x00000707,             /* a0-a2 a8-aa */
	0x0000ff00,             /* c8-cf */
	0x00000000,
};

static bool has_bit(const uint32_t table[8], uint8_t n)
{
	return table[n / 32] >> (n % 32) & 1;
}

static uint8_t next(struct decoder *d)
{
	if (d->off == d->len_bytes) {
		d->is_cut = true;
		return 0;
	}
	return d->bytes[d->off++];
}

static int64_t number(struct decoder *d, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)next(d) << (8 * i);
	return bytes && bytes < 8 ? (int64_t)(v << (64 - 8 * bytes)) >> (64 - 8 * bytes) : (int64_t)v;
}

/* DWARF's order is not the machine's. */
static uint8_t dwarf_register(unsigned n)
{
	static const uint8_t numbers[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

	return numbers[n & 15];
}

/* ---- in front of the opcode ---- */

static void take_prefixes(struct decoder *d)
{
	for (;;) {
		uint8_t b = next(d);

		if (b == 0x66)
			d->has_66 = true;
		else if (b == 0x67)
			d->has_67 = true;
		else if (b == 0xf2)
			d->has_f2 = true;
		else if (b == 0xf3)
			d->has_f3 = true;
		else if (b == 0x64 || b == 0x65)
			d->has_segment = true, d->has_fs = b == 0x64;
		else if (b != 0x2e && b != 0x36 && b != 0x3e && b != 0x26 && b != 0xf0)
			break;
		if (d->is_cut)
			return;
	}
	d->off -= !d->is_cut;
}

static void take_vex(struct decoder *d, uint8_t first)
{
	uint8_t a = next(d), b;

	d->is_vex = true;
	if (first == 0xc5) {
		d->rex = a & 0x80 ? 0 : 4;
		d->map = MAP_0F;
		return;
	}
	b = next(d);
	d->rex = (uint8_t)(~a >> 5 & 7);
	d->is_wide = b & 0x80;
	d->map = (a & 31) <= MAP_0F3A ? (enum map)(a & 31) : MAP_0F;
	if (first == 0x62) {
		d->is_evex = true;
		d->map = (a & 7) <= MAP_0F3A ? (enum map)(a & 7) : MAP_0F38; /* 5 and 6: half precision */
		next(d);
	}
}

static void take_opcode(struct decoder *d)
{
	uint8_t b = next(d);

	if ((b & 0xf0) == 0x40) {
		d->has_rex = true;
		d->rex = b & 7;
		d->is_wide = b & 8;
		b = next(d);
	}
	if (b == 0xc4 || b == 0xc5 || b == 0x62) {
		take_vex(d, b);
		d->opcode = next(d);
		return;
	}
	if (b == 0x0f) {
		d->map = MAP_0F;
		b = next(d);
		if (b == 0x38 || b == 0x3a) {
			d->map = b == 0x38 ? MAP_0F38 : MAP_0F3A;
			b = next(d);
		}
	}
	d->opcode = b;
}

/* ---- behind it ---- */

static bool has_modrm(const struct decoder *d)
{
	if (d->map == MAP_ONE)
		return has_bit(one_byte_modrm, d->opcode);
	return d->map != MAP_0F || (!has_bit(two_byte_bare, d->opcode)) || (d->is_vex && d->opcode != 0x77);
}

static void take_memory(struct decoder *d, struct instruction *ret)
{
	unsigned mod = d->modrm >> 6, rm = d->modrm & 7, sib, displacement = mod == 1 ? 1 : mod == 2 ? 4 : 0;

	ret->is_memory = true;
	ret->is_far = d->has_segment || d->has_67 || d->is_evex; /* EVEX: displacements are scaled */
	if (rm == 4) {
		sib = next(d);
		ret->scale = (uint8_t)(1u << (sib >> 6));
		if ((sib >> 3 & 7) != 4 || d->rex & 2)
			ret->index = dwarf_register((sib >> 3 & 7) | (d->rex & 2u) << 2);
		rm = sib & 7;
		if (rm == 5 && !mod)
			displacement = 4;
		else
			ret->base = dwarf_register(rm | (d->rex & 1u) << 3);
	} else if (rm == 5 && !mod) {
		ret->base = INSTRUCTION_RIP;
		displacement = 4;
	} else {
		ret->base = dwarf_register(rm | (d->rex & 1u) << 3);
	}
	ret->displacement = (int32_t)number(d, displacement);
}

static void take_modrm(struct decoder *d, struct instruction *ret)
{
	d->modrm = next(d);
	ret->has_operand = true;
	if (d->modrm >> 6 == 3)
		ret->reg = dwarf_register((d->modrm & 7) | (d->rex & 1u) << 3);
	else
		take_memory(d, ret);
}

static unsigned one_byte_immediate(const struct decoder *d)
{
	unsigned full = d->has_66 && !d->is_wide ? 2 : 4;
	uint8_t o = d->opcode, reg = d->modrm >> 3 & 7;

	if (o < 0x40)
		return (o & 7) == 4 ? 1 : (o & 7) == 5 ? full : 0;
	if ((o & 0xf0) == 0x70 || (o >= 0xe0 && o <= 0xe7))
		return 1;
	if ((o & 0xf0) == 0xb0)
		return o < 0xb8 ? 1 : d->is_wide ? 8 : full;
	switch (o) {
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7:
		return full;
	case 0x6a:
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xa8:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xeb:
		return 1;
	case 0xa0 ... 0xa3:
		return d->has_67 ? 4 : 8;
	case 0xc2:
	case 0xca:
		return 2;
	case 0xc8:
		return 3;
	case 0xe8:
	case 0xe9:
		return 4;
	case 0xf6:
		return reg < 2 ? 1 : 0;
	case 0xf7:
		return reg < 2 ? full : 0;
	default:
		return 0;
	}
}

static unsigned immediate(const struct decoder *d)
{
	uint8_t o = d->opcode;

	if (d->map == MAP_ONE)
		return one_byte_immediate(d);
	if (d->map == MAP_0F3A)
		return 1;
	if (d->map == MAP_0F38)
		return 0;
	if ((o & 0xf0) == 0x80 && !d->is_vex)
		return 4;
	return (o >= 0x70 && o <= 0x73) || o == 0xa4 || o == 0xac || o == 0xba || o == 0xc2 || (o >= 0xc4 && o <= 0xc6);
}

/* ---- registers that it writes to ---- */

enum target {
	TARGET_NONE = 0,
	TARGET_REG, /* that of ModRM.reg */
	TARGET_RM,  /* that of ModRM.rm, if it is one */
	TARGET_BOTH,
	TARGET_OPCODE, /* that of the opcode's low bits */
	TARGET_RESULT, /* rax and rdx */
	TARGET_CALL,   /* all that a call may change */
};

/* add, or, adc, sbb, and, sub, xor, but not cmp. */
static enum target arithmetic_target(uint8_t o)
{
	if (o >= 0x38)
		return TARGET_NONE;
	if ((o & 7) < 4)
		return o & 2 ? TARGET_REG : TARGET_RM;
	return (o & 7) < 6 ? TARGET_RESULT : TARGET_NONE;
}

static enum target one_byte_target(const struct decoder *d)
{
	uint8_t o = d->opcode, reg = d->modrm >> 3 & 7;

	if (o < 0x40)
		return arithmetic_target(o);
	switch (o) {
	case 0x58 ... 0x5f:
	case 0xb0 ... 0xbf:
		return TARGET_OPCODE;
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8a:
	case 0x8b:
	case 0x8d:
		return TARGET_REG;
	case 0x80 ... 0x83:
		return reg == 7 ? TARGET_NONE : TARGET_RM;
	case 0x86:
	case 0x87:
		return TARGET_BOTH;
	case 0x88:
	case 0x89:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0 ... 0xd3:
		return TARGET_RM;
	case 0x98:
	case 0x99:
		return TARGET_RESULT;
	case 0xe8:
		return TARGET_CALL;
	case 0xf6:
	case 0xf7:
		return reg < 2 ? TARGET_NONE : reg < 4 ? TARGET_RM : TARGET_RESULT;
	case 0xfe:
	case 0xff:
		return reg < 2 ? TARGET_RM : reg == 2 ? TARGET_CALL : TARGET_NONE;
	default:
		return TARGET_NONE;
	}
}

static enum target two_byte_target(const struct decoder *d)
{
	switch (d->opcode) {
	case 0x2c:
	case 0x2d: /* conversions of floating point */
	case 0x50:
	case 0xd7: /* masks of vectors */
	case 0x40 ... 0x4f:
	case 0xaf:
	case 0xb6:
	case 0xb7:
	case 0xb8:
	case 0xbc ... 0xbf:
		return TARGET_REG;
	case 0x7e:
		return d->has_66 || d->is_vex ? TARGET_RM : TARGET_NONE;
	case 0x90 ... 0x9f:
	case 0xa4:
	case 0xa5:
	case 0xac:
	case 0xad:
		return TARGET_RM;
	case 0xc0:
	case 0xc1:
		return TARGET_BOTH;
	case 0xc8 ... 0xcf:
		return TARGET_OPCODE;
	default:
		return TARGET_NONE;
	}
}

/* Operands of a byte: without REX 4 to 7 are ah, ch, dh and bh. */
static bool has_byte_operands(const struct decoder *d)
{
	if (d->map != MAP_ONE || d->has_rex || d->is_vex)
		return false;
	switch (d->opcode) {
	case 0x86:
	case 0x88:
	case 0x8a:
	case 0xb0 ... 0xb7:
	case 0xc0:
	case 0xc6:
	case 0xd0:
	case 0xd2:
	case 0xf6:
	case 0xfe:
		return true;
	default:
		return (d->opcode < 0x40 && !(d->opcode & 1)) || d->opcode == 0x80;
	}
}

static unsigned register_bit(const struct decoder *d, unsigned n)
{
	return 1u << dwarf_register(has_byte_operands(d) ? n & 3 : n);
}

static uint16_t written_by(const struct decoder *d, const struct instruction *i)
{
	const unsigned reg = register_bit(d, (d->modrm >> 3 & 7u) | (d->rex & 4u) << 1);
	const unsigned rm =
		i->is_memory || i->reg == INSTRUCTION_NONE ? 0 : register_bit(d, (d->modrm & 7u) | (d->rex & 1u) << 3);
	enum target target = d->map == MAP_ONE  ? one_byte_target(d)
			     : d->map == MAP_0F ? two_byte_target(d)
						: TARGET_NONE;

	switch (target) {
	case TARGET_REG:
		return (uint16_t)reg;
	case TARGET_RM:
		return (uint16_t)rm;
	case TARGET_BOTH:
		return (uint16_t)(reg | rm);
	case TARGET_OPCODE:
		return (uint16_t)register_bit(d, (d->opcode & 7u) | (d->rex & 1u) << 3);
	case TARGET_RESULT:
		return 0x0003; /* DWARF: rax 0, rdx 1 */
	case TARGET_CALL:
		return 0x0f37; /* rax rdx rcx rsi rdi r8 to r11 */
	default:
		return 0;
	}
}

/* ---- what it is ---- */

/* SSE instructions of 16 bytes of memory fault where these are not aligned; those that move unaligned ones do not. */
static uint8_t alignment_of(const struct decoder *d)
{
	uint8_t o = d->opcode;

	if (d->map == MAP_0F && d->is_vex && !d->is_evex && (o == 0x28 || o == 0x29 || o == 0x2b))
		return 16;
	if (d->is_vex || d->map != MAP_0F || d->has_f2 || d->has_f3)
		return 1;
	if (o == 0x28 || o == 0x29 || o == 0x2b)
		return 16;
	if (d->has_66 && (o == 0x6f || o == 0x7f || o == 0xe7))
		return 16;
	/* Arithmetic and logic. */
	return (o >= 0x54 && o <= 0x59) || (o >= 0x5c && o <= 0x5f) ||
			       (d->has_66 && ((o >= 0x60 && o <= 0x6d) || (o >= 0x74 && o <= 0x76) ||
					      (o >= 0xd1 && o <= 0xfe && o != 0xd6 && o != 0xd7 && o != 0xe6)))
		       ? 16
		       : 1;
}

static void name_one_byte(const struct decoder *d, int64_t value, uint64_t end, struct instruction *ret)
{
	uint8_t o = d->opcode, reg = d->modrm >> 3 & 7;

	if (o == 0xe8 || o == 0xe9 || o == 0xeb || (o & 0xf0) == 0x70 || (o >= 0xe0 && o <= 0xe3)) {
		ret->kind = o == 0xe8                ? INSTRUCTION_CALL
			    : o == 0xe9 || o == 0xeb ? INSTRUCTION_JUMP
						     : INSTRUCTION_BRANCH;
		ret->is_direct = true;
		ret->target = end + (uint64_t)value;
	} else if (o == 0xc2 || o == 0xc3) {
		ret->kind = INSTRUCTION_RETURN;
	} else if (o == 0xff && (reg == 2 || reg == 4)) {
		ret->kind = reg == 2 ? INSTRUCTION_CALL : INSTRUCTION_JUMP;
		ret->operand_bytes = 8;
	} else if ((o == 0xf6 || o == 0xf7) && reg >= 6) {
		ret->kind = INSTRUCTION_DIVIDE;
		ret->operand_bytes = o == 0xf6 ? 1 : d->is_wide ? 8 : d->has_66 ? 2 : 4;
		if (o == 0xf6 && !ret->is_memory && !d->rex && (d->modrm & 7) >= 4)
			ret->reg = INSTRUCTION_NONE; /* ah to bh, as far as is known here */
	}
}

static void name_branch(int64_t value, uint64_t end, struct instruction *ret)
{
	ret->kind = INSTRUCTION_BRANCH;
	ret->is_direct = true;
	ret->target = end + (uint64_t)value;
}

static void name(const struct decoder *d, int64_t value, uint64_t end, struct instruction *ret)
{
	if (d->map == MAP_ONE)
		name_one_byte(d, value, end, ret);
	else if (d->map == MAP_0F && !d->is_vex && (d->opcode & 0xf0) == 0x80)
		name_branch(value, end, ret);
	else if (d->map == MAP_0F && !d->is_vex && (d->opcode == 0x0b || d->opcode == 0xb9 || d->opcode == 0xff))
		ret->kind = INSTRUCTION_TRAP;
	ret->alignment = alignment_of(d);
}

bool instruction_decode(const uint8_t *bytes, size_t len_bytes, uint64_t address, struct instruction *ret)
{
	struct decoder d = {.bytes = bytes,
			    .len_bytes = len_bytes < INSTRUCTION_BYTES_MAX ? len_bytes : INSTRUCTION_BYTES_MAX};
	struct instruction found = {.reg = INSTRUCTION_NONE, .base = INSTRUCTION_NONE, .index = INSTRUCTION_NONE};
	unsigned bytes_behind, other;
	int64_t value;

	take_prefixes(&d);
	take_opcode(&d);
	if (has_modrm(&d))
		take_modrm(&d, &found);
	bytes_behind = immediate(&d);
	value = number(&d, bytes_behind);
	if (d.is_cut)
		return false;
	found.written = written_by(&d, &found);
	name(&d, value, address + d.off, &found);
	other = has_modrm(&d) ? (d.modrm >> 3 & 7u) | (d.rex & 4u) << 1 : (d.opcode & 7u) | (d.rex & 1u) << 3;
	found.is_fs = d.has_fs && found.is_memory;
	found.is_wide = d.is_wide;
	found.is_vector = d.is_vex;
	found.map = (uint8_t)d.map;
	found.opcode = d.opcode;
	found.extension = d.modrm >> 3 & 7;
	found.other = dwarf_register(other);
	found.immediate = value;
	found.len_bytes = (uint8_t)d.off;
	*ret = found;
	return true;
}
