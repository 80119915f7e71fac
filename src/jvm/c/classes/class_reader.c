/* class_reader.c - each read is checked against the end. */
#include "jvm/c/classes/class_reader.h"

#include <string.h>

enum {
	TAG_DOUBLE = 6,
	OP_IINC = 132,
	OP_TABLESWITCH = 170,
	OP_LOOKUPSWITCH = 171,
	OP_WIDE = 196,
};

/* Bytes of a constant behind its tag, by tag; 0: there is none. Of Utf8 it is what stands before the text. */
static const uint8_t constant_bytes[] = {0, 2, 0, 4, 4, 8, 8, 2, 2, 4, 4, 4, 4, 0, 0, 3, 2, 4, 4, 2, 2};

/* Bytes of instructions by opcode, a digit each; 0: depends on operands. */
static const char instruction_bytes[] = "1111111111111111"
					"2323322222111111"
					"1111111111111111"
					"1111112222211111"
					"1111111111111111"
					"1111111111111111"
					"1111111111111111"
					"1111111111111111"
					"1111311111111111"
					"1111111113333333"
					"3333333332001111"
					"1133333335532311"
					"3311043355";

void class_skip(struct class_reader *r, size_t count)
{
	if (count > r->len - r->off) {
		r->is_short = true;
		r->off = r->len;
	} else {
		r->off += count;
	}
}

uint32_t class_number(struct class_reader *r, unsigned int bytes)
{
	size_t at = r->off;
	uint32_t ret = 0;

	class_skip(r, bytes);
	for (unsigned int i = 0; !r->is_short && i < bytes; i++)
		ret = ret << 8 | r->bytes[at + i];
	return ret;
}

/* Constants of a long or a double take two numbers. */
uint32_t class_skip_constant(struct class_reader *r)
{
	uint32_t tag = class_number(r, 1);

	if (tag >= sizeof constant_bytes || !constant_bytes[tag]) {
		r->is_short = true;
		return 0;
	}
	class_skip(r, tag == CLASS_UTF8 ? class_number(r, 2) : constant_bytes[tag]);
	return tag == CLASS_LONG || tag == TAG_DOUBLE ? 2 : 1;
}

void class_skip_attributes(struct class_reader *r)
{
	uint32_t count = class_number(r, 2);

	for (uint32_t i = 0; i < count && !r->is_short; i++) {
		class_skip(r, 2);
		class_skip(r, class_number(r, 4));
	}
}

bool class_is_text(const struct class_reader *r, size_t at, const char *text)
{
	size_t len = strlen(text);

	return at < r->len && r->len - at >= 3 + len && r->bytes[at] == CLASS_UTF8 &&
	       (size_t)(r->bytes[at + 1] << 8 | r->bytes[at + 2]) == len && memcmp(r->bytes + at + 3, text, len) == 0;
}

static uint64_t operand(const uint8_t *code, uint32_t len, uint64_t at)
{
	struct class_reader r = {code, len, at < len ? at : len, false};

	return class_number(&r, 4);
}

/* Operands of a switch begin at a multiple of 4. */
static uint64_t switch_bytes(const uint8_t *code, uint32_t len, uint32_t at)
{
	uint64_t padded = (at & ~UINT32_C(3)) + 4;
	uint64_t low = operand(code, len, padded + 4), high = operand(code, len, padded + 8);

	if (code[at] == OP_LOOKUPSWITCH)
		return padded - at + 8 + 8 * low;
	return (int32_t)low > (int32_t)high ? 0 : padded - at + 12 + 4 * ((high - low + 1) & UINT32_MAX);
}

uint32_t class_instruction_bytes(const uint8_t *code, uint32_t len, uint32_t at)
{
	uint64_t ret;

	if (at >= len || code[at] >= sizeof instruction_bytes - 1)
		return 0;
	if (code[at] == OP_TABLESWITCH || code[at] == OP_LOOKUPSWITCH)
		ret = switch_bytes(code, len, at);
	else if (code[at] == OP_WIDE)
		ret = at + 1 < len && code[at + 1] == OP_IINC ? 6 : 4;
	else
		ret = (uint64_t)(instruction_bytes[code[at]] - '0');
	return ret <= len - at ? (uint32_t)ret : 0;
}
