/*
 * insn_cache.c - finds how long an instruction's shape is, and fills in what differs from others of that shape.
 *
 * A shape that is measured here is kept only if the decoder saw displacement or immediate begin right behind it. Decoding goes from left
 * to right: whatever follows then, the same bytes mean the same. Instructions of other encodings (VEX, EVEX, XOP, 3DNow!) are decoded
 * each time.
 */
#include "agent/scan/insn_cache.h"

#include <string.h>

struct insn_cache agent_insns;

enum {
	SHAPE_MAX = 7, /* bytes, so that their number fits in, too */
};

/* Opcodes that a ModRM byte follows, and those behind 0f: bit n % 32 of word n / 32. */
static const uint32_t has_modrm[8] = {0x0f0f0f0f, 0x0f0f0f0f, 0x00000000, 0x00000a0c,
				      0x0000ffff, 0x00000000, 0xff0f00f3, 0xc0c00000};
static const uint32_t has_modrm_0f[8] = {0xffff200f, 0x0500ff0f, 0xffffffff, 0xff7fffff,
					 0xffff0000, 0xfffff838, 0xffff00ff, 0xffffffff};

static bool has(const uint32_t set[8], uint8_t n)
{
	return set[n / 32] >> n % 32 & 1;
}

/* of legacy instructions */
static const uint32_t is_prefix[8] = {0x00000000, 0x40404040, 0x00000000, 0x000000f0, 0, 0, 0, 0x000d0000};

static bool is_other_encoding(uint8_t opcode)
{
	return opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62 || opcode == 0x8f;
}

/* How long it is; 0: not of those that are kept. */
static size_t shape_bytes(const uint8_t *bytes)
{
	const uint32_t *follows = has_modrm;
	size_t n = 0;

	while (n < SHAPE_MAX && has(is_prefix, bytes[n]))
		n++;
	if ((bytes[n] & 0xf0) == 0x40)
		n++;
	if (bytes[n] == 0x0f) {
		follows = has_modrm_0f;
		if (bytes[++n] == 0x0f)
			return 0;
	} else if (is_other_encoding(bytes[n])) {
		return 0;
	}
	if (has(follows, bytes[n])) {
		n += follows == has_modrm_0f && (bytes[n] == 0x38 || bytes[n] == 0x3a);
		n++;
		n += bytes[n] < 0xc0 && (bytes[n] & 7) == 4; /* SIB */
	}
	return n < SHAPE_MAX ? n + 1 : 0;
}

/* The bytes, and how many; 0: not of those that are kept. */
static uint64_t shape_of(const uint8_t *bytes, size_t available_bytes)
{
	uint8_t padded[INSN_MAX_BYTES] = {0};
	uint64_t ret;
	size_t n;

	if (available_bytes < INSN_MAX_BYTES)
		bytes = memcpy(padded, bytes, available_bytes);
	n = shape_bytes(bytes);
	if (!n || n > available_bytes)
		return 0;
	memcpy(&ret, bytes, sizeof ret);
	return (ret & ~UINT64_C(0) >> (64 - 8 * n)) | (uint64_t)n << 56;
}

static int64_t number_at(const uint8_t *bytes, uint8_t len_bytes, bool is_signed)
{
	unsigned int unused_bits = 64 - 8U * len_bytes;
	uint64_t v = 0;

	memcpy(&v, bytes, len_bytes);
	return is_signed && unused_bits ? (int64_t)(v << unused_bits) >> unused_bits : (int64_t)v;
}

/* Nothing, when there is more to it. */
static void keep(struct insn_cached *slot, uint64_t shape, const struct insn *insn, const struct insn_fields *fields)
{
	int64_t constant = insn->has_imm && !fields->imm_bytes ? insn->imm : 0;

	if (fields->shape_bytes != shape >> 56 || constant != (uint8_t)constant ||
	    (!fields->is_imm_target && insn->target) || (!fields->disp_bytes && insn->disp))
		return;
	*slot = (struct insn_cached){.shape = shape, .fields = *fields, .imm = (uint8_t)constant};
	memcpy(slot->common, (const char *)insn + INSN_COMMON_AT, sizeof slot->common);
}

static void fill_in(struct insn *ret, const struct insn_cached *slot, const uint8_t *bytes, uint64_t address)
{
	const struct insn_fields *fields = &slot->fields;
	uint64_t end;
	int64_t imm = slot->imm;

	memcpy((char *)ret + INSN_COMMON_AT, slot->common, sizeof slot->common);
	end = address + ret->len_bytes;
	ret->address = address;
	ret->disp = fields->disp_bytes && ret->has_memory ? number_at(bytes + fields->disp_at, fields->disp_bytes, true)
							  : 0;
	if (ret->is_rip_relative)
		ret->rip_target = end + (uint64_t)ret->disp;
	if (fields->imm_bytes)
		imm = number_at(bytes + fields->imm_at, fields->imm_bytes, fields->is_imm_signed);
	ret->imm = ret->has_imm ? imm : 0;
	ret->target = fields->is_imm_target ? end + (uint64_t)imm : 0;
}

bool insn_decode_cached(struct insn_cache *cache, const uint8_t *bytes, size_t available_bytes, uint64_t address,
			struct insn *ret)
{
	uint64_t shape = cache ? shape_of(bytes, available_bytes) : 0;
	struct insn_cached *slot;
	struct insn_fields fields;

	if (!shape)
		return insn_decode(bytes, available_bytes, address, ret);
	slot = &cache->slots[shape * UINT64_C(0x9e3779b97f4a7c15) >> (64 - INSN_CACHE_BITS)];
	if (slot->shape == shape) {
		if (slot->common[offsetof(struct insn, len_bytes) - INSN_COMMON_AT] > available_bytes)
			return false;
		fill_in(ret, slot, bytes, address);
		return true;
	}
	if (!insn_decode_fields(bytes, available_bytes, address, ret, &fields))
		return false;
	keep(slot, shape, ret, &fields);
	return true;
}
