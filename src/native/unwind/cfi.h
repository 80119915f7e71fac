/*
 * cfi.h - runs DWARF call frame information: how a frame's caller is found at one address of a function, x86-64.
 *
 * Safe in signal handlers and threads, like eh_frame.h. What is not understood makes a function return false: a row is the truth
 * of the tables or there is none. Source: DWARF 5, sections 6.4 and 2.5; System V ABI for x86-64, figure 3.36 (register numbers).
 */
#ifndef WM_NATIVE_CFI_H
#define WM_NATIVE_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "native/unwind/eh_frame.h"

/* DWARF numbers of registers. */
enum cfi_register {
	CFI_RAX,
	CFI_RDX,
	CFI_RCX,
	CFI_RBX,
	CFI_RSI,
	CFI_RDI,
	CFI_RBP,
	CFI_RSP,
	CFI_R8,
	CFI_R9,
	CFI_R10,
	CFI_R11,
	CFI_R12,
	CFI_R13,
	CFI_R14,
	CFI_R15,
	CFI_RETURN_ADDRESS,
	CFI_REGISTER_COUNT, /* rules of vector registers are read and dropped */
};

enum cfi_rule {
	CFI_UNSPECIFIED, /* the ABI says: kept by the callee, or lost */
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_OFFSET,           /* saved at CFA + value */
	CFI_VALUE_OFFSET,     /* is CFA + value */
	CFI_REGISTER,         /* in register number value */
	CFI_EXPRESSION,       /* saved where the expression says; it starts with the CFA on its stack */
	CFI_VALUE_EXPRESSION, /* is what the expression says */
};

enum cfi_cfa {
	CFI_CFA_NONE,
	CFI_CFA_REGISTER, /* cfa_register + cfa_value */
	CFI_CFA_EXPRESSION,
};

/* A row of the table that the instructions describe. An expression's value: where it is, from image.low; a length precedes it. */
struct cfi_row {
	int32_t cfa_value;
	int32_t value[CFI_REGISTER_COUNT];
	uint8_t rule[CFI_REGISTER_COUNT]; /* enum cfi_rule */
	uint8_t cfa_kind;                 /* enum cfi_cfa */
	uint8_t cfa_register;
};

/* Needs about 1 KB of stack. */
bool cfi_row_at(const struct eh_table *t, const struct eh_function *f, uintptr_t address, struct cfi_row *ret);

/* The inputs of an expression. */
struct cfi_context {
	const uint64_t *registers;       /* CFI_REGISTER_COUNT of them; that of CFI_RETURN_ADDRESS is the pc */
	uint32_t known;                  /* bit i: registers[i] is known */
	uintptr_t stack_low, stack_high; /* what DW_OP_deref may read */
};

/* Evaluates the expression of a row; initial: on its stack at the start, NULL: nothing. */
bool cfi_evaluate(const struct eh_table *t, int32_t expression, const struct cfi_context *context,
		  const uint64_t *initial, uint64_t *ret);

/* Reads 8 bytes at the address, which need not be aligned; false: they are not all in [low, high). */
__attribute__((no_sanitize("address"))) static inline bool cfi_load(uintptr_t low, uintptr_t high, uint64_t address,
								    uint64_t *ret)
{
	typedef uint64_t __attribute__((aligned(1), may_alias)) stack_word;

	if (!address || address < low || address >= high || high - address < sizeof *ret)
		return false;
	*ret = *(const stack_word *)(uintptr_t)address;
	return true;
}

#endif
