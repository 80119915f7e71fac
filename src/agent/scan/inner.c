/*
 * inner.c - finds the second entry of a function by what stands in front of it:
 *
 *      start:    [endbr64]
 *                cmpq $0, %fs:deferred             of a program
 *                je   1f
 *                call wm1.enter_slow
 *      1:        movq $id, %fs:state               a large id in two halves
 *        or      movq state@gottpoff(%rip), %r11   of a library
 *                cmpq $0, %fs:24(%r11)
 *                je   1f
 *                call wm1.enter_slow
 *      1:        movq $id, %fs:(%r11)
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

static bool take_slow_call(struct code *c)
{
	return take(c, "\x74\x05\xe8", 3, WORD);
}

static bool take_store_of_program(struct code *c)
{
	if (!take(c, "\x64\x48\x83\x3c\x25", 5, WORD + 1) || !take_slow_call(c))
		return false;
	if (take(c, "\x64\x48\xc7\x04\x25", 5, 2 * WORD))
		return true;
	if (!take_half(c))
		return false;
	return take_half(c);
}

static bool take_store_of_library(struct code *c)
{
	if (!take(c, "\x4c\x8b\x1d", 3, WORD) || !take(c, "\x64\x49\x83\x7b\x18", 5, 1) || !take_slow_call(c))
		return false;
	return take(c, "\x64\x49\xc7\x03", 4, WORD) ||
	       (take(c, "\x64\x41\xc7\x03", 4, WORD) && take(c, "\x64\x41\xc7\x43\x04", 5, WORD));
}

static void take_padding(struct code *c)
{
	static const char *const nops[] = {"", "\x90", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00"};
	size_t missing = (ALIGNED - c->off % ALIGNED) % ALIGNED;

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
