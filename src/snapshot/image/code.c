/* code.c - reads single instructions from the memory of the program, or from its file. */
#include "snapshot/image/code.h"

#include "snapshot/source/source.h"

enum {
	CALL_BYTES_MIN = 2,
	CALL_BYTES_MAX = 9, /* with a prefix, REX, SIB and displacement */
	DIRECT_CALL_BYTES = 5,
	LOOP_BYTES_MAX = 1 << 20, /* of code that is searched for a loop */
	CODE_BYTES = 4096,        /* that are read at once */
};

bool snapshot_instruction_at(const struct snapshot *s, uint64_t address, struct instruction *ret)
{
	uint8_t bytes[INSTRUCTION_BYTES_MAX];
	size_t len_bytes = snapshot_read(s, address, bytes, sizeof bytes) ? sizeof bytes : 0;

	while (len_bytes < sizeof bytes && snapshot_read(s, address + len_bytes, &bytes[len_bytes], 1))
		len_bytes++;
	return len_bytes && instruction_decode(bytes, len_bytes, address, ret);
}

static bool take_register(const struct snapshot_frame *frame, uint8_t reg, uint64_t *ret)
{
	if (reg >= SNAPSHOT_REGISTERS || !(frame->known & 1u << reg))
		return false;
	*ret = frame->registers[reg];
	return true;
}

bool snapshot_operand_address(const struct snapshot_frame *frame, const struct instruction *i, uint64_t address,
			      uint64_t *ret)
{
	uint64_t base = 0, index = 0;

	if (!i->has_operand || !i->is_memory || i->is_far)
		return false;
	if (i->base == INSTRUCTION_RIP)
		base = address + i->len_bytes;
	else if (i->base != INSTRUCTION_NONE && !take_register(frame, i->base, &base))
		return false;
	if (i->index != INSTRUCTION_NONE && !take_register(frame, i->index, &index))
		return false;
	*ret = base + index * i->scale + (uint64_t)(int64_t)i->displacement;
	return true;
}

bool snapshot_operand(const struct snapshot *s, const struct snapshot_frame *frame, const struct instruction *i,
		      uint64_t address, uint64_t *ret)
{
	uint64_t place, value = 0;

	if (!i->has_operand || !i->operand_bytes || i->operand_bytes > sizeof value)
		return false;
	if (i->is_memory) {
		if (!snapshot_operand_address(frame, i, address, &place) ||
		    !snapshot_read(s, place, &value, i->operand_bytes))
			return false;
	} else if (!take_register(frame, i->reg, &value)) {
		return false;
	}
	*ret = i->operand_bytes < 8 ? value & ((UINT64_C(1) << (8 * i->operand_bytes)) - 1) : value;
	return true;
}

/* An instruction of len_bytes that is a call and ends at the address. */
static bool is_call(const struct snapshot *s, uint64_t behind, unsigned len_bytes, struct instruction *ret)
{
	return snapshot_instruction_at(s, behind - len_bytes, ret) && ret->kind == INSTRUCTION_CALL &&
	       ret->len_bytes == len_bytes;
}

bool snapshot_is_behind_call(const struct snapshot *s, uint64_t address)
{
	struct instruction i;

	for (unsigned len = CALL_BYTES_MIN; len <= CALL_BYTES_MAX; len++)
		if (is_call(s, address, len, &i))
			return true;
	return false;
}

bool snapshot_call_to(const struct snapshot *s, const struct snapshot_frame *frame, uint64_t behind, uint64_t target,
		      struct instruction *ret, uint64_t *ret_address)
{
	for (unsigned len = CALL_BYTES_MAX; len >= CALL_BYTES_MIN; len--) {
		uint64_t found;

		if (!is_call(s, behind, len, ret) || ret->is_direct)
			continue;
		*ret_address = behind - len;
		if (snapshot_operand(s, frame, ret, *ret_address, &found) && found == target)
			return true;
	}
	return false;
}

bool snapshot_direct_call(const struct snapshot *s, uint64_t behind, uint64_t *ret_target)
{
	struct snapshot_region region;
	struct instruction i;

	if (!is_call(s, behind, DIRECT_CALL_BYTES, &i) || !i.is_direct || !snapshot_region_at(s, i.target, &region) ||
	    !region.is_told || !region.is_executable)
		return false;
	*ret_target = i.target;
	return true;
}

/* Code that is read in pieces, from `at` on. */
struct code {
	const struct snapshot *s;
	uint64_t at, end;
	uint64_t start; /* of what bytes[] has */
	size_t len_bytes;
	uint8_t bytes[CODE_BYTES];
};

/* false: the end, or what is not there, or not known. */
static bool next_instruction(struct code *c, struct instruction *ret)
{
	size_t off = (size_t)(c->at - c->start);

	if (c->at >= c->end)
		return false;
	if (c->len_bytes < off + INSTRUCTION_BYTES_MAX && c->start + c->len_bytes < c->end) {
		c->start = c->at;
		c->len_bytes = c->end - c->at < sizeof c->bytes ? (size_t)(c->end - c->at) : sizeof c->bytes;
		off = 0;
		if (!snapshot_read(c->s, c->start, c->bytes, c->len_bytes))
			return false;
	}
	return instruction_decode(c->bytes + off, c->len_bytes - off, c->at, ret);
}

static uint32_t written_between(const struct snapshot *s, uint64_t first, uint64_t end)
{
	struct code code = {.s = s, .at = first, .end = end, .start = first};
	uint32_t written = 0;
	struct instruction i;

	for (; next_instruction(&code, &i); code.at += i.len_bytes)
		written |= i.written;
	return written;
}

bool snapshot_loop_around(const struct snapshot *s, uint64_t address, uint64_t first, uint64_t end, uint64_t *ret_first,
			  uint64_t *ret_end, uint32_t *ret_written)
{
	struct code code = {.s = s, .at = first, .end = end, .start = first};
	bool is_found = false;
	struct instruction i;

	if (end - first > LOOP_BYTES_MAX)
		return false;
	for (; next_instruction(&code, &i); code.at += i.len_bytes) {
		if (code.at < address || !i.is_direct || i.kind == INSTRUCTION_CALL || i.target > address ||
		    i.target < first)
			continue;
		if (is_found && i.target < *ret_first)
			continue;
		is_found = true;
		*ret_first = i.target;
		*ret_end = code.at + i.len_bytes;
	}
	if (is_found)
		*ret_written = written_between(s, *ret_first, *ret_end);
	return is_found;
}
