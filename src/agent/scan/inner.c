/*
 * inner.c - finds the second entry of a function by what stands in front of it:
 *
 *      start:    [endbr64]
 *                movq $id, %fs:state               of a program; a large id in two halves
 *        or      movq state@gottpoff(%rip), %r11   of a library
 *                movq $id, %fs:(%r11)
 *                [nop]                             to the next multiple of 16
 *      inner:
 */
#include "agent/scan/inner.h"

#include <stdbool.h>
#include <string.h>

enum {
	ALIGNED = 16,
	WORD = 4,
};

struct code {
	const uint8_t *bytes;
	size_t len_bytes;
	size_t off;
};

/* Opcode bytes, and what stands behind them. */
static bool take(struct code *c, const char *opcode, size_t opcode_bytes, size_t operand_bytes)
{
	size_t size = opcode_bytes + operand_bytes;

	if (c->len_bytes - c->off < size || memcmp(c->bytes + c->off, opcode, opcode_bytes) != 0)
		return false;
	c->off += size;
	return true;
}

static bool take_half(struct code *c)
{
	return take(c, "\x64\xc7\x04\x25", 4, 2 * WORD);
}

static bool take_store_of_program(struct code *c)
{
	if (take(c, "\x64\x48\xc7\x04\x25", 5, 2 * WORD))
		return true;
	if (!take_half(c))
		return false;
	return take_half(c);
}

static bool take_store_of_library(struct code *c)
{
	if (!take(c, "\x4c\x8b\x1d", 3, WORD))
		return false;
	return take(c, "\x64\x49\xc7\x03", 4, WORD) ||
	       (take(c, "\x64\x41\xc7\x03", 4, WORD) && take(c, "\x64\x41\xc7\x43\x04", 5, WORD));
}

static void take_padding(struct code *c)
{
	static const char *const nops[] = {"", "\x90", "\x66\x90", "\x0f\x1f\x00"};
	size_t missing = c->off < ALIGNED ? ALIGNED - c->off : 0;

	if (missing < sizeof nops / sizeof *nops)
		take(c, nops[missing], missing, 0);
}

size_t inner_entry(const uint8_t *code, size_t len_bytes)
{
	struct code c = {code, len_bytes, 0};

	take(&c, "\xf3\x0f\x1e\xfa", 4, 0);
	if (!take_store_of_program(&c) && !take_store_of_library(&c))
		return 0;
	take_padding(&c);
	return c.off;
}
